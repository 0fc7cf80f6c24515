"""Stein variational message passing: inference in continuous graphical models.

>>> import svmp
>>> m = svmp.Model("model { y ~ dnorm(mu, 1)  mu ~ dnorm(0, 1) }", {"y": 1.0})
>>> m.fit(progressbar=False)["mu"].shape
(100,)
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
from .distances import localise
from .fit import Comparison, Criteria, Fit, load
from .graph import Graph, field
from .model import Model
from .report import Report
from .table import Table
from .verdict import Verdict

__all__ = [
    "CallbackError",
    "Comparison",
    "Criteria",
    "DeviceError",
    "Error",
    "FileError",
    "Fit",
    "Graph",
    "InputError",
    "Model",
    "ModelError",
    "NotFiniteError",
    "OutOfMemoryError",
    "Progress",
    "Report",
    "Table",
    "UnsupportedError",
    "Verdict",
    "__version__",
    "errors",
    "field",
    "load",
    "localise",
]
