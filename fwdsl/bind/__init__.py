"""Binding: data and parameters are attached to a checked model, by reference, and looked at once."""

from .binder import bind, check_given
from .bindings import Bindings, bind_python

__all__ = ["Bindings", "bind", "bind_python", "check_given"]
