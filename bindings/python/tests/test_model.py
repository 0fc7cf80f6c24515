"""Models: their parts, their density, and errors with their places."""

import pickle

import numpy as np
import pytest

import svmp

from conftest import ROOT


def log_density(mu, u, y):
    """The posterior of NORMAL on the unconstrained scale, u = log tau, up to a constant."""
    tau = np.exp(u)
    return 0.5 * len(y) * u - 0.5 * tau * ((y - mu) ** 2).sum() - 0.005 * mu**2 + (2 - 1) * u - 2 * tau + u


def test_description(normal):
    assert normal.unknown == {"mu": (), "tau": ()}
    np.testing.assert_array_equal(normal.observed["y"], [1, 2, 4])
    assert normal.computed == ["sigma"]
    assert normal.names == ["mu", "tau"] and normal.dimension == 2
    assert not normal.is_gaussian
    assert "unknown: mu, tau" in repr(normal) and "<b>mu</b>" in normal._repr_html_()


def test_log_prob_and_score_are_the_formula(normal):
    x = np.random.default_rng(1).normal(size=(4, 3, 2))
    y = np.array([1.0, 2.0, 4.0])
    expected = np.vectorize(lambda mu, u: log_density(mu, u, y))(x[..., 0], x[..., 1])
    found = normal.log_prob(x)
    assert found.shape == (4, 3)
    np.testing.assert_allclose(found - found[0, 0], expected - expected[0, 0], atol=1e-11)
    score, h = normal.score(x), 1e-5
    assert score.shape == x.shape
    for k, step in enumerate(h * np.eye(2)):
        slope = (normal.log_prob(x + step) - normal.log_prob(x - step)) / (2 * h)
        np.testing.assert_allclose(score[..., k], slope, rtol=1e-7, atol=1e-7)
    assert np.isscalar(normal.log_prob(x[0, 0])) and normal.score(x[0, 0]).shape == (2,)


def test_transforms_both_ways(normal):
    x = np.random.default_rng(2).normal(size=(5, 2))
    values = normal.constrain(x)
    np.testing.assert_array_equal(values["mu"], x[:, 0])
    np.testing.assert_allclose(values["tau"], np.exp(x[:, 1]), rtol=1e-15)
    np.testing.assert_allclose(normal.unconstrain(values), x, atol=1e-14)
    assert normal.constrain(x[0])["tau"].shape == () and normal.unconstrain(normal.constrain(x[0])).shape == (2,)
    assert normal.log_prob({"mu": 1.0, "tau": 2.0}) == normal.log_prob([1.0, np.log(2.0)])


def test_arrays_that_are_observed_in_part():
    m = svmp.Model("model { for (i in 1:3) { y[i] ~ dnorm(i, 1) } }", {"y": [5.0, np.nan, np.nan]})
    assert m.unknown == {"y": (3,)} and m.names == ["y.2", "y.3"]
    fit = m.exact(500)
    assert fit["y"].shape == (500, 3)
    np.testing.assert_array_equal(fit["y"][:, 0], 5)
    np.testing.assert_allclose(fit["y"].mean(axis=0), [5, 2, 3], atol=5 / np.sqrt(500))


def test_shapes():
    text = "model { for (i in 1:2) { for (j in 1:3) { a[i,j] ~ dnorm(10 * i + j, 1.0E6) } } v[1:2] ~ dmnorm(z, P) }"
    m = svmp.Model(text, {"z": [0.0, 0.0], "P": np.eye(2)})
    fit = m.fit(iterations=5, init="prior", progressbar=False)
    assert {name: fit[name].shape[1:] for name in fit} == {"a": (2, 3), "v": (2,)}
    np.testing.assert_allclose(fit["a"].mean(axis=0), [[11, 12, 13], [21, 22, 23]], atol=0.5)


