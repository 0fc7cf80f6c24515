"""Factors with gradients by JAX or PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Optional

import numpy as np


def _double_precision(jax: Any) -> Any:
    if hasattr(jax, "enable_x64"):  # JAX 0.8 and later
        return jax.enable_x64(True)
    return import_module("jax.experimental").enable_x64()


class _Wrapped:
    """A function with its gradient. It can be pickled if the function can: what was compiled is made again."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.__name__ = getattr(function, "__name__", "function")
        self._package()

    def _package(self) -> Any:
        raise NotImplementedError

    def __getstate__(self) -> Any:
        return self.function

    def __setstate__(self, function: Callable[..., Any]) -> None:
        _Wrapped.__init__(self, function)


class _Jax(_Wrapped):
    """JAX compiles the function of one particle once, for all particles at a time, in double precision."""

    def _package(self) -> Any:
        try:
            import jax
        except ImportError:
            raise ImportError("autodiff='jax' needs JAX: pip install jax") from None
        self._compiled: dict[int, Any] = {}
        return jax

    def __call__(self, *x: Any) -> Any:
        import jax

        count = len(x)
        with _double_precision(jax):
            if count not in self._compiled:
                self._compiled[count] = jax.jit(jax.vmap(jax.value_and_grad(self.function, argnums=tuple(range(count)))))
            value, gradient = self._compiled[count](*x)
            return np.asarray(value), tuple(np.asarray(part) for part in gradient)


class _Torch(_Wrapped):
    def _package(self) -> Any:
        try:
            import torch
        except ImportError:
            raise ImportError("autodiff='torch' needs PyTorch: pip install torch") from None
        return torch

    def __call__(self, *x: Any) -> Any:
        import torch

        inputs = [torch.tensor(part, dtype=torch.float64, requires_grad=True) for part in x]
        with torch.enable_grad():
            value = self.function(*inputs)
            if not isinstance(value, torch.Tensor):
                raise TypeError(f"factor {self.__name__}: expected a tensor of one log value for each particle, not {type(value).__name__}")
            gradient: Any = [None] * len(inputs)  # gradient of a constant
            if value.requires_grad:
                gradient = torch.autograd.grad(value.sum(), inputs, allow_unused=True)  # particles do not depend on each other
        parts = tuple(np.zeros(g.shape) if d is None else d.numpy() for g, d in zip(inputs, gradient))
        return value.detach().numpy(), parts


def wrap(function: Callable[..., Any], autodiff: Optional[str]) -> Callable[..., Any]:
    """The function with its gradient."""
    if autodiff is None:
        return function
    if autodiff == "jax":
        return _Jax(function)
    if autodiff == "torch":
        return _Torch(function)
    raise ValueError(f"autodiff: expected 'jax' or 'torch', not {autodiff!r}")
