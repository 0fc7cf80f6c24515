"""examples/python/twelve_tasks.ipynb runs from top to bottom, and says what it should."""

import json

import pytest

from conftest import ROOT


def test_twelve_tasks(tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    pytest.importorskip("arviz")
    pytest.importorskip("matplotlib").use("Agg")
    notebook = json.loads((ROOT / "examples" / "python" / "twelve_tasks.ipynb").read_text())
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "notebook"}
    for k, cell in enumerate(notebook["cells"]):
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), f"cell {k}", "exec"), names)
    headings = [text for cell in notebook["cells"] if cell["cell_type"] == "markdown" for text in cell["source"] if text.startswith("## ")]
    assert [int(text.split()[1].rstrip(".")) for text in headings] == list(range(1, 13))
    fit = names["fit"]
    for name, true in (("b.age", 0.08), ("sigma", 0.7), ("b.sex[m]", 0.6)):
        assert abs(fit[name].mean() - true) < 4 * fit[name].std()
    assert names["predicted"]["score"][:, 2].std() > names["predicted"]["score"][:, 0].std()  # an unknown hospital
    assert list(names["comparison"].index) == ["with age", "without age"]
    assert names["calibration"].calibrated
    assert names["own"].verdict and abs(names["own"]["rate"].mean() - 1) < 0.1
    assert (tmp_path / "report.html").stat().st_size > 100_000
    assert (names["longer"]["a"] == names["model"].sample(400, tune=300, progressbar=False)["a"]).all()
