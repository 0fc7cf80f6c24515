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


def _from_jax(function: Callable[..., Any]) -> Callable[..., Any]:
    """JAX compiles the function of one particle once, for all particles at a time, in double precision."""
    try:
        import jax
    except ImportError:
        raise ImportError("autodiff='jax' needs JAX: pip install jax") from None
    compiled: dict[int, Any] = {}

    def call(*x: Any) -> Any:
        count = len(x)
        with _double_precision(jax):
            if count not in compiled:
                compiled[count] = jax.jit(jax.vmap(jax.value_and_grad(function, argnums=tuple(range(count)))))
            value, gradient = compiled[count](*x)
            return np.asarray(value), tuple(np.asarray(part) for part in gradient)

    return call


def _from_torch(function: Callable[..., Any]) -> Callable[..., Any]:
    try:
        import torch
    except ImportError:
        raise ImportError("autodiff='torch' needs PyTorch: pip install torch") from None

    def call(*x: Any) -> Any:
        inputs = [torch.tensor(part, dtype=torch.float64, requires_grad=True) for part in x]
        with torch.enable_grad():
            value = function(*inputs)
            if not isinstance(value, torch.Tensor):
                raise TypeError(f"factor {function.__name__}: expected a tensor of one log value for each particle, not {type(value).__name__}")
            gradient: Any = [None] * len(inputs)  # gradient of a constant
            if value.requires_grad:
                gradient = torch.autograd.grad(value.sum(), inputs, allow_unused=True)  # particles do not depend on each other
        parts = tuple(np.zeros(g.shape) if d is None else d.numpy() for g, d in zip(inputs, gradient))
        return value.detach().numpy(), parts

    return call


def wrap(function: Callable[..., Any], autodiff: Optional[str]) -> Callable[..., Any]:
    """The function with its gradient."""
    if autodiff is None:
        return function
    if autodiff == "jax":
        made = _from_jax(function)
    elif autodiff == "torch":
        made = _from_torch(function)
    else:
        raise ValueError(f"autodiff: expected 'jax' or 'torch', not {autodiff!r}")
    made.__name__ = getattr(function, "__name__", "function")
    return made
