"""Data of any kind become arrays; errors name the data that cannot."""

import numpy as np
import pytest

import svmp

from conftest import NORMAL

PAIR = "model { for (i in 1:3) { y[i] ~ dnorm(b * x[i], 1) }  b ~ dnorm(0, 1) }"


@pytest.mark.parametrize(
    "y",
    [
        [1.0, float("nan"), 3.0],
        [1, None, 3],
        np.ma.masked_array([1.0, 9.0, 3.0], [False, True, False]),
        np.ma.masked_array([1, 9, 3], [0, 1, 0]),
        np.array([1.0, np.nan, 3.0], dtype=np.float32),
        np.array([1.0, None, 3.0], dtype=object),
    ],
)
def test_missing_values(y):
    m = svmp.Model(NORMAL, {"y": y})
    np.testing.assert_array_equal(m.observed["y"], [1, np.nan, 3])
    assert m.unknown == {"y": (3,), "mu": (), "tau": ()}


def test_pandas():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"x": [1, 2, 3], "y": pandas.array([1, None, 3], dtype="Int64"), "name": ["a", "b", "c"]})
    m = svmp.Model(PAIR, frame)
    np.testing.assert_array_equal(m.observed["y"], [1, np.nan, 3])
    with pytest.raises(ValueError, match="no rows .*x, y, name"):
        svmp.Model(PAIR, frame[:0])
    with pytest.raises(ValueError, match="no columns"):
        svmp.Model(PAIR, pandas.DataFrame())
    with pytest.raises(ValueError, match="none of the columns .*z"):
        svmp.Model(PAIR, pandas.DataFrame({"z": [1, 2, 3]}))
    with pytest.raises(svmp.ModelError, match="'x' is text, not numbers: its 3 levels"):
        svmp.Model(PAIR, frame.assign(x=["one", "two", "three"]))
    labels = pandas.Categorical(["a", "b", "a"])
    with pytest.raises(svmp.ModelError, match="'x' is text, not numbers: its 2 levels"):
        svmp.Model(PAIR, {"x": labels, "y": [1, 2, 3]})
    with pytest.raises(TypeError, match="'x': .*datetime"):
        svmp.Model(PAIR, frame.assign(x=pandas.to_datetime(["2020-01-01"] * 3)))


