"""ArviZ reads the data of a fit."""

import numpy as np
import pytest

az = pytest.importorskip("arviz")

import svmp  # noqa: E402

from conftest import EFFECTS, effects_data  # noqa: E402


@pytest.fixture(scope="module")
def draws():
    return svmp.Model(EFFECTS, effects_data()).sample(200, 200, progressbar=False)


def test_groups(draws):
    idata = draws.idata
    posterior = idata["posterior"]
    assert posterior["alpha"].shape == (4, 200, 5) and posterior["alpha"].dims == ("chain", "draw", "alpha_dim_0")
    assert posterior["alpha_dim_0"].values.tolist() == [1, 2, 3, 4, 5]
    np.testing.assert_array_equal(np.asarray(posterior["mu"]).ravel(), draws["mu"])
    assert np.asarray(idata["sample_stats"]["diverging"]).dtype == bool and "energy" in idata["sample_stats"]
    np.testing.assert_array_equal(np.asarray(idata["observed_data"]["y"]), draws.observed["y"])


def test_summary_is_that_of_arviz(draws):
    theirs, ours = az.summary(draws.idata, round_to="none"), draws.summary()
    theirs = theirs.loc[ours.index]
    np.testing.assert_allclose(ours["mean"], theirs["mean"].astype(float), rtol=1e-9)
    np.testing.assert_allclose(ours["r_hat"], theirs["r_hat"].astype(float), rtol=1e-6)
    np.testing.assert_allclose(ours["ess_bulk"], theirs["ess_bulk"].astype(float), rtol=1e-6)


def test_particles():
    fit = svmp.Model(EFFECTS, effects_data()).fit(progressbar=False, iterations=50)
    assert fit.idata["posterior"]["alpha"].shape == (1, 100, 5)
    assert len(az.summary(fit.idata)) == 8


def test_plots(draws):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    pytest.importorskip("matplotlib.pyplot")
    names = ["plot_trace", "plot_trace_dist", "plot_forest", "plot_rank", "plot_energy", "plot_ppc", "plot_ppc_dist", "plot_loo_pit"]
    for name in (name for name in names if hasattr(az, name)):
        options = {} if name in ("plot_energy", "plot_ppc", "plot_ppc_dist", "plot_loo_pit") else {"var_names": ["mu", "beta"]}
        options.update({"y": "y"} if name == "plot_loo_pit" and az.__version__ < "1" else {})
        assert getattr(az, name)(draws.idata, **options) is not None
    matplotlib.pyplot.close("all")


def test_files(draws, tmp_path):
    pytest.importorskip("h5netcdf")
    pytest.importorskip("h5py")
    draws.idata.to_netcdf(tmp_path / "fit.nc")
    again = svmp.load(tmp_path / "fit.nc")
    np.testing.assert_array_equal(again["alpha"], draws["alpha"])


def test_files_of_the_library(draws, tmp_path):
    xarray, _ = pytest.importorskip("xarray"), pytest.importorskip("h5py")
    try:
        draws.save(tmp_path / "fit.nc")
    except svmp.UnsupportedError:
        pytest.skip("NetCDF is not in this build")
    for group in ("posterior", "sample_stats", "observed_data"):
        theirs = xarray.open_dataset(tmp_path / "fit.nc", group=group, engine="h5netcdf")
        ours = draws.idata[group]
        assert set(ours.data_vars) <= set(theirs.data_vars)
        for name in ours.data_vars:
            np.testing.assert_array_equal(theirs[name].values, ours[name].values)
            assert theirs[name].dims == ours[name].dims


def test_loo():
    """elpd of leave-one-out, from the log likelihood computed by scipy."""
    try:
        fit = svmp.Model(EFFECTS, effects_data()).sample(200, 200, progressbar=False, log_likelihood=True)
    except svmp.InputError:
        pytest.skip("the library does not compute log_lik")
    data = effects_data()
    mean = fit["alpha"][:, data["group"] - 1] + fit["beta"][:, None] * data["x"]
    expected = 0.5 * np.log(4 / (2 * np.pi)) - 2 * (data["y"] - mean) ** 2
    np.testing.assert_allclose(fit.log_likelihood, expected, atol=1e-9)
    assert "log_lik" not in list(fit) and fit.idata["log_likelihood"]["y"].shape == (4, 200, 60)
    found = az.loo(fit.idata)
    assert np.isfinite(float(found.elpd if hasattr(found, "elpd") else found.elpd_loo))


def test_posterior_predictive():
    fit = svmp.Model(EFFECTS, effects_data()).fit(progressbar=False, posterior_predictive=True)
    assert fit.idata["posterior_predictive"]["y"].shape == (100, 10, 60)
    assert fit.idata["posterior_predictive"]["y"].dims == ("chain", "draw", "y_dim_0")
