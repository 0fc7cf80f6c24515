"""Predictions, derived quantities, draws from the prior, and calibration."""

import logging

import numpy as np
import pytest

import svmp
from svmp.calibration import Calibration

TEXT = """model {
  for (i in 1:N) { y[i] ~ dnorm(a + u[g[i]] + b * x[i], tau) }
  for (j in 1:J) { u[j] ~ dnorm(0, tu) }
  a ~ dnorm(0, 1)  b ~ dnorm(0, 1)  tau ~ dgamma(4, 2)  tu ~ dgamma(4, 2)
  sigma <- 1 / sqrt(tau)
}"""
DATA = {"N": 6, "J": 2, "x": [1.0, 2, 3, 4, 5, 6], "g": [1, 1, 1, 2, 2, 2], "y": [1.1, 2.3, 2.9, 4.2, 5.1, 5.8]}


@pytest.fixture(scope="module")
def model():
    return svmp.Model(TEXT, DATA)


@pytest.fixture(scope="module")
def fit(model):
    return model.sample(500, 500, progressbar=False)


def test_predict_new_rows_and_groups(fit):
    made = fit.predict({"N": 2, "J": 3, "x": [10.0, 20.0], "g": [1, 3]})
    assert set(made) == {"y", "u"} and made["y"].shape == (len(fit), 2) and made.chains == fit.chains
    z = (made["y"][:, 0] - fit["a"] - 10 * fit["b"] - fit["u"][:, 0]) * np.sqrt(fit["tau"])
    assert abs(z.mean()) < 5 / np.sqrt(len(fit)) and abs(z.var() - 1) < 5 * np.sqrt(2 / len(fit))
    fresh = made["u[3]"] * np.sqrt(fit["tu"])
    assert abs(fresh.mean()) < 5 / np.sqrt(len(fit)) and abs(fresh.var() - 1) < 5 * np.sqrt(2 / len(fit))
    np.testing.assert_array_equal(fit.predict({"N": 2, "J": 3, "x": [10.0, 20.0], "g": [1, 3]})["y"], made["y"])
    assert (fit.predict({"N": 2, "J": 3, "x": [10.0, 20.0], "g": [1, 3]}, seed=2)["y"] != made["y"]).all()


def test_predict_where_there_are_observations(fit):
    """Arrays of y with values have replicates; sigma is computed on request."""
    made = fit.predict(monitor="sigma")
    assert set(made) == {"y", "sigma"} and made["y"].shape == (len(fit), 6)
    np.testing.assert_allclose(made["sigma"], 1 / np.sqrt(fit["tau"]))
    np.testing.assert_array_equal(made["y"], fit.posterior_predictive()["y"])


def test_predictions_are_refused(fit, tmp_path):
    with pytest.raises(svmp.ModelError, match=r"the draws have no 'u\[3\]', on which something depends that is observed"):
        fit.predict({"N": 1, "J": 3, "x": [1.0], "g": [3], "y": [1.0]})
    with pytest.raises(ValueError, match="data 'z': the model has no such name"):
        fit.predict({"z": 3})
    with pytest.raises(svmp.ModelError, match="<statements>:1:6: error: 'c' is not defined"):
        fit.derive("q <- c")
    with pytest.raises(TypeError, match="derive: expected statements"):
        fit.derive(3)
    fit.save(tmp_path / "fit.csv")
    with pytest.raises(TypeError, match="derive: the fit has no model"):
        svmp.load(tmp_path / "fit.csv").derive("q <- 3")


def test_derive(fit):
    made = fit.derive("ratio <- exp(b)  for (j in 1:J) { d[j] <- u[j] - u[1] }")
    np.testing.assert_allclose(made["ratio"], np.exp(fit["b"]))
    np.testing.assert_allclose(made["d"], fit["u"] - fit["u"][:, :1])
    table = made.summary()
    assert list(table.index) == ["ratio", "d[1]", "d[2]"] and (table["r_hat"][:1] < 1.05).all()
    assert made.groups().keys() == {"posterior"}


def test_derive_after_loading(model, fit, tmp_path):
    fit.save(tmp_path / "fit.csv")
    again = svmp.load(tmp_path / "fit.csv", model).derive("r <- a + b")
    np.testing.assert_allclose(again["r"], fit["a"] + fit["b"])


def test_predict_missing_responses():
    """What the fit itself has drawn is given; the same rows are not drawn again."""
    fit = svmp.Model(TEXT, {**DATA, "y": [1.1, np.nan, 2.9, 4.2, 5.1, 5.8]}).fit(progressbar=False)
    made = fit.derive("twice <- 2 * y[2]")
    np.testing.assert_allclose(made["twice"], 2 * fit["y"][:, 1])
    new = fit.predict({**DATA, "x": [100.0] * 6, "y": [np.nan] * 6})  # y[2] is another row now
    assert new["y"].shape == (len(fit), 6) and abs(new["y"][:, 1].mean() - 100 * fit["b"].mean()) < 5


def test_prior_predictive(model):
    made = model.prior_predictive(4000, monitor="sigma")
    assert made["y"].shape == (4000, 6) and made["u"].shape == (4000, 2)
    assert {group: set(arrays) for group, arrays in made.groups().items()} == {
        "prior_predictive": {"y"},
        "prior": {"u", "a", "b", "tau", "tu", "sigma"},
    }
    assert abs(made["tau"].mean() - 2) < 5 / np.sqrt(4000)
    np.testing.assert_allclose(made["sigma"], 1 / np.sqrt(made["tau"]))
    with pytest.raises(svmp.UnsupportedError, match="The prior of 'm' cannot be drawn from"):
        svmp.Model("model { y ~ dnorm(m, 1)  m ~ dflat() }", {"y": 1.0}).prior_predictive()


