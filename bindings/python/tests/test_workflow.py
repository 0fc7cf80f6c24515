"""What users of PyMC and ArviZ expect: dims and coords, tables, new data, longer runs, discrete nodes, supports."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

import svmp

LINE = "model { for (i in 1:length(y)) { y[i] ~ dnorm(a + inprod(X[i,], beta[]) + u[g[i]], 1) } \
for (k in 1:2) { beta[k] ~ dnorm(0, 1) }  for (j in 1:3) { u[j] ~ dnorm(0, 1) }  a ~ dnorm(0, 1) }"
MIXTURE = "model { for (i in 1:N) { z[i] ~ dcat(p[]); y[i] ~ dnorm(mu[z[i]], 1) }  mu[1] ~ dnorm(-4, 1)  mu[2] ~ dnorm(4, 1)  p[1] <- 0.4  p[2] <- 0.6 }"


@pytest.fixture
def table():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    made = pandas.DataFrame({"age": rng.normal(size=30), "dose": rng.normal(size=30), "g": np.repeat([1, 2, 3], 10)})
    made["sex"] = "f"
    made["y"] = made.age - made.dose + rng.normal(size=30)
    return made


def line(table, **options):
    return svmp.Model(LINE, [table, {"X": ["age", "dose"]}], **options)


def test_matrix_of_columns(table):
    by_hand = svmp.Model(LINE, {"X": table[["age", "dose"]].to_numpy(), "g": table.g, "y": table.y})
    assert np.array_equal(line(table).fit(progressbar=False).values, by_hand.fit(progressbar=False).values)
    with pytest.raises(ValueError, match="no column 'dos'; did you mean 'dose'"):
        svmp.Model(LINE, [table, {"X": ["age", "dos"]}])
    with pytest.raises(TypeError, match="column 'sex' is text"):
        svmp.Model(LINE, [table, {"X": ["age", "sex"]}])


def test_dims_and_coords(table):
    made = line(table, dims={"beta": ["column"], "u": "hospital", "y": ["patient"]}, coords={"column": ["age", "dose"], "hospital": ["A", "B", "C"]})
    fit = pickle.loads(pickle.dumps(made)).fit(progressbar=False)
    assert list(fit.summary().index) == ["a", "beta[age]", "beta[dose]", "u[A]", "u[B]", "u[C]"]
    assert np.array_equal(fit["u[B]"], fit["u"][:, 1])
    with pytest.raises(ValueError, match="2 names for an array"):
        line(table, dims={"beta": ["a", "b"]})
    with pytest.raises(ValueError, match="no such array"):
        line(table, dims={"bet": ["a"]})
    with pytest.raises(ValueError, match="2 labels, but 'u' has 3 elements"):
        line(table, dims={"u": ["h"]}, coords={"h": ["A", "B"]})
    pytest.importorskip("arviz")
    assert list(fit.idata.posterior["u"].coords["hospital"].values) == ["A", "B", "C"]
    assert fit.idata.observed_data["y"].dims == ("patient",)


def test_predict_without_responses(table):
    fit = line(table).fit(progressbar=False)
    new = table.drop(columns="y").iloc[:4]
    made = fit.predict(new)
    assert made["y"].shape == (len(fit), 4)
    mean = fit["a"] + fit["beta"] @ new[["age", "dose"]].to_numpy().T[:, 0] + fit["u"][:, 0]
    assert abs(made["y"][:, 0].mean() - mean.mean()) < 5 * made["y"][:, 0].std() / np.sqrt(len(fit))


def test_case_of_names(table):
    with pytest.raises(svmp.ModelError, match="'G' is not defined; did you mean 'g'"):
        svmp.Model(LINE.replace("g[i]", "G[i]"), [table, {"X": ["age", "dose"]}])
    with pytest.raises(svmp.ModelError) as caught:
        svmp.Model("model { y ~ dnorm(a * first + second, 1)  a ~ dnorm(0, 1) }", {"y": 1.0})
    assert ["'first'" in m or "'second'" in m for m in caught.value.messages] == [True, True]


def test_discrete_nodes_are_monitored():
    made = svmp.Model(MIXTURE, {"N": 4, "y": [-4.0, -5.0, 4.0, 5.0]})
    fit = made.fit(monitor=["z"], progressbar=False)
    assert (fit["z"].mean(axis=0).round() == [1, 1, 2, 2]).all()
    with pytest.raises(KeyError, match="monitor=.'z'."):
        made.fit(progressbar=False)["z"]


@pytest.mark.parametrize("method, sizes", [("nuts", {"draws": [50, 120]}), ("graphical", {"iterations": [60, 150]})])
def test_extension_has_the_bits_of_one_run(method, sizes):
    made = svmp.Model("model { for (i in 1:3) { y[i] ~ dnorm(mu, tau) }  mu ~ dnorm(0, 1)  tau ~ dgamma(2, 2)  e <- exp(mu) }", {"y": [1.0, 2.0, 3.0]})
    name, (few, many) = next(iter(sizes.items()))
    short = made.fit(method, progressbar=False, extendable=True, **{name: few})
    whole = made.fit(method, progressbar=False, **{name: many})
    longer = short.extend(progressbar=False, **{name: many})
    assert np.array_equal(longer.values, whole.values)
    assert np.allclose(short.extend(progressbar=False, monitor="e", **{name: many})["e"], np.exp(whole["mu"]), rtol=1e-14)
    with pytest.raises(TypeError, match="extendable=True"):
        whole.extend(draws=10)


def test_partial_starts():
    made = svmp.Model("model { for (j in 1:3) { u[j] ~ dnorm(mu, 1)  y[j] ~ dnorm(u[j], 1) }  mu ~ dnorm(0, 1) }", {"y": [1.0, 2.0, 3.0]})
    options = {"chains": 2, "draws": 1, "tune": 0, "progressbar": False}
    plain = made.sample(**options)
    one = made.sample(init=[{"mu": 0.5}, {"u": [np.nan, 0.25, np.nan]}], **options)
    again = made.sample(init={"mu": [0.5, np.nan], "u": [[np.nan] * 3, [np.nan, 0.25, np.nan]]}, **options)
    assert np.array_equal(one.values, again.values) and not np.array_equal(one.values, plain.values)


def test_zero_times_infinity():
    made = svmp.Model("model { for (i in 1:2) { r[i] ~ dpois(m)  d[i] <- r[i] * (log(r[i]) - log(m)) }  m ~ dgamma(1, 1) }", {"r": [0.0, 2.0]})
    fit = made.fit(monitor="d", progressbar=False)
    assert (fit["d"][:, 0] == 0).all() and np.allclose(fit["d"][:, 1], 2 * np.log(2 / fit["m"]))
    assert np.isnan(made.fit(progressbar=False).derive("x <- r[1] * sqrt(-1)")["x"]).all()  # NaN stays


def test_scalars_come_first():
    made = svmp.Model("model { for (j in 1:3) { u[j] ~ dnorm(mu, 1) }  mu ~ dnorm(0, 1)  y ~ dnorm(u[1], 1) }", {"y": 1.0})
    assert list(made.fit(progressbar=False).summary().index) == ["mu", "u[1]", "u[2]", "u[3]"]


def test_report_of_labels(table):
    table["who"] = table.g.map({1: "b", 2: "a", 3: "c"})
    fit = svmp.Model("model { for (i in 1:length(y)) { y[i] ~ dnorm(u[who[i]], 1) }  for (j in 1:max(who)) { u[j] ~ dnorm(0, 1) } }", table).fit(progressbar=False)
    assert "<html" in fit.report().html


def ordered(x):
    return -0.5 * (x * x).sum(axis=1), -x


@pytest.mark.parametrize("support, dimension", [("positive", 2), ("ordered", 3), ("simplex", 4), ("correlation", 3)])
def test_jacobian_of_supports(support, dimension):
    """log p of the variables is log p of the values plus log |dx/du|, with the determinant by differences."""
    g = svmp.Graph()
    g.node("x", dimension, support=support)
    weight = np.random.default_rng(3).normal(size=(dimension, dimension) if support == "correlation" else dimension)
    g.factor("x", lambda x: ((x * weight).reshape(len(x), -1).sum(axis=1), np.broadcast_to(weight, x.shape)))
    made = g.model()
    assert made.check_gradient()["error"] < 1e-6
    at = np.random.default_rng(4).normal(size=made.dimension)
    values = made.constrain(at)
    assert np.allclose(made.unconstrain(values), at)

    def free(u):
        x = made.constrain(u)["x"]
        return x[np.tril_indices(dimension, -1)] if support == "correlation" else x[: made.dimension]

    step = 1e-6
    slopes = [(free(at + step * e) - free(at - step * e)) / (2 * step) for e in np.eye(made.dimension)]
    expected = (values["x"] * weight).sum() + np.log(abs(np.linalg.det(slopes)))
    assert abs(made.log_prob(at) - expected) < 1e-6
    with pytest.raises(ValueError, match="outside its support"):
        made.unconstrain({"x": -np.ones_like(values["x"])})


@pytest.mark.parametrize("method", ["transport", "nuts", "graphical", "mala"])
def test_supports_with_methods(method):
    g = svmp.Graph()
    g.node("p", 3, support="simplex")
    g.factor("p", lambda p: ((np.log(p) * [1, 2, 3]).sum(axis=1), np.array([1, 2, 3]) / p))  # Dirichlet(2, 3, 4)
    fit = g.fit(method, progressbar=False)
    assert np.allclose(fit["p"].mean(axis=0), np.array([2, 3, 4]) / 9, atol=0.05)
    assert np.allclose(fit["p"].sum(axis=1), 1)


def test_support_of_file_and_start(tmp_path):
    g = svmp.Graph()
    g.node("t", lower=-1, upper=2)
    g.gaussian("t", 1.0, mean=0.5)
    fit = g.fit(progressbar=False, init={"t": 0.0})
    fit.save(tmp_path / "t.csv")
    again = svmp.load(tmp_path / "t.csv", g.model())
    assert np.array_equal(again["t"], fit["t"]) and again.verify()
    for bad in ({"support": "box"}, {"support": "positive", "lower": 0}, {"support": "simplex"}):
        with pytest.raises(ValueError):
            g.node("bad", **bad)
    with pytest.raises(svmp.InputError, match="no room"):
        g.node("none", lower=2, upper=1)
        g.model()


def test_pickle_with_jax():
    pytest.importorskip("jax")
    g = svmp.Graph()
    g.node("x", 2)
    g.factor("x", in_jax, autodiff="jax")
    made = g.model()
    again = pickle.loads(pickle.dumps(made))
    assert np.array_equal(made.fit(progressbar=False)["x"], again.fit(progressbar=False)["x"])


def in_jax(x):
    return -0.5 * (x * x).sum()


def test_pickle_with_torch():
    pytest.importorskip("torch")
    g = svmp.Graph()
    g.node("x", 2)
    g.factor("x", in_torch, autodiff="torch")
    made = g.model()
    assert np.array_equal(made.fit(progressbar=False)["x"], pickle.loads(pickle.dumps(made)).fit(progressbar=False)["x"])


def in_torch(x):
    return -0.5 * (x * x).sum(dim=1)


def test_types_of_arguments(tmp_path):
    """mypy finds arguments that fit() does not have."""
    pytest.importorskip("mypy")
    (tmp_path / "user.py").write_text('import svmp\nm = svmp.Model("m.bug")\nm.fit(particles=50)\nm.fit(particle=50)\nsvmp.Graph().sample(random_seed=1)\n')
    folder = svmp.__file__.rsplit("/", 2)[0]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path), "user.py"],
        cwd=tmp_path, env={"MYPYPATH": folder, "PATH": ""}, capture_output=True, text=True, check=False,
    )
    found = [text for text in done.stdout.splitlines() if text.startswith("user.py")]
    assert [text.split(":")[1] for text in found] == ["4", "5"], done.stdout


def test_public_functions_have_examples():
    """pytest --doctest-modules runs them."""
    shown = {"plot", "report", "save", "best", "rows", "to_html", "build", "groups", "extra_groups", "keys", "items", "to_dataframe", "summary"}
    lacking = []
    for name in svmp.__all__:
        thing = getattr(svmp, name)
        functions = {name: thing} if callable(thing) and not isinstance(thing, type) else {}
        if isinstance(thing, type) and not issubclass(thing, BaseException):
            functions = {f"{name}.{k}": v for k, v in vars(thing).items() if callable(v) and not k.startswith("_") and k not in shown}
        lacking += [f for f, function in functions.items() if ">>>" not in (function.__doc__ or "")]
    assert lacking == []


def brute_force(mu, y, without=None):
    """log p(y | mu) of a chain of two hidden states, by all their paths; one observation may be left out."""
    from itertools import product

    start, step = [0.6, 0.4], [[0.8, 0.2], [0.3, 0.7]]
    paths = []
    for z in product([0, 1], repeat=len(y)):
        path = np.log(start[z[0]]) + sum(np.log(step[a][b]) for a, b in zip(z, z[1:]))
        path += sum(-0.5 * (y[i] - mu[z[i]]) ** 2 - 0.5 * np.log(2 * np.pi) for i in range(len(y)) if i != without)
        paths.append(path)
    return np.logaddexp.reduce(paths)


def test_log_likelihood_sums_hidden_states():
    """log_lik is log p(y_i | the others, mu) with all states summed out, which leave-one-out weights need."""
    text = "model { z[1] ~ dcat(p[])  for (i in 2:4) { z[i] ~ dcat(P[z[i-1],]) }  for (i in 1:4) { y[i] ~ dnorm(mu[z[i]], 1) } \
for (k in 1:2) { mu[k] ~ dnorm(2 * k - 3, 1) } }"
    y = [-1.0, 0.2, 1.5, 0.3]
    made = svmp.Model(text, {"y": y, "p": [0.6, 0.4], "P": [[0.8, 0.2], [0.3, 0.7]]})
    fit = made.fit(progressbar=False, monitor=["deviance"])
    for l in range(5):
        whole = brute_force(fit["mu"][l], y)
        expected = [whole - brute_force(fit["mu"][l], y, i) for i in range(4)]
        assert np.allclose(fit.log_likelihood[l], expected, atol=1e-12)
        assert abs(fit["deviance"][l] + 2 * whole) < 1e-12


def test_loo_of_a_mixture():
    rng = np.random.default_rng(2)
    y = np.concatenate([rng.normal(-4, 1, 20), rng.normal(4, 1, 30)])
    fit = svmp.Model(MIXTURE, {"N": 50, "y": y}).fit(progressbar=False)
    density = np.logaddexp(*(np.log(p) - 0.5 * (y - fit["mu"][:, [k]]) ** 2 - 0.5 * np.log(2 * np.pi) for k, p in enumerate((0.4, 0.6))))
    assert np.allclose(fit.log_likelihood, density, atol=1e-12)
    assert fit.loo().beyond == []
