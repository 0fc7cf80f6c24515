"""Graphs built in Python against exact answers, and errors in functions of factors."""

import numpy as np
import pytest

import svmp

from conftest import ROOT

A = np.array([[2.0, -1.0, 0.0], [-1.0, 3.0, -1.0], [0.0, -1.0, 2.0]])
B = np.array([1.0, 0.0, 2.0])


def quadratic(x, y):
    """-x'Ax/2 + b'x of a node of two variables and one of one."""
    z = np.column_stack([x, y])
    gradient = B - z @ A
    return 0.5 * (z * (B + gradient)).sum(axis=1), (gradient[:, :2], gradient[:, 2])


def graph_of_function(function=quadratic, **options):
    g = svmp.Graph()
    g.node("x", 2)
    g.node("y")
    g.factor(["x", "y"], function, **options)
    return g


def graph_of_matrix():
    g = svmp.Graph()
    g.node("x", 2)
    g.node("y")
    g.gaussian(["x", "y"], A, B)
    return g


def test_gaussian_is_exact():
    m = graph_of_matrix().model()
    assert m.unknown == {"x": (2,), "y": ()} and m.is_gaussian
    mean, variance = m.exact_moments()
    np.testing.assert_allclose(np.append(mean["x"], mean["y"]), np.linalg.solve(A, B), atol=1e-12)
    np.testing.assert_allclose(np.append(variance["x"], variance["y"]), np.diag(np.linalg.inv(A)), atol=1e-12)
    x = np.random.default_rng(0).normal(size=(7, 3))
    np.testing.assert_allclose(m.log_prob(x), x @ B - 0.5 * np.einsum("ni,ij,nj->n", x, A, x), atol=1e-12)


def test_mean_and_pieces():
    g = svmp.Graph()
    for name in "abc":
        g.node(name)
    g.gaussian("a", 2.0, mean=1.5)
    g.gaussian(["b", "c"], [[2.0, 1.0], [1.0, 2.0]], mean=[1.0, -1.0])
    mean, _ = g.model().exact_moments()
    assert [round(float(mean[name]), 12) for name in "abc"] == [1.5, 1.0, -1.0]


def test_a_function_is_the_matrix():
    by_function, by_matrix = graph_of_function().model(), graph_of_matrix().model()
    x = np.random.default_rng(1).normal(size=(9, 3))
    np.testing.assert_allclose(by_function.log_prob(x), by_matrix.log_prob(x), atol=1e-12)
    np.testing.assert_allclose(by_function.score(x), by_matrix.score(x), atol=1e-12)
    assert by_function.check_gradient()["error"] < 1e-6
    draws = by_function.sample(500, 500, progressbar=False)
    assert draws.verdict and draws.compare(by_matrix.exact(4000)).agrees


def test_a_wrong_gradient_is_found():
    g = graph_of_function(lambda x, y: (-0.5 * y**2 - (x**2).sum(axis=1), (-x, -y)))
    worst = g.model().check_gradient()
    assert worst["error"] > 0.1 and worst["variable"] in ("x.1", "x.2")


@pytest.mark.parametrize("threads", [1, 2])
def test_threads(threads):
    g = svmp.Graph()
    for k in range(6):
        g.node(f"n{k}")
        g.factor(f"n{k}", lambda x: (-0.5 * x**2, -x))
    for k in range(5):
        g.factor([f"n{k}", f"n{k + 1}"], lambda x, y: (-0.5 * (x - y) ** 2, (y - x, x - y)))
    fit = g.model(threads=threads).fit("graphical", 20, iterations=20, progressbar=False)
    np.testing.assert_array_equal(fit.values, g.model(threads=1).fit("graphical", 20, iterations=20, progressbar=False).values)


def test_bounds():
    g = svmp.Graph()
    g.node("x", 2, lower=[0, 1], upper=4)
    g.gaussian("x", np.eye(2), mean=-3.0)
    fit = g.model().fit("graphical", 20, iterations=50, progressbar=False)
    assert (fit["x"] >= [0, 1]).all() and (fit["x"] <= 4).all()
    assert fit.verdict


# ---- fields -------------------------------------------------------------------------------------


def test_a_field_has_the_bits_of_its_file():
    sparse, io = pytest.importorskip("scipy.sparse"), pytest.importorskip("scipy.io")
    a, b = io.mmread(ROOT / "models" / "grid.mtx"), np.asarray(io.mmread(ROOT / "models" / "grid_b.mtx")).ravel()
    theirs = svmp.Model(ROOT / "models" / "grid.mtx", ROOT / "models" / "grid_b.mtx")
    for matrix in (a, sparse.csr_matrix(a), sparse.csc_matrix(a), a.toarray()):
        ours = svmp.field(matrix, b)
        assert ours.unknown == {"x": (100,)} and ours.factors == theirs.factors
        options = {"particles": 20, "iterations": 5, "progressbar": False}
        np.testing.assert_array_equal(ours.fit(**options).values, theirs.fit(**options).values)


def test_a_field_among_other_nodes():
    g = svmp.Graph()
    g.node("level")
    g.field("u", np.array([[2.0, -1.0], [-1.0, 2.0]]), [3.0, 0.0])
    g.gaussian("level", 1.0)
    g.gaussian(["level", "u.1"], [[1.0, -1.0], [-1.0, 1.0]])
    mean, _ = g.model().exact_moments()
    whole = np.array([[2.0, -1.0, 0.0], [-1.0, 3.0, -1.0], [0.0, -1.0, 2.0]])
    np.testing.assert_allclose([mean["level"], *mean["u"]], np.linalg.solve(whole, [0.0, 3.0, 0.0]), atol=1e-12)


