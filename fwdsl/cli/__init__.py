"""The command line: `fwdsl COMMAND ...`, one module a command, thin over `fwdsl.pipeline`."""

from .app import main

__all__ = ["main"]
