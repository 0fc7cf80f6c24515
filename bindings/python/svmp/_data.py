"""Data for a model text: dictionaries, DataFrames and files become arrays of numbers, with NaN for missing values."""

from __future__ import annotations

import ctypes
import difflib
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Optional, Union

import numpy as np
from numpy.typing import NDArray

from ._context import Context
from ._library import lib

Array = NDArray[np.float64]
DataSource = Union[Mapping[str, Any], str, "os.PathLike[str]", Any]
Part = Union[dict[str, Union[Array, "Text"]], str]  # arrays and text, or the path of a file
_WORDS = {"data", "for", "in", "model", "var"}


class Names:
    """The names in a model text. ``in`` is true for all of them; ``variables`` are those that are not keywords of the language."""

    def __init__(self, text: str) -> None:
        text = re.sub(r"/\*.*?\*/", " ", re.sub(r"#.*", " ", text), flags=re.S)
        self._all = set(re.findall(r"[A-Za-z][A-Za-z0-9_.]*", text))
        counters = set(re.findall(r"\bfor\s*\(\s*([A-Za-z][A-Za-z0-9_.]*)\s+in\b", text))
        called = set(re.findall(r"([A-Za-z][A-Za-z0-9_.]*)\s*\(", text))
        self.variables = sorted(self._all - counters - called - _WORDS)

    def __contains__(self, name: object) -> bool:
        return name in self._all


class Text:
    """A vector of text, which becomes codes of its levels; ``levels`` come first, in this order."""

    def __init__(self, values: list[Optional[str]], levels: Sequence[str] = ()) -> None:
        self.values, self.levels = values, list(levels)

    def codes(self, levels: Sequence[str]) -> Array:
        """The number of each value's level, from 1; NaN where it is missing."""
        code = {level: float(k + 1) for k, level in enumerate(levels)}
        return np.array([np.nan if value is None else code[value] for value in self.values])

    def add(self, context: Context, data: ctypes.c_void_p, name: str) -> None:
        set_levels(context, data, name, self.levels)
        values = [None if value is None else value.encode() for value in self.values]
        context.check(lib.svmp_data_add_text(data, name.encode(), len(values), (ctypes.c_char_p * len(values))(*values)))


def set_levels(context: Context, data: ctypes.c_void_p, name: str, levels: Sequence[str]) -> None:
    encoded = [level.encode() for level in levels]
    if encoded:
        context.check(lib.svmp_data_set_levels(data, name.encode(), len(encoded), (ctypes.c_char_p * len(encoded))(*encoded)))


def levels_of(data: ctypes.c_void_p, names: Iterable[str]) -> dict[str, list[str]]:
    """The levels of all names that are text."""
    made: dict[str, list[str]] = {}
    for name in names:
        while (level := lib.svmp_data_level(data, name.encode(), len(made.get(name, ())))) is not None:
            made.setdefault(name, []).append(level.decode())
    return made


def _is_missing(element: Any) -> bool:
    return element is None or type(element).__name__ in ("NAType", "NaTType") or (isinstance(element, float) and np.isnan(element))


def _text_of(values: NDArray[Any]) -> Optional[Text]:
    """A vector of strings that are no numbers, with missing ones among them; None: these are other values."""
    known = [not _is_missing(element) for element in values.ravel()]
    if values.ndim != 1 or not any(known) or not all(isinstance(e, str) for e, is_known in zip(values, known) if is_known):
        return None
    if any(_is_number(element) for element, is_known in zip(values, known) if is_known):
        return None
    return Text([str(element) if is_known else None for element, is_known in zip(values, known)])


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _bad_element(name: str, values: Any) -> str:
    for element in np.asarray(values, dtype=object).ravel():
        if not isinstance(element, (type(None), bool, int, float, np.number, np.bool_)):
            labels = "; if these are labels, make them a pandas.Categorical" if isinstance(element, str) else ""
            return f"data '{name}': {element!r} is not a number{labels}"
    return f"data '{name}': not an array of numbers"


def _object_to_float(name: str, values: NDArray[Any]) -> Array:
    made = np.empty(values.shape)
    for at, element in np.ndenumerate(values):
        if element is None or type(element).__name__ in ("NAType", "NaTType"):
            made[at] = np.nan
        elif isinstance(element, (str, bytes)):
            raise TypeError(_bad_element(name, values))
        elif isinstance(element, (Sequence, np.ndarray)):
            raise ValueError(f"data '{name}': the rows have different lengths; an array needs rows of the same length")
        else:
            try:
                made[at] = float(element)
            except OverflowError:
                raise ValueError(f"data '{name}': a number is too large for double precision") from None
            except (TypeError, ValueError):
                raise TypeError(_bad_element(name, values)) from None
    return made