def test_errors_have_places():
    with pytest.raises(svmp.ModelError) as caught:
        svmp.Model("model {\n  y ~ dnorm(mu, tauu)\n  mu ~ dnorma(0, 1)\n}", {"y": 1})
    assert (caught.value.line, caught.value.column) == (2, 17)
    assert len(caught.value.messages) == 2
    first = str(caught.value).splitlines()
    assert "tauu" in first[0] and first[2].index("^") == first[1].index("tauu")
    assert isinstance(caught.value, ValueError)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)


def test_the_path_is_in_the_error(tmp_path):
    path = tmp_path / "m.bug"
    path.write_text("model {\n")
    with pytest.raises(svmp.ModelError, match="m.bug:"):
        svmp.Model(path)


def test_graph(normal):
    dot = normal.graph("dot")
    assert dot.startswith("graph model {") and 'label="mu"' in dot
    with pytest.raises(ValueError, match="format"):
        normal.graph("png")
    networkx = pytest.importorskip("networkx")
    graph = normal.graph()
    assert isinstance(graph, networkx.Graph) and graph.nodes["mu"]["kind"] == "node"
    assert sum(kind == "factor" for _, kind in graph.nodes(data="kind")) == normal.factors


def test_bad_points(normal):
    for x in ([1.0], np.ones((2, 3)), [], 1.0):
        with pytest.raises(ValueError, match="shape"):
            normal.log_prob(x)
    with pytest.raises(TypeError):
        normal.score(["a", "b"])
    with pytest.raises(ValueError, match="'nu': the model has no unknown"):
        normal.unconstrain({"nu": 1.0})
    with pytest.raises(ValueError, match="'tau': no value"):
        normal.unconstrain({"mu": 1.0})
    with pytest.raises(ValueError, match="tau"):
        normal.unconstrain({"mu": 1.0, "tau": np.nan})
    with pytest.raises(ValueError, match="tau"):
        normal.unconstrain({"mu": [1.0, 2.0], "tau": [1.0]})


def test_gradients_of_the_language_are_right(normal):
    assert normal.check_gradient()["error"] < 1e-6


def test_pickle(normal):
    again = pickle.loads(pickle.dumps(normal))
    assert again.unknown == normal.unknown
    assert again.log_prob([0.5, 0.1]) == normal.log_prob([0.5, 0.1])


def test_matrix_market_files():
    m = svmp.Model(ROOT / "models" / "grid.mtx", ROOT / "models" / "grid_b.mtx")
    assert m.unknown == {"x": (100,)} and m.is_gaussian
    mean, variance = m.exact_moments()
    draws = m.exact(4000, seed=3)["x"]
    np.testing.assert_array_less(np.abs(draws.mean(axis=0) - mean["x"]), 5 * np.sqrt(variance["x"] / 4000))


@pytest.mark.parametrize("name", sorted(path.stem for path in (ROOT / "models").glob("*.bug")))
def test_every_model_can_be_read(name):
    folder = ROOT / "models"
    base = {"crowd_log": "crowd", "schools_centred": "schools"}.get(name, name)
    data = [path for path in (folder / f"{base}{ending}" for ending in (".json", ".csv", ".R")) if path.is_file()]
    m = svmp.Model(folder / f"{name}.bug", data)
    x = np.zeros((2, m.dimension)) + 0.1
    values = m.constrain(x)
    assert values and all(value.shape == (2, *m.unknown[key]) for key, value in values.items())
    np.testing.assert_allclose(m.unconstrain(values), x, atol=1e-9)


def test_other_data():
    text = "model { for (i in 1:length(y)) { y[i] ~ dnorm(mu, 1) }\n mu ~ dnorm(0, 1) }"
    first = svmp.Model(text, {"y": [1.0, 2.0]})
    other = first.with_data({"y": [3.0, 4.0, 5.0]})
    assert other.log_prob([0.5]) == svmp.Model(text, {"y": [3.0, 4.0, 5.0]}).log_prob([0.5])
    np.testing.assert_array_equal(first.observed["y"], [1, 2])
    with pytest.raises(svmp.InputError, match="the dimensions of 'y' are unknown"):
        first.with_data({})
    with pytest.raises(TypeError, match="only models of a text"):
        svmp.Model(ROOT / "models" / "grid.mtx").with_data({})
