"""Runs: the same bits as the command, starts, callbacks, interrupts, checkpoints, files."""

import io
import logging
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import svmp
from svmp import _judge, _library

from conftest import EFFECTS, NORMAL, ROOT, effects_data

quick = {"iterations": 30, "particles": 20, "progressbar": False}


def command() -> str:
    path = _library.find_command()
    if path is None:
        pytest.skip("the command svmp is not here")
    return path


@pytest.mark.parametrize(
    "files, options",
    [
        (["robust.bug", "robust.csv"], {"method": "graphical", "iterations": 40, "seed": 5}),
        (["schools.bug", "schools.R"], {"method": "nuts", "draws": 30, "warmup": 40, "chains": 2}),
        (["grid.mtx", "grid_b.mtx"], {"particles": 30, "iterations": 10}),
        (["schools.bug", "schools.R"], {"monitor": "theta", "iterations": 20, "init": "prior"}),
    ],
)
def test_the_same_bits_as_the_command(files, options, tmp_path):
    paths = [str(ROOT / "models" / name) for name in files]
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    done = subprocess.run([command(), "run", *paths, *words, "-q", "-o", tmp_path / "c.csv"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    theirs = svmp.load(tmp_path / "c.csv")
    ours = svmp.Model(paths[0], paths[1:]).fit(progressbar=False, **options)
    assert ours.names == theirs.names and ours.chains == theirs.chains
    np.testing.assert_array_equal(ours.values, theirs.values)
    np.testing.assert_array_equal(ours.statistics["lp__"], theirs.statistics["lp__"])
    assert ours.verdict.word == theirs.verdict.word


def test_threads_do_not_change_the_bits():
    data = effects_data()
    fits = [svmp.Model(EFFECTS, data, threads=threads).fit(**quick) for threads in (1, 2)]
    np.testing.assert_array_equal(fits[0].values, fits[1].values)


def test_moments_of_an_exact_posterior():
    """y ~ N(mu, 1), mu ~ N(0, 1): the posterior is N(sum y/(n + 1), 1/(n + 1))."""
    m = svmp.Model("model { for (i in 1:3) { y[i] ~ dnorm(mu, 1) }  mu ~ dnorm(0, 1) }", {"y": [1.0, 2.0, 3.0]})
    exact = m.exact(2000)
    assert exact.verdict.word == "exact"
    nuts = m.sample(1000, 500, progressbar=False)
    assert nuts.chains == 4 and nuts.draws == 1000 and nuts.verdict
    for fit, effective in ((exact, 2000), (nuts, 800)):
        assert abs(fit["mu"].mean() - 1.5) < 5 * 0.5 / np.sqrt(effective)
        assert abs(fit["mu"].std() - 0.5) < 5 * 0.5 / np.sqrt(2 * effective)
    assert nuts.compare(exact).agrees


def test_what_a_fit_says(normal):
    fit = normal.fit(particles=50, iterations=500, progressbar=False, monitor=["sigma", "mu"])
    assert list(fit) == ["mu", "tau", "sigma"] and fit.chains == 50 and 50 <= fit.draws <= 200 and len(fit.particles) == 50
    assert abs(fit.particles["mu"].mean() - fit["mu"].mean()) < 1e-6 * fit["mu"].std()  # both are matched to the same averages
    np.testing.assert_allclose(fit["sigma"], fit["tau"] ** -0.5, rtol=1e-14)
    assert fit.ksd["v"] >= 0 and set(fit.measured.nodes) == {"mu", "tau"}
    assert fit.outcome in ("completed", "converged") and fit.verdict.sentence in repr(fit)
    assert fit.settings["particles"] == "50" and fit.iterations > 0
    assert "lp__" in fit.statistics and "nothing" not in fit
    with pytest.raises(KeyError, match="nothing"):
        fit["nothing"]
    with pytest.raises(KeyError, match="monitor=.'sigma'"):
        normal.fit(**quick)["sigma"]
    with pytest.raises(ValueError):
        fit.values[0] = 0  # read-only
    html = fit._repr_html_()
    assert "svmp fit" in html and "sigma" in html


def test_elements_have_the_names_of_the_summary():
    text = "model { for (i in 1:2) { for (j in 1:3) { a[i,j] ~ dnorm(10 * i + j, 1) } } }"
    fit = svmp.Model(text).exact(5)
    for label in fit.summary().index:
        i, j = (int(part) for part in label[2:-1].split(","))
        np.testing.assert_array_equal(fit[label], fit["a"][:, i - 1, j - 1])
    np.testing.assert_array_equal(fit["a[2, 3]"], fit["a.2.3"])
    np.testing.assert_array_equal(dict(fit)["a"], dict(fit.items())["a"])
    for name in ("a[3,1]", "a[0,1]", "a[1]", "b[1]"):
        with pytest.raises(KeyError):
            fit[name]


def test_compare_ignores_what_only_one_fit_monitors(normal):
    fits = [normal.fit(monitor=monitor, **quick) for monitor in ((), "sigma")]
    for one, other in (fits, fits[::-1]):
        compared = one.compare(other)
        assert compared.largest_z == 0 and len(compared.rows) == 2
    with pytest.raises(ValueError, match="none of the variables"):
        fits[0].compare(svmp.field(np.eye(2)).exact(10))


def test_summary(normal):
    fit = normal.fit(**quick)
    table = fit.summary()
    np.testing.assert_allclose(table["mean"], fit.values.mean(axis=1))
    np.testing.assert_allclose(table["sd"], fit.values.std(axis=1, ddof=1))
    np.testing.assert_allclose(table["5%"], np.quantile(fit.values, 0.05, axis=1))
    assert list(fit.summary("tau").index) == ["tau"]
    with pytest.raises(KeyError, match="nu"):
        fit.summary(["nu"])
    draws = normal.sample(50, 50, 2, progressbar=False).summary()
    assert {"r_hat", "ess_bulk", "ess_tail", "mcse_mean"} <= set(draws.columns)


def test_summary_without_pandas(normal, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pandas", None)
    fit = normal.fit(**quick)
    table = fit.summary()
    assert isinstance(table, svmp.Table) and len(table) == 2 and "mu" in repr(table)
    assert "<table>" in fit._repr_html_()
    with pytest.raises(ImportError, match="pandas"):
        fit.to_dataframe()


def test_dataframe(effects):
    pytest.importorskip("pandas")
    frame = effects.sample(10, 20, 2, progressbar=False).to_dataframe()
    assert list(frame.columns[:3]) == ["chain", "draw", "alpha[1]"] and len(frame) == 20
    assert list(effects.fit(**quick).to_dataframe("alpha").columns) == [f"alpha[{k}]" for k in range(1, 6)]


# ---- starts -------------------------------------------------------------------------------------


def test_starts(effects, tmp_path):
    first = effects.fit(**quick)
    still = {"iterations": 0, "particles": 20, "progressbar": False, "method": "graphical"}
    near = {"rtol": 1e-12, "atol": 1e-12}
    np.testing.assert_allclose(effects.fit(init=first, **still).values, first.values, **near)
    np.testing.assert_allclose(effects.fit(init=first.values.T, **still).values, first.values, **near)
    first.save(tmp_path / "start.csv")
    np.testing.assert_allclose(effects.fit(init=tmp_path / "start.csv", **still).values, first.values, **near)
    np.testing.assert_allclose(effects.fit(init=str(tmp_path / "start.csv"), **still).values, first.values, **near)
    each = effects.fit(init={"alpha": first["alpha"], "tau": first["tau"]}, **still)
    np.testing.assert_allclose(each["alpha"], first["alpha"], **near)
    np.testing.assert_array_equal(each["beta"], effects.fit(**still)["beta"])


def test_a_common_start_is_spread_for_particles_and_kept_for_chains(effects):
    point = {"alpha": np.arange(1.0, 6.0), "mu": 3.0}
    spread = effects.fit("graphical", 20, iterations=0, init=point, progressbar=False)
    np.testing.assert_allclose(spread["alpha"].mean(axis=0), point["alpha"], atol=1e-9)
    assert spread["mu"].std() > 0.1
    x = np.linspace(0.5, 2, len(effects.names))
    spread = effects.fit("graphical", 20, iterations=0, init=x, progressbar=False)
    assert spread.values.std(axis=1).min() > 0.1
    chains = effects.fit("nuts", chains=2, warmup=0, draws=1, init=x, progressbar=False)
    assert chains.chains == 2


@pytest.mark.parametrize(
    "init, error, words",
    [
        ({"nu": 1.0}, ValueError, "'nu': the model has no unknown"),
        ({"alpha": np.ones(4)}, ValueError, r"'alpha': expected shape \(5,\)"),
        ({"mu": "high"}, TypeError, "'mu': not an array of numbers"),
        ({"mu": np.nan}, ValueError, "'mu': a value is not finite"),
        (np.ones((20, 3)), ValueError, r"expected shape \(particles, 8\)"),
        ("nowhere.csv", ValueError, "nowhere.csv"),
        (object(), TypeError, "object"),
    ],
)
def test_bad_starts_are_named(effects, init, error, words):
    with pytest.raises(error, match=words):
        effects.fit(init=init, **quick)


@pytest.mark.parametrize(
    "options, error, words",
    [
        ({"method": "magic"}, ValueError, "magic"),
        ({"particles": 0}, ValueError, "particles"),
        ({"particles": "many"}, ValueError, "many"),
        ({"particle": 10}, TypeError, "there is no argument 'particle'; did you mean 'particles'"),
        ({"random_seed": 1}, TypeError, "did you mean 'seed'"),
        ({"cores": 1}, TypeError, "threads is an argument of Model"),
        ({"verbose": True}, TypeError, r"no argument 'verbose'\. The arguments are method, .*callback, "),
        ({"method": "nuts", "tune": 5}, TypeError, "did you mean 'warmup'"),
        ({"warmup": 10}, ValueError, "The default method does not take warmup, which is for samplers"),
        ({"draws": 0}, ValueError, "draws"),
        ({"method": "graphical", "chains": 2}, ValueError, "'graphical' does not take chains"),
        ({"method": "nuts", "particles": 2}, ValueError, "'nuts' does not take particles; use chains"),
        ({"checkpoint": 3}, TypeError, "checkpoint: expected a path, not int"),
        ({"seed": 2**64}, ValueError, "seed"),
        ({"init": "priors"}, ValueError, "did you mean 'prior'"),
        ({"seed": -1}, ValueError, "seed"),
        ({"seed": True}, TypeError, "seed"),
        ({"kernel": [1]}, TypeError, "kernel"),
        ({"monitor": ["nu"]}, ValueError, "'nu'"),
        ({"monitor": [3]}, TypeError, "3"),
        ({"callback": 3}, TypeError, "callback"),
        ({"method": "graphical", "step": "huge"}, ValueError, "huge"),
        ({"backend": "abacus"}, ValueError, "abacus"),
        ({"method": "exact"}, NotImplementedError, "Gaussian"),
    ],
)
def test_bad_options_are_named(normal, options, error, words):
    with pytest.raises(error, match=words):
        normal.fit(progressbar=False, **options)


@pytest.mark.parametrize(
    "options, words",
    [({"warmup": 5}, "'tune'"), ({"iter_sampling": 5}, "'draws'"), ({"adapt_delta": 0.9}, "'target_accept'"), ({"method": "nuts"}, "no argument")],
)
def test_arguments_of_sample(normal, options, words):
    with pytest.raises(TypeError, match=words):
        normal.sample(progressbar=False, **options)


def test_extreme_options_that_are_fine(normal):
    assert len(normal.fit(particles=1, progressbar=False)) == 1
    assert "1 particle of" in repr(normal.fit("graphical", particles=1, iterations=1, progressbar=False))
    first, second = (normal.fit("graphical", seed=seed, **quick) for seed in (2**64 - 1, 0))
    assert not np.array_equal(first.values, second.values)


def test_one_start_for_each_chain(effects):
    starts = [{"mu": 0.0, "alpha": np.zeros(5)}, {"mu": 1.0, "alpha": np.ones(5)}]
    options = {"chains": 2, "draws": 1, "tune": 0, "progressbar": False}
    together = {name: np.stack([start[name] for start in starts]) for name in starts[0]}
    np.testing.assert_array_equal(effects.sample(init=starts, **options).values, effects.sample(init=together, **options).values)
    with pytest.raises(ValueError, match="3 dictionaries for 2 chains"):
        effects.sample(init=[{"mu": 0.0}] * 3, **options)
    with pytest.raises(ValueError, match="no unknown of that name"):
        effects.sample(init=[{"mu": 0.0}, {"nothing": 0.0}], **options)
    with pytest.raises(ValueError, match="same shapes"):
        effects.sample(init=[{"mu": 0.0}, {"mu": [0.0, 1.0]}], **options)


# ---- callbacks ----------------------------------------------------------------------------------


def test_callback_sees_and_stops(normal):
    seen = []
    fit = normal.fit("graphical", 10, iterations=50, progressbar=False, callback=lambda p: seen.append(p) or p.iteration == 7)
    assert [p.iteration for p in seen] == list(range(1, 8)) and seen[0].iterations == 50
    assert fit.outcome == "stopped" and fit.iterations == 7 and not fit.interrupted
    assert fit.verdict.sentence.startswith("Stopped after iteration 7 of 50.")


def test_exceptions_of_callbacks_come_back(normal):
    def fails(progress):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        normal.fit(callback=fails, **quick)
    assert normal.fit(**quick).iterations > 0  # the model is still usable


def test_a_callback_may_use_the_model_and_fit(normal):
    inner = []
    normal.fit("graphical", 10, iterations=2, progressbar=False, callback=lambda p: inner.append(normal.fit(**quick)) and False)
    np.testing.assert_array_equal(inner[0].values, inner[1].values)


def interrupt_after(seconds):
    timer = threading.Timer(seconds, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    return timer


def test_ctrl_c_gives_the_partial_fit(effects, caplog):
    handler = signal.getsignal(signal.SIGINT)
    started = []

    def watch(progress):
        if not started:
            started.append(interrupt_after(0.05))

    with caplog.at_level(logging.WARNING, "svmp"):
        fit = effects.fit("graphical", 20, iterations=10**7, progressbar=False, callback=watch)
    started[0].join()
    assert fit.outcome == "stopped" and fit.interrupted and 0 < fit.iterations < 10**7
    assert np.isfinite(fit.values).all() and fit.verdict.sentence.startswith("Stopped after")
    assert "interrupted after iteration" in caplog.text
    assert signal.getsignal(signal.SIGINT) is handler
    with pytest.raises(KeyboardInterrupt):
        timer = interrupt_after(0.01)
        time.sleep(5)
    timer.join()


def test_ctrl_c_without_a_callback(effects):
    timer = interrupt_after(0.3)
    fit = effects.sample(10**6, 10, 1, progressbar=False)
    timer.join()
    assert fit.interrupted and fit.chains == 1


def test_checkpoint(effects, tmp_path):
    path, options = tmp_path / "state", {"particles": 10, "progressbar": False, "method": "graphical"}
    whole = effects.fit(iterations=40, **options)
    effects.fit(iterations=40, checkpoint=path, callback=lambda p: p.iteration == 25, **options)
    again = effects.fit(iterations=40, resume=path, **options)
    np.testing.assert_array_equal(again.values, whole.values)
    with pytest.raises(ValueError, match="seed"):
        effects.fit(iterations=40, resume=path, seed=2, **options)
    with pytest.raises(OSError):
        effects.fit(iterations=4, checkpoint=tmp_path / "no" / "folder", **options)


def test_divergence_has_the_last_particles(normal):
    with pytest.raises(svmp.NotFiniteError) as caught:
        normal.fit("graphical", 10, iterations=1000, step="fixed:1e200", progressbar=False)
    fit = caught.value.fit
    assert fit is not None and fit.verdict.word == "diverged" and not fit.verdict


# ---- files --------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["csv", "nc"])
def test_save_and_load(effects, tmp_path, ending):
    fit = effects.sample(20, 20, 2, progressbar=False)
    path = tmp_path / f"fit.{ending}"
    try:
        fit.save(path)
    except svmp.UnsupportedError:
        pytest.skip("NetCDF is not in this build")
    with pytest.raises(svmp.Error, match="exists"):
        fit.save(path)
    fit.save(path, overwrite=True)
    for again in (svmp.load(path), svmp.load(path, effects)):
        np.testing.assert_array_equal(again.values, fit.values)
        np.testing.assert_array_equal(again.statistics["energy__"], fit.statistics["energy__"])
        assert again["alpha"].shape == (40, 5) and again.chains == 2
        assert again.method == "nuts" and again.verdict.word == fit.verdict.word
    other = svmp.Model("model { nu ~ dnorm(0, 1)  y ~ dnorm(nu, 1) }", {"y": 1.0})
    with pytest.raises(ValueError, match="has no 'nu'"):
        svmp.load(path, other)
    with pytest.raises(FileNotFoundError):
        svmp.load(tmp_path / "nothing.csv")


def test_pickle(effects):
    fit = effects.fit(**quick)
    again = pickle.loads(pickle.dumps(fit))
    np.testing.assert_array_equal(again.values, fit.values)
    assert again.verdict == fit.verdict and again["alpha"].shape == (20, 5)


def test_series(effects):
    iteration, phi = effects.fit("graphical", **quick).series["largest_phi"]
    assert len(iteration) == len(phi) == 30


def test_report(effects, tmp_path):
    command()
    fit = effects.fit(**quick)
    try:
        report = fit.report(tmp_path / "r.html")
    except svmp.Error as error:
        if "D3" in str(error):
            pytest.skip("D3 is not in this build")
        raise
    assert report.html.startswith("<!") and (tmp_path / "r.html").read_text() == report.html
    assert "alpha" in report.html and "dnorm" in report.html and "<iframe" in report._repr_html_()


def test_messages_go_to_logging(caplog):
    with caplog.at_level(logging.DEBUG, "svmp"):
        fit = svmp.Model(NORMAL, {"y": [1.0]}).fit("graphical", 20, iterations=1, init={"mu": 50.0}, progressbar=False)
        verdict = fit.verify()
    assert not fit.verdict and not verdict and verdict.sentence in caplog.text


def test_no_library_for_gpus(normal, monkeypatch):
    monkeypatch.setenv("SVMP_CUDA", "/nowhere/svmp_cuda.so")
    with pytest.raises(svmp.UnsupportedError, match=r"SVMP_CUDA names '/nowhere/svmp_cuda.so', which cannot be loaded \("):
        normal.fit("graphical", 10, iterations=2, backend="cuda", progressbar=False)


def test_the_backend_of_a_checkpoint(normal, tmp_path):
    path = tmp_path / "run.svmp"
    plain = normal.fit("graphical", 10, iterations=4, progressbar=False)
    normal.fit("graphical", 10, iterations=2, backend="auto", checkpoint=path, progressbar=False)
    for backend in ("cpu", "auto"):
        fit = normal.fit("graphical", 10, iterations=4, backend=backend, resume=path, progressbar=False)
        assert np.array_equal(fit["mu"], plain["mu"])
    with pytest.raises(svmp.InputError, match=r"is a checkpoint, not a file of particles\. Continue from it \(resume="):
        normal.fit("graphical", 10, iterations=4, init=path, progressbar=False)
    with pytest.raises(svmp.InputError, match=r"Continue with backend='cpu', or .* \(init=FILE\)\. Write .* \(fit\.save\(FILE\)\)\."):
        normal.fit("graphical", 10, iterations=4, backend="cuda", resume=path, progressbar=False)


@pytest.mark.parametrize("method, reason", [("nuts", "the method 'nuts' gains nothing on a GPU"), ("graphical", "the run is small for a GPU")])
def test_the_choice_of_auto_goes_to_logging(normal, caplog, method, reason):
    with caplog.at_level(logging.INFO, "svmp"):
        fit = normal.fit(method, iterations=None if method == "nuts" else 2, backend="auto", progressbar=False)
    assert f"The backend is '{fit.settings['backend']}': {reason}." in [record.message for record in caplog.records]


def test_a_bad_verdict_is_seen():
    """Without any logging configuration, a warning goes to the standard error."""
    script = (
        "import svmp\n"
        "m = svmp.Model('model { y ~ dnorm(mu, 1)  mu ~ dnorm(0, 1) }', {'y': 1.0})\n"
        "m.fit('graphical', 20, iterations=1, init={'mu': 50.0}, progressbar=False)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(svmp.__file__))}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr.startswith("Failed: the particles change under exact moves") and done.stdout == ""


def test_verify(normal):
    draws = normal.sample(500, 500, progressbar=False)
    assert draws.verdict and draws.verify()


def test_posterior_predictive(tmp_path):
    """y ~ N(mu, 1), mu ~ N(1.5, 1/4) a posteriori: a replicate is N(1.5, 5/4). The run itself has the same bits."""
    m = svmp.Model("model { for (i in 1:3) { y[i] ~ dnorm(mu, 1) # data\n }  mu ~ dnorm(0, 1) }", {"y": [1.0, 2.0, 3.0]})
    with_draws, later = (m.sample(500, 500, progressbar=False, posterior_predictive=requested) for requested in (True, None))
    np.testing.assert_array_equal(with_draws["mu"], later["mu"])
    for fit in (with_draws, later):  # drawn with the run and after it
        replicates = fit.posterior_predictive()["y"]
        assert replicates.shape == (2000, 3) and list(fit) == ["mu"]
        np.testing.assert_allclose(replicates.mean(axis=0), 1.5, atol=5 * np.sqrt(1.25 / 500))
        np.testing.assert_allclose(replicates.var(axis=0), 1.25, rtol=5 * np.sqrt(2 / 1000))
    assert with_draws.compare(later).agrees
    with_draws.save(tmp_path / "fit.csv")
    again = svmp.load(tmp_path / "fit.csv", m)
    np.testing.assert_array_equal(again.posterior_predictive()["y"], with_draws.posterior_predictive()["y"])
    assert list(again) == ["mu"]


def test_log_likelihood_after_the_run(effects, tmp_path):
    """The same numbers as with the run, up to the rounding of transforms; also from a file."""
    with_run, later = (effects.fit(log_likelihood=requested, **quick) for requested in (True, None))
    assert with_run.log_likelihood.shape == (20, 60)
    np.testing.assert_allclose(later.log_likelihood, with_run.log_likelihood, rtol=1e-12)
    later.save(tmp_path / "fit.csv")
    np.testing.assert_allclose(svmp.load(tmp_path / "fit.csv", effects).log_likelihood, later.log_likelihood, rtol=1e-12)
    assert svmp.load(tmp_path / "fit.csv").log_likelihood is None


def test_criteria_are_those_of_their_definitions(effects, tmp_path):
    fit = effects.fit(log_likelihood=True, **quick)
    each, found = fit.log_likelihood, fit.criteria
    fits, spreads = np.log(np.exp(each).mean(axis=0)), each.var(axis=0, ddof=1)
    deviance = -2 * each.sum(axis=1)
    assert found.observations == 60
    assert found.waic == pytest.approx(-2 * (fits - spreads).sum())
    assert found.waic_error == pytest.approx(np.sqrt(60 * np.var(-2 * (fits - spreads), ddof=1)))
    assert found.waic_parameters == pytest.approx(spreads.sum())
    assert found.deviance == pytest.approx(deviance.mean())
    assert found.dic == pytest.approx(deviance.mean() + deviance.var(ddof=1) / 2)
    assert found.dic_parameters == pytest.approx(deviance.var(ddof=1) / 2)
    assert found.dic_error > 0
    assert svmp.field(np.eye(2)).exact(5).criteria is None


def test_groups_that_nobody_asked_for(effects, monkeypatch):
    fit, never = (effects.fit(log_likelihood=requested, posterior_predictive=requested, **quick) for requested in (None, False))
    assert set(fit.extra_groups()) == {"log_likelihood", "posterior_predictive"} and never.extra_groups() == {}
    monkeypatch.setattr("svmp.fit._LARGE_GROUP", 60 * 20 - 1)
    assert fit.extra_groups() == {}
    graph = svmp.field(np.eye(2)).exact(5)
    assert graph.extra_groups() == {} and graph.log_likelihood is None and graph.posterior_predictive() == {}


def test_files_have_the_words_of_the_command(normal, tmp_path):
    good, bad = normal.fit(progressbar=False), normal.fit("graphical", 20, iterations=1, init={"mu": 50.0}, progressbar=False)
    for name, fit, word in (("good", good, "passed"), ("bad", bad, "failed")):
        fit.save(tmp_path / f"{name}.csv")
        assert f"# verdict = {word}\n" in (tmp_path / f"{name}.csv").read_text()
        again = svmp.load(tmp_path / f"{name}.csv")
        assert (again.verdict.word, again.verdict.sentence) == (fit.verdict.word, fit.verdict.sentence)


def test_progress_on_a_terminal(normal, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    normal.fit("graphical", 20, iterations=30)
    last = terminal.getvalue().rstrip("\n").split("\r")[-1]
    assert last.startswith(f"graphical [{'#' * 30}] 30/30, completed, ") and terminal.getvalue().endswith("s\n")


def test_progress_in_a_notebook(normal, monkeypatch, capsys):
    shown = []

    class Output:
        update = staticmethod(shown.append)

    def display(state, display_id):
        shown.append(state)
        return Output()

    monkeypatch.setattr("svmp._bar._notebook", lambda: display)
    normal.fit("graphical", 20, iterations=30, callback=lambda progress: progress.iteration == 15)
    assert repr(shown[-1]).startswith("graphical 15/30, stopped, ") and '<progress value="0.500"' in shown[-1]._repr_html_()
    count = len(shown)
    normal.fit("graphical", 20, iterations=30, progressbar=False)
    assert len(shown) == count and capsys.readouterr() == ("", "")


def test_values_that_the_model_does_not_allow(effects):
    x = np.ones(len(effects.names))
    x[effects.names.index("tau")] = -1
    each = np.tile(x, (20, 1))
    for init in ({"tau": -1.0}, x, each):
        with pytest.raises(ValueError, match="'tau' is -1 in particle 1, outside its support"):
            effects.fit(init=init, **quick)
    with pytest.raises(ValueError, match="'tau' is -1"):
        effects.unconstrain({**effects.constrain(np.zeros(effects.dimension)), "tau": -1})
    simplex = svmp.Model("model { y ~ dcat(p)  p ~ ddirch(a) }", {"y": 1, "a": [1, 1, 1]})
    with pytest.raises(ValueError, match="'p' does not sum to 1"):
        simplex.unconstrain({"p": [0.5, 0.5, 0.5]})


def test_bad_arguments(effects, tmp_path):
    fit = effects.fit(**quick)
    fit.save(tmp_path / "fit.csv")
    other = svmp.Model("model { y ~ dnorm(mu, 1)  mu ~ dnorm(0, 1) }", {"y": 1.0})
    for call, error, words in [
        (lambda: effects.fit(monitor=3, **quick), TypeError, "monitor: 3"),
        (lambda: fit.compare(3), TypeError, "compare: .* not int"),
        (lambda: fit.verify(seconds=-1), ValueError, "seconds: .*-1"),
        (lambda: fit.verify(moves="a"), ValueError, "moves: .*'a'"),
        (lambda: svmp.load(tmp_path / "fit.csv", other), ValueError, "'alpha', which the model does not have"),
        (lambda: svmp.Model(""), ValueError, "the model text is empty"),
        (lambda: svmp.field("a"), TypeError, "'x': the precision is not an array"),
    ]:
        with pytest.raises(error, match=words):
            call()


def test_ctrl_c_ends_an_examination(effects, monkeypatch):
    class Pressed(_judge.Interrupts):
        def __enter__(self):
            super().__enter__()
            os.kill(os.getpid(), signal.SIGINT)
            return self

    fit = effects.fit(**quick)
    monkeypatch.setattr(_judge, "Interrupts", Pressed)
    verdict = fit.verify()
    assert verdict.evidence["moves"] <= 1 and not verdict  # what the run had against it stays


def test_a_library_that_cannot_be_loaded(tmp_path):
    bad = tmp_path / "libsvmp.so"
    bad.write_text("not a library")
    environment = {**os.environ, "SVMP_LIBRARY": str(bad), "PYTHONPATH": os.path.dirname(os.path.dirname(svmp.__file__))}
    done = subprocess.run([sys.executable, "-c", "import svmp"], env=environment, capture_output=True, text=True)
    assert done.stderr.splitlines()[-1].startswith(f"ImportError: {bad} cannot be loaded: ") and "pip install ." in done.stderr