@pytest.mark.parametrize(
    "matrix, words",
    [
        (np.ones((2, 3)), "square"),
        (np.ones(3), "square"),
        (np.zeros((0, 0)), "square"),
        (np.array([[1.0, 0.5], [0.4, 1.0]]), "not symmetric"),
        (np.array([[1.0, 0.5], [0.0, 1.0]]), "not symmetric"),
        (np.array([[1.0, np.nan], [np.nan, 1.0]]), "not finite"),
    ],
)
def test_bad_fields(matrix, words):
    with pytest.raises(ValueError, match=f"'x': .*{words}"):
        svmp.field(matrix)
    with pytest.raises(ValueError, match="linear"):
        svmp.field(np.eye(2), [1.0, 2.0, 3.0])


def test_a_field_that_is_no_density():
    with pytest.raises(svmp.Error, match="positive definite"):
        svmp.field(np.array([[1.0, 2.0], [2.0, 1.0]])).exact_moments()


# ---- functions that fail ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "function, error, words",
    [
        (lambda x, y: 1 / 0, ZeroDivisionError, "division"),
        (lambda x, y: (-(y**2), (x,)), ValueError, "1 gradients for 2 nodes"),
        (lambda x, y: (0.0, (x, y)), ValueError, r"the value has shape \(\)"),
        (lambda x, y: (-(y**2), (x[:, 0], y)), ValueError, r"gradient 1 has shape"),
        (lambda x, y: -(y**2), TypeError, "must return a pair"),
        (lambda x: (x, x), TypeError, "positional"),
        (lambda x, y: (np.full(len(y), "a"), (x, y)), ValueError, "could not convert"),
    ],
)
def test_failures_come_back(function, error, words):
    m = graph_of_function(function).model()
    with pytest.raises(error, match=words):
        m.fit(particles=10, iterations=3, progressbar=False)
    with pytest.raises(error, match=words):
        m.log_prob(np.zeros(3))


def test_a_failure_in_the_middle():
    calls = []

    def fails_late(x, y):
        calls.append(1)
        if len(calls) > 20:
            raise KeyError("late")
        return quadratic(x, y)

    with pytest.raises(KeyError, match="late"):
        graph_of_function(fails_late).model().fit("graphical", 10, iterations=100, progressbar=False)


def test_not_a_number():
    m = graph_of_function(lambda x, y: (y * np.nan, (x, y))).model()
    with pytest.raises(svmp.NotFiniteError):
        m.fit("graphical", 10, iterations=3, progressbar=False)


def test_bad_graphs():
    g = svmp.Graph()
    with pytest.raises(ValueError, match="no nodes"):
        g.model()
    g.node("x")
    for call, error, words in [
        (lambda: g.node("x"), ValueError, "'x': the graph already has a node"),
        (lambda: g.node(3), TypeError, "3 is not a name"),
        (lambda: g.node("y", 0), ValueError, "'y': the dimension"),
        (lambda: g.node("y", 2, lower=[1, 2, 3]), ValueError, "'y': lower"),
        (lambda: g.gaussian("z"), ValueError, "no node 'z'"),
        (lambda: g.gaussian([]), ValueError, "no nodes were given"),
        (lambda: g.gaussian(["x", "x"]), ValueError, "twice"),
        (lambda: g.gaussian("x", np.eye(2)), ValueError, "1 variables"),
        (lambda: g.gaussian("x", 1.0, [1.0, 2.0]), ValueError, "linear"),
        (lambda: g.gaussian("x", 1.0, 1.0, mean=1.0), ValueError, "not both"),
        (lambda: g.factor("z", quadratic), ValueError, "no node 'z'"),
        (lambda: g.factor("x", 3), TypeError, "cannot be called"),
        (lambda: g.factor("x", quadratic, autodiff="magic"), ValueError, "magic"),
    ]:
        with pytest.raises(error, match=words):
            call()


# ---- differentiated by others -------------------------------------------------------------------


@pytest.mark.parametrize("name", ["jax", "torch"])
def test_differentiated_functions(name):
    module = pytest.importorskip(name)
    if name == "jax":
        numpy = module.numpy

        def function(x, y):  # one particle
            z = numpy.append(x, y)
            return z @ B - 0.5 * z @ A @ z

    else:
        a, b = module.tensor(A), module.tensor(B)

        def function(x, y):  # all particles
            z = module.column_stack([x, y])
            return z @ b - 0.5 * ((z @ a) * z).sum(dim=1)

    ours, theirs = graph_of_function(function, autodiff=name).model(), graph_of_matrix().model()
    x = np.random.default_rng(1).normal(size=(9, 3))
    np.testing.assert_allclose(ours.log_prob(x), theirs.log_prob(x), atol=1e-12)
    np.testing.assert_allclose(ours.score(x), theirs.score(x), atol=1e-12)
    fit = ours.fit("graphical", 20, iterations=20, progressbar=False)
    np.testing.assert_allclose(fit.values, theirs.fit("graphical", 20, iterations=20, progressbar=False).values, atol=1e-6)


def test_functions_that_torch_cannot_use():
    torch = pytest.importorskip("torch")
    with pytest.raises(TypeError, match="tensor of one log value for each particle, not float"):
        graph_of_function(lambda x, y: 1.0, autodiff="torch").model().log_prob(np.zeros(3))
    constant = graph_of_function(lambda x, y: torch.ones(len(y)), autodiff="torch").model()
    assert constant.log_prob(np.zeros(3)) == 1 and (constant.score(np.zeros(3)) == 0).all()
