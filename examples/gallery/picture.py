"""What the scripts of the gallery share: where data are, and a style of pictures."""

import sys
from pathlib import Path

MODELS = Path(__file__).resolve().parents[2] / "models"
HERE = Path(__file__).resolve().parent
BLUE, RED, GREY = "#1f3b63", "#d1495b", "#9aa7b8"


def axes(columns=1, **size):
    """A figure with so many axes, if the script was given a file to draw; else None. Needs matplotlib."""
    if len(sys.argv) < 2:
        return None
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "svmp", "axes.spines.top": False, "axes.spines.right": False,
                                "font.size": 9, "legend.frameon": False, "svg.fonttype": "none"})
    import matplotlib.pyplot as plt

    return plt.subplots(1, columns, figsize=(size.get("width", 7), size.get("height", 3.2)), layout="constrained")


def save(figure):
    figure.savefig(sys.argv[1], metadata={"Date": None})
