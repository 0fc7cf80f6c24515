"""Finds the unconstrained scale of each unknown from the text of its model, and the values of draws on it.

A scale is a word of a reference's column: line, above;LO, below;HI, between;LO;HI, simplex or matrix. LO and HI are
numbers or the names of other unknowns. The formulas are those of src/model/transform.h.
"""
import re

import numpy as np

POSITIVE = {"dgamma", "dinvgamma", "dexp", "dchisqr", "dchisq", "dlnorm", "dweib", "dweibull", "dgen.gamma", "dggamma",
            "df", "dhalfcauchy"}


def unconstrained(names, scales, draws):
    """An array of the shape of draws[row, variable]; nan if a natural value has no variable."""
    place = {name: k for k, name in enumerate(names)}

    def bound(text):
        return draws[:, place[text]] if text in place else float(text)

    out, groups = np.full(draws.shape, np.nan), {}
    for k, (name, scale) in enumerate(zip(names, scales)):
        kind, *bounds = scale.split(";")
        x = draws[:, k]
        with np.errstate(divide="ignore", invalid="ignore"):
            if kind == "line":
                out[:, k] = x
            elif kind == "above":
                out[:, k] = np.log(x - bound(bounds[0]))
            elif kind == "below":
                out[:, k] = np.log(bound(bounds[0]) - x)
            elif kind == "between":
                out[:, k] = np.log(x - bound(bounds[0])) - np.log(bound(bounds[1]) - x)
            elif kind == "simplex":
                groups.setdefault((kind, name.rsplit(".", 1)[0]), []).append(k)
            elif kind == "matrix":
                groups.setdefault((kind, name.rsplit(".", 2)[0]), []).append(k)
            else:
                raise ValueError("no scale %s" % scale)
    for (kind, _), members in groups.items():
        if kind == "simplex":
            stick_breaking(draws, members, out)
        else:
            log_cholesky(names, draws, members, out)
    return out


def stick_breaking(draws, members, out):
    left = np.ones(len(draws))
    for order, k in enumerate(members[:-1]):
        z = draws[:, k] / left
        out[:, k] = np.log(z / (1 - z)) + np.log(len(members) - order - 1)
        left = left - draws[:, k]


def log_cholesky(names, draws, members, out):
    at = {tuple(int(i) - 1 for i in names[k].rsplit(".", 2)[1:]): k for k in members}
    order = max(i for i, _ in at) + 1
    matrix = np.empty((len(draws), order, order))
    for (i, j), k in at.items():
        matrix[:, i, j] = draws[:, k]
    factor = np.linalg.cholesky(matrix)
    for (i, j), k in at.items():
        if i >= j:
            out[:, k] = np.log(factor[:, i, i]) if i == j else factor[:, i, j]


# From the text of a model

def enclosed(text, start):
    """The text in the parentheses that open at `start`, and its end."""
    depth = 0
    for k in range(start, len(text)):
        depth += (text[k] == "(") - (text[k] == ")")
        if depth == 0:
            return text[start + 1:k], k + 1
    raise ValueError("unbalanced parentheses")


def arguments(text):
    """The parts between commas on the outermost level."""
    parts, depth, last = [], 0, 0
    for k, c in enumerate(text):
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            parts.append(text[last:k].strip())
            last = k + 1
    return parts + [text[last:].strip()]


def statements_of(text):
    """For each statement with ~: the array, its subscripts, the distribution, its arguments, the two bounds of T(,)."""
    text = re.sub(r"#[^\n]*|/\*.*?\*/", "", text, flags=re.S)
    for match in re.finditer(r"([A-Za-z][\w.]*)\s*(\[[^]]*\])?\s*~\s*([a-z.]+)\s*\(", text):
        inside, end = enclosed(text, match.end() - 1)
        truncated = re.match(r"\s*[TI]\s*\(", text[end:])
        bounds = arguments(enclosed(text, end + truncated.end() - 1)[0]) if truncated else ["", ""]
        yield match[1], arguments((match[2] or "[]")[1:-1]), match[3], arguments(inside), bounds


def value(text, index):
    """A bound: a number if possible, else the name of an unknown."""
    try:
        return "%.10g" % eval(text.replace("^", "**"), {"__builtins__": {}})
    except (NameError, SyntaxError):
        name, *subscripts = re.findall(r"[\w.]+", text)
        return ".".join([name] + [index.get(s, s) for s in subscripts])


def scale_of(name, statements, data):
    """The scale of one unknown. data: arrays by name, for the cut points of dinterval."""
    parts = name.split(".")
    while parts and not any(s[0] == ".".join(parts) for s in statements):
        parts.pop()
    if not parts:
        raise ValueError("the model has no statement for %s" % name)
    array, subscripts = ".".join(parts), name.split(".")[len(parts):]

    def fits(statement):  # x[1] ~ comes before x[i] ~ for the first element, and does not apply to others
        pairs = list(zip(statement[1], subscripts))
        return sum(a == b for a, b in pairs) - any(a.isdigit() and a != b for a, b in pairs)

    _, pattern, kind, given, (low, high) = max((s for s in statements if s[0] == array), key=fits)
    if kind == "ddirch":
        return "simplex"
    if kind == "dwish":
        return "matrix"
    low = low or ("0" if kind in POSITIVE or kind == "dbeta" else given[0] if kind == "dunif" else
                  given[1] if kind == "dpar" else "")
    high = high or ("1" if kind == "dbeta" else given[1] if kind == "dunif" else "")
    low, high = [value(b, dict(zip(pattern, subscripts))) if b else "" for b in (low, high)]
    for count, _, kind, given, _ in statements:
        if kind == "dinterval" and given[0].split("[")[0] == array:  # of one cut point, with the node's subscript
            beyond, cut = [data[each][int(subscripts[0]) - 1] for each in (count, given[1].split("[")[0])]
            low, high = ("%.10g" % cut, high) if beyond else (low, "%.10g" % cut)
    return ("between;%s;%s" % (low, high) if low and high else "above;%s" % low if low else
            "below;%s" % high if high else "line")


def scales_of(model, names, data):
    with open(model) as file:
        statements = list(statements_of(file.read()))
    return [scale_of(name, statements, data) for name in names]