def to_array(name: str, value: Any) -> Union[Array, Text]:
    """An array of numbers from any array-like object, None, NaN, NA and masked elements become NaN; or a vector of text."""
    if value is None:
        return np.array(np.nan)
    if isinstance(value, (str, bytes)):
        raise TypeError(f"data '{name}': {value!r} is not a number")
    if isinstance(value, Mapping):
        raise TypeError(f"data '{name}': a {type(value).__name__} is not an array of numbers")
    if hasattr(value, "toarray") and hasattr(value, "nnz"):  # scipy.sparse
        value = value.toarray()
    if type(getattr(value, "dtype", None)).__name__ == "CategoricalDtype":  # of pandas
        levels = (value.cat if hasattr(value, "cat") else value).categories
        return Text([None if _is_missing(element) else str(element) for element in value], [str(level) for level in levels])
    if isinstance(value, np.ma.MaskedArray):
        if value.dtype == object:
            made = _object_to_float(name, value.filled(None))
        else:
            made = np.ma.getdata(value).astype(np.float64)
        made[np.ma.getmaskarray(value)] = np.nan
        return np.ascontiguousarray(made)
    try:
        array = np.asarray(value)
    except ValueError:  # numpy refuses rows of different lengths
        raise ValueError(f"data '{name}': the rows have different lengths; an array needs rows of the same length") from None
    text = _text_of(np.asarray(value, dtype=object)) if array.dtype.kind in "OUT" else None
    if text is not None:
        return text
    if array.dtype == object:
        array = _object_to_float(name, array)
    elif array.dtype.kind not in "biuf":
        if array.dtype.kind in "US":
            raise TypeError(_bad_element(name, value))
        raise TypeError(f"data '{name}': values of type {array.dtype} are not numbers that svmp can use")
    if array.size == 0:
        raise ValueError(f"data '{name}': the array is empty (shape {array.shape})")
    return np.ascontiguousarray(array, dtype=np.float64) if array.ndim else np.array(float(array))


def _is_frame(data: Any) -> bool:
    """Whether the value is a DataFrame of pandas or polars."""
    return hasattr(data, "columns") and (hasattr(data, "iloc") or hasattr(data, "get_column"))


