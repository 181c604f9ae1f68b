"""Binding attaches data and parameters to a checked model, by reference, after one pass over the data."""

from .binder import bind, check_bindings, rebind
from .bindings import Bindings, bind_python

__all__ = ["Bindings", "bind", "bind_python", "check_bindings", "rebind"]