def test_files_and_dictionaries_together(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("x\n1\n2\n3\n")
    m = svmp.Model(PAIR, [path, {"y": [1.0, 2.0, 3.0]}])
    assert m.unknown == {"b": ()}


@pytest.mark.parametrize(
    "data, error, words",
    [
        ({"y": "one"}, TypeError, "'y': 'one' is not a number"),
        ({"y": ["1", "2", "3"]}, TypeError, "'y': '1' is not a number"),
        ({"y": [1, "two", 3]}, TypeError, "'y': .*two"),
        ({"y": [1 + 2j]}, TypeError, "'y': .*complex"),
        ({"y": [[1, 2], [3]]}, ValueError, "'y': the rows have different lengths"),
        ({"y": np.array([[1, 2], [3]], dtype=object)}, ValueError, "'y': the rows have different lengths"),
        ({"y": np.array([object()])}, TypeError, "'y': .*object"),
        ({"y": []}, ValueError, "'y': the array is empty"),
        ({"y": {"a": 1}}, TypeError, "'y': a dict"),
        ({"y": [1.0], "z": 1}, ValueError, "'z': the model has no such name; it has mu, sigma, tau, y$"),
        ({"Y": [1.0]}, ValueError, "'Y': the model has no such name; did you mean 'y'"),
        ({"y": [10**400]}, ValueError, "'y': a number is too large"),
        ({"y": [1.0, np.inf]}, ValueError, r"'y\[2\]' \(in memory\) is outside the support of dnorm: it is infinite"),
        ({1: [1.0]}, TypeError, "the name 1 is not a string"),
        (3, TypeError, "not int"),
        ("nowhere.csv", FileNotFoundError, "nowhere.csv"),
        ({"y": [1.0], "mu": [1.0, 2.0]}, ValueError, "mu"),
        ({"y": np.ones((3, 2))}, ValueError, "y"),
    ],
)
def test_bad_data_are_named(data, error, words):
    with pytest.raises(error, match=words):
        svmp.Model(NORMAL, data)


@pytest.mark.parametrize("source, error", [(3, TypeError), ("nowhere.bug", FileNotFoundError), ("nothing", ValueError), (None, TypeError)])
def test_bad_sources(source, error):
    with pytest.raises(error):
        svmp.Model(source)


def test_arrays_in_any_order_of_memory():
    text = "model { for (i in 1:2) { for (j in 1:3) { y[i,j] ~ dnorm(m[i], 1) } m[i] ~ dnorm(0, 1) } }"
    y = np.arange(6.0).reshape(2, 3)
    for given in (y, np.asfortranarray(y), y.tolist(), np.arange(12.0).reshape(2, 6)[:, ::2] / 2):
        np.testing.assert_array_equal(svmp.Model(text, {"y": given}).observed["y"], given if not isinstance(given, list) else y)


@pytest.mark.parametrize("kind", [bool, np.int8, np.uint8, np.int64, np.uint64, np.float16, np.float32, np.longdouble, ">f8", object])
def test_any_type_of_number(kind):
    x = np.array([1, 0, 1]).astype(kind)
    m, same = (svmp.Model(PAIR, {"x": given, "y": [1.0, 2.0, 3.0]}) for given in (x, [1.0, 0.0, 1.0]))
    assert m.log_prob([0.3]) == same.log_prob([0.3])


def test_record_arrays():
    records = np.array([(1.0, 1, 0), (2.0, 2, 0), (3.0, 3, 0)], dtype=[("y", float), ("x", int), ("other", int)])
    np.testing.assert_array_equal(svmp.Model(PAIR, records).observed["y"], [1, 2, 3])


def test_xarray():
    xarray = pytest.importorskip("xarray")
    data = xarray.Dataset({"x": ("row", [1.0, 2.0, 3.0]), "y": ("row", [1.0, np.nan, 3.0])})
    np.testing.assert_array_equal(svmp.Model(PAIR, data).observed["y"], [1, np.nan, 3])


def test_polars():
    polars = pytest.importorskip("polars")
    data = polars.DataFrame({"x": [1, 2, 3], "y": [1.0, None, 3.0], "name": ["a", "b", "c"]})
    np.testing.assert_array_equal(svmp.Model(PAIR, data).observed["y"], [1, np.nan, 3])


def test_infinite_covariates_are_named_and_infinite_bounds_are_none():
    text = "model { for (i in 1:3) { y[i] ~ dnorm(b * x[i], 1) T(, top[i]) }  b ~ dnorm(0, 1) }"
    data = {"y": [1.0, 2.0, 3.0], "x": [1.0, 2.0, 3.0], "top": [np.inf] * 3}
    plain = svmp.Model(PAIR, {"x": data["x"], "y": data["y"]})
    assert svmp.Model(text, data).log_prob([0.3]) == pytest.approx(plain.log_prob([0.3]))
    with pytest.raises(svmp.ModelError, match=r"'x\[2\]' \(in memory\) is infinite"):
        svmp.Model(text, {**data, "x": [1.0, -np.inf, 3.0]})


LABELLED = """model { for (i in 1:length(y)) { y[i] ~ dnorm(u[g[i], h[i]], 1) }
  for (j in 1:max(g)) { for (k in 1:2) { u[j, k] ~ dnorm(v[j], 1) }  v[j] ~ dnorm(0, 1) } }"""


@pytest.mark.parametrize("form", ["list", "array", "categorical", "csv"])
def test_labels_come_back(form, tmp_path):
    """Text that subscripts an array labels its dimension: in order of its bytes, or as a Categorical says."""
    pandas = pytest.importorskip("pandas")
    data = {"y": [1.0, 2, 3, 4], "g": ["York", "Leeds", "York", "Ulm"], "h": [1, 2, 2, 1]}
    order = ["Leeds", "Ulm", "York"]
    if form == "array":
        data["g"] = np.array(data["g"])
    if form == "categorical":
        order = ["York", "Ulm", "Leeds"]
        data["g"] = pandas.Categorical(data["g"], categories=order)
    if form == "csv":
        pandas.DataFrame(data).to_csv(tmp_path / "d.csv", index=False)
        data = str(tmp_path / "d.csv")
    fit = svmp.Model(LABELLED, data).fit(progressbar=False)
    labels = [f"u[{name},{k}]" for name in order for k in (1, 2)]
    assert list(fit.summary(["u"]).index) == labels and list(fit.summary(["v"]).index) == [f"v[{name}]" for name in order]
    np.testing.assert_array_equal(fit["u[York, 2]"], fit["u"][:, order.index("York"), 1])
    np.testing.assert_array_equal(fit["u[1,2]"], fit["u"][:, 0, 1])
    made = fit.predict({"y": [np.nan, np.nan], "g": ["Bath", "York"], "h": [1, 1]})
    assert [name for name in made.summary().index if name.startswith("v")] == ["v[Bath]"]
    z = made["y"][:, 1] - fit["u[York,1]"]
    assert abs(z.mean()) < 5 / np.sqrt(len(fit))
    with pytest.raises(KeyError, match="u"):
        fit["u[Paris,1]"]


def test_text_that_is_no_category():
    with pytest.raises(TypeError, match="'g': '7' is not a number; if these are labels, make them a pandas.Categorical"):
        svmp.Model(LABELLED, {"y": [1.0, 2.0], "g": ["7", "York"], "h": [1, 2]})
    with pytest.raises(svmp.ModelError, match="index 3 of 'u' is out of range|'g'"):
        svmp.Model(LABELLED.replace("max(g)", "2"), {"y": [1.0, 2, 3], "g": ["a", "b", "c"], "h": [1, 2, 1]})


def test_subscripts_of_python():
    with pytest.raises(svmp.ModelError, match="index 0 of 'a' is out of range 1 to 2; subscripts count from 1"):
        svmp.Model("model { for (i in 1:2) { y[i] ~ dnorm(a[g[i]], 1)  a[i] ~ dnorm(0, 1) } }", {"y": [1.0, 2.0], "g": [0, 1]})