def _is_list_of_names(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and len(value) > 0 and all(isinstance(name, str) for name in value)


def _matrix(name: str, columns: Sequence[str], frame: Any) -> Array:
    """The matrix of some columns of a table."""
    rows: list[Array] = []
    for column in columns:
        made = to_array(column, frame[column])
        if isinstance(made, Text):
            raise TypeError(f"data '{name}': the column '{column}' is text; a column of a matrix has numbers, such as table['{column}'] == 'x'")
        rows.append(made)
    return np.ascontiguousarray(np.stack(rows, axis=1))


def _add_matrices(parts: list[tuple[Any, bool]], used: Names, matrices: dict[str, list[str]]) -> dict[str, Union[Array, Text]]:
    """Matrices of columns, {"X": ["age", "sex"]}: those in dictionaries beside a table, and those of earlier data."""
    frames = [part for part, is_frame in parts if is_frame]
    given = {name for part, is_frame in parts if not is_frame and isinstance(part, Mapping) for name in part}
    listed = set()
    for part, is_frame in parts:
        for name, value in part.items() if not is_frame and isinstance(part, Mapping) else ():
            if _is_list_of_names(value) and any(set(value) & set(frame.columns) for frame in frames):
                matrices[name] = list(value)  # one column is enough: another may be misspelt
                listed.add(name)
    made: dict[str, Union[Array, Text]] = {}
    for name, columns in matrices.items():
        if name in given and name not in listed:
            continue  # the matrix itself
        frame = next((frame for frame in frames if set(columns) <= set(frame.columns)), None)
        if frame is not None and name in used:
            made[name] = _matrix(name, columns, frame)
        elif frames:
            known = [str(column) for frame in frames for column in frame.columns]
            lost = [column for column in columns if column not in known] or columns
            close = difflib.get_close_matches(lost[0], known, 1)
            hint = f"; did you mean '{close[0]}'?" if close else ""
            raise ValueError(f"data '{name}': the table has no column {', '.join(map(repr, lost))}{hint}")
    return made


def add_missing(old: list[Part], new: list[Part], names: Iterable[str]) -> None:
    """Gives new data the vectors that they lack, all missing, with the length that other vectors of their old length have now."""
    before = {name: values for part in old if not isinstance(part, str) for name, values in part.items()}
    now = {name: values for part in new if not isinstance(part, str) for name, values in part.items()}
    for name in names:
        if name in now or name not in before or any(isinstance(part, str) for part in new):
            continue
        length = _length(before[name])
        lengths = {_length(now[other]) for other, values in before.items() if other in now and _length(values) == length}
        if length is not None and len(lengths) == 1 and (found := lengths.pop()) is not None:
            new.append({name: np.full(found, np.nan)})


def _length(values: Union[Array, Text]) -> Optional[int]:
    """Of a vector; None if it is not one."""
    if isinstance(values, Text):
        return len(values.values)
    return values.shape[0] if values.ndim == 1 else None


def _resembles(column: Any, used: Names, frame: Any) -> bool:
    """Whether a column that the model does not use is spelt like a name that the table lacks, up to case: then the error names it."""
    if not isinstance(column, str):
        return False
    return any(name.casefold() == column.casefold() and name not in frame.columns for name in used.variables)


def _frame_arrays(frame: Any, used: Names, rest: bool) -> dict[str, Union[Array, Text]]:
    if len(frame.columns) == 0:
        raise ValueError("data: the DataFrame has no columns")
    if len(frame) == 0:
        raise ValueError(f"data: the DataFrame has no rows (columns: {', '.join(map(str, frame.columns))})")
    made: dict[str, Union[Array, Text]] = {}
    for column in frame.columns:
        if column not in used and not _resembles(column, used, frame):
            continue  # a frame may have columns that the model does not use
        if list(frame.columns).count(column) > 1:
            raise ValueError(f"data: the DataFrame has two columns '{column}'")
        made[column] = to_array(column, frame[column])
    if not made and not rest:
        raise ValueError(f"data: the model uses none of the columns of the DataFrame: {', '.join(map(str, frame.columns))}")
    return made


def _mapping_arrays(data: Mapping[str, Any], used: Names) -> dict[str, Union[Array, Text]]:
    made: dict[str, Union[Array, Text]] = {}
    for name, value in data.items():
        if not isinstance(name, str):
            raise TypeError(f"data: the name {name!r} is not a string")
        if name not in used:
            close = difflib.get_close_matches(name, used.variables, 1) or [v for v in used.variables if v.lower() == name.lower()]
            hint = f"did you mean '{close[0]}'?" if close else f"it has {', '.join(used.variables)}"
            raise ValueError(f"data '{name}': the model has no such name; {hint}")
        made[name] = to_array(name, value)
    return made


def _parts_of(data: Any) -> list[tuple[Any, bool]]:
    """Dictionaries, tables, records and paths, in order, and whether each is a table."""
    if isinstance(data, Sequence) and not isinstance(data, (str, np.ndarray)):
        return [part for item in data for part in _parts_of(item)]
    return [] if data is None else [(data, _is_frame(data))]


def collect(data: Any, used: Names, matrices: dict[str, list[str]]) -> list[Part]:
    """The parts of the data in order: dictionaries of arrays, and paths. `matrices` gets the columns of matrices that are made of
    them."""
    given = _parts_of(data)
    made = _add_matrices(given, used, matrices)
    parts = [part for item, _ in given for part in _collect_one(item, used, made)]
    return [*parts, made] if made else parts


def _collect_one(data: Any, used: Names, made: Mapping[str, Any]) -> list[Part]:
    if isinstance(data, (str, os.PathLike)):
        path = os.fspath(data)
        if not os.path.exists(path):
            raise FileNotFoundError(f"data: there is no file '{path}'")
        return [str(path)]
    if _is_frame(data):
        arrays = _frame_arrays(data, used, bool(made))
        return [arrays] if arrays else []
    if isinstance(data, Mapping):
        rest = {name: value for name, value in data.items() if not (name in made and _is_list_of_names(value))}
        return [_mapping_arrays(rest, used)] if rest else []
    if isinstance(data, np.ndarray) and data.dtype.names:  # a record array
        return [_mapping_arrays({name: data[name] for name in data.dtype.names if name in used}, used)]
    raise TypeError(f"data: expected a dictionary, a DataFrame or paths of files, not {type(data).__name__}")


def add_parts(context: Context, handle: ctypes.c_void_p, parts: list[Part]) -> None:
    """Adds the parts to an ``svmp_data``."""
    for part in parts:
        if isinstance(part, str):
            context.check(lib.svmp_data_read(handle, os.fsencode(part)))
            continue
        for name, array in part.items():
            if isinstance(array, Text):
                array.add(context, handle, name)
                continue
            dimensions = (ctypes.c_size_t * max(array.ndim, 1))(*array.shape)
            context.check(lib.svmp_data_add(handle, name.encode(), array.ndim, dimensions, array.ctypes.data))
