"""Stein variational message passing: inference in continuous graphical models.

>>> import svmp
>>> m = svmp.Model("model { y ~ dnorm(mu, 1)  mu ~ dnorm(0, 1) }", {"y": 1.0})
>>> m.fit(progressbar=False)["mu"].shape
(4000,)
"""

from . import errors
from ._library import version as __version__
from ._run import Progress
from .errors import (
    CallbackError,
    DeviceError,
    Error,
    FileError,
    InputError,
    ModelError,
    NotFiniteError,
    OutOfMemoryError,
    UnsupportedError,
)
from .calibration import Calibration, sbc
from .distances import localise
from .fit import Comparison, Criteria, Fit, load
from .graph import Graph, field
from .loo import Loo, compare
from .model import Model
from .predictions import Predictions
from .report import Report
from .table import Table
from .verdict import Verdict

__all__ = [
    "Calibration",
    "CallbackError",
    "Comparison",
    "Criteria",
    "DeviceError",
    "Error",
    "FileError",
    "Fit",
    "Graph",
    "InputError",
    "Loo",
    "Model",
    "ModelError",
    "NotFiniteError",
    "OutOfMemoryError",
    "Predictions",
    "Progress",
    "Report",
    "Table",
    "UnsupportedError",
    "Verdict",
    "__version__",
    "compare",
    "errors",
    "field",
    "load",
    "localise",
    "sbc",
]