def test_predictions_in_arviz(model, fit):
    pytest.importorskip("arviz")
    prior = model.prior_predictive(100).idata
    assert prior["prior_predictive"]["y"].dims == ("chain", "draw", "y_dim_0")
    two = fit.predict({"N": 2, "J": 2, "x": [1.0, 2.0], "g": [1, 2]}).idata
    assert two["predictions"]["y"].shape == (fit.chains, fit.draws, 2)


@pytest.mark.filterwarnings("ignore")
def test_calibration_of_right_inference_and_of_wrong(tmp_path, caplog):
    """Ranks are uniform where the fit is right; a model that takes data for twice as precise as they are is found out."""
    caplog.set_level(logging.ERROR, logger="svmp")
    (tmp_path / "m.bug").write_text("model { for (i in 1:4) { y[i] ~ dnorm(mu, 1) }  mu ~ dnorm(0, 1) }")
    (tmp_path / "d.csv").write_text("y\n1\n2\nNA\n4\n")
    m = svmp.Model(tmp_path / "m.bug", tmp_path / "d.csv")
    seen = []
    made = svmp.sbc(m, 60, progressbar=False, callback=lambda k, fit: seen.append((k, np.isnan(fit.observed["y"]).sum())))
    assert sorted(k for k, _ in seen) == list(range(60)) and {missing for _, missing in seen} == {1}
    assert made.calibrated and not made.failed and made.names == ["mu"] and sum(made.verdicts.values()) == 60
    assert made.summary().index.tolist() == ["mu"]
    skewed = Calibration(["mu"], np.minimum(made.ranks * 2, made.draws), made.draws, {}, {})
    assert not skewed.calibrated and "NOT uniform" in repr(skewed)
    same = svmp.sbc(m, 60, progressbar=False, workers=1)
    np.testing.assert_array_equal(same.ranks, made.ranks)


def test_calibration_is_refused():
    with pytest.raises(ValueError, match="no values of stochastic nodes"):
        svmp.sbc(svmp.Model("model { mu ~ dnorm(0, 1)  y ~ dnorm(mu, 1) }"), 10)
    with pytest.raises(ValueError, match="simulations: expected"):
        svmp.sbc(svmp.Model("model { mu ~ dnorm(0, 1)  y ~ dnorm(mu, 1) }", {"y": 1.0}), 0)


@pytest.mark.parametrize("kind", ["auto", "density", "forest", "trace", "pairs", "predictive"])
def test_plots(fit, kind):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    figure = fit.plot(kind=kind)
    assert len(figure.axes) >= 1
    figure.canvas.draw()
    with pytest.raises(ValueError, match="kind: expected one of"):
        fit.plot(kind="pie")
    with pytest.raises(KeyError, match="v"):
        fit.plot("v")


def _normal(y, **options):
    return svmp.Model("model { for (i in 1:length(y)) { y[i] ~ dnorm(mu, 1) }  mu ~ dnorm(0, 1.0E-6) }", {"y": y}).sample(
        1000, 1000, progressbar=False, **options
    )


def test_loo_is_exact_where_that_is_known():
    """y[i] given the others is N(their mean, n/(n - 1)); an outlier is refitted."""
    y = np.array([0.3, -1.2, 0.8, 1.9, -0.4, 0.1, -0.9, 5.0])
    others, variance = (y.sum() - y) / 7, 8 / 7
    exact = -0.5 * (y - others) ** 2 / variance - 0.5 * np.log(2 * np.pi * variance)
    fit = _normal(y)
    made = fit.loo()
    np.testing.assert_allclose(made.pointwise[:-1], exact[:-1], atol=0.12)
    again = fit.loo(refit=True)
    if made.beyond:
        assert again.refitted == tuple(made.beyond) and not again.beyond
    np.testing.assert_allclose(again.pointwise, exact, atol=0.3)
    assert fit.criteria.loo == pytest.approx(-2 * made.elpd) and "elpd" in repr(made)


def test_compare_models():
    rng = np.random.default_rng(1)
    x = np.linspace(0, 1, 40)
    data = {"x": x, "y": 3 * x + rng.normal(0, 0.3, 40)}
    text = "model { for (i in 1:40) { y[i] ~ dnorm(a + b * x[i], tau) }  a ~ dnorm(0, 0.1)  b ~ dnorm(0, P)  tau ~ dgamma(1, 1) }"
    fits = {
        name: svmp.Model(text.replace("P", precision), data).sample(500, 500, progressbar=False)
        for name, precision in (("flat", "1.0E4"), ("line", "0.1"))
    }
    table = svmp.compare(fits)
    assert list(table.index) == ["line", "flat"] and table["difference"].iloc[0] == 0
    assert table["difference"].iloc[1] > 4 * table["difference_error"].iloc[1] > 0
    with pytest.raises(ValueError, match="different observations"):
        svmp.compare({"a": fits["line"], "b": _normal(np.zeros(3))})
    with pytest.raises(TypeError, match="expected fits by name"):
        svmp.compare([fits["line"]])
