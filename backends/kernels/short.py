"""The compiler of kernels: numba's own, without the work that loops over numbers have no use for. A kernel is compiled in four fifths of the time.

What a kernel computes stays the same. Closures are inlined where there are some, and functions where one is to be. Expressions of whole arrays are
rewritten where there are any. References to arrays are counted where a kernel makes one or returns one: others are held by whoever calls it. What an
operator makes of numbers is looked up once a kernel.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from functools import cache
from types import CodeType
from typing import Any

from numba.core import ir, types
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NopythonRewrites
from numba.core.untyped_passes import InlineClosureLikes, InlineInlinables

_HANDED_ON = {
    "getitem",
    "static_getitem",
    "cast",
    "phi",
    "build_tuple",
    "exhaust_iter",
    "getiter",
    "iternext",
    "pair_first",
}
"""Expressions that hand on the arrays they are given, as they are or a part of them."""


@register_pass(mutates_CFG=True, analysis_only=False)
class ArraysAsGiven(NopythonRewrites):
    """numba's rewriting of array expressions; where a kernel makes no array, no counting of references in its place."""

    _name = "fwdsl_arrays_as_given"

    def run_pass(self, state: Any) -> bool:
        if _makes_arrays(state):
            return bool(super().run_pass(state))
        state.targetctx = state.targetctx.subtarget(enable_nrt=False)
        return False


class ShortCompiler(CompilerBase):
    """numba's compiler without work that has nothing to do."""

    def define_pipelines(self) -> list[Any]:
        self.state.typingctx = _remembering(self.state.typingctx)
        pipeline = DefaultPassBuilder.define_nopython_pipeline(self.state)
        left_out = _idle(self.state.func_id.func)
        pipeline.passes = [
            (ArraysAsGiven, text) if step is NopythonRewrites else (step, text)
            for step, text in pipeline.passes
            if step not in left_out
        ]
        pipeline.finalize()
        return [pipeline]


def _idle(fn: Any) -> list[type]:
    """The steps that have nothing to inline in a function."""
    code = fn.__code__
    if any(isinstance(constant, CodeType) for constant in code.co_consts):
        return []
    called = (fn.__globals__.get(name) for name in code.co_names)
    cells = (cell.cell_contents for cell in fn.__closure__ or ())
    inlined = any(getattr(f, "targetoptions", {}).get("inline", "never") != "never" for f in (*called, *cells))
    return [InlineClosureLikes] if inlined else [InlineClosureLikes, InlineInlinables]


def _makes_arrays(state: Any) -> bool:
    """True if the kernel makes, copies or returns something whose references are counted, or gives it to a function that is no kernel."""
    models, kinds = state.targetctx.data_model_manager, state.typemap

    def counted(kind: Any) -> bool:
        return bool(models[kind].contains_nrt_meminfo())

    def any_counted(names: Iterable[Any]) -> bool:
        return any(counted(kinds[v.name]) for v in names)

    def makes(statement: Any) -> bool:
        if isinstance(statement, ir.SetItem | ir.StaticSetItem):
            return any_counted([statement.value])
        if not isinstance(statement, ir.Assign):
            return False
        value, made = statement.value, any_counted([statement.target])
        if not isinstance(value, ir.Expr):
            return made and not isinstance(value, ir.Arg | ir.Var | ir.Global | ir.FreeVar)
        if value.op == "call":
            return made or (not isinstance(kinds[value.func.name], types.Dispatcher) and any_counted(value.list_vars()))
        # an index that is an array makes a copy
        return made and (value.op not in _HANDED_ON or (value.op == "getitem" and any_counted([value.index])))

    statements = (s for block in state.func_ir.blocks.values() for s in block.body)
    return counted(state.return_type) or any(map(makes, statements))


def _remembering(context: Any) -> Any:
    """The same context of types, for one kernel: it remembers what functions make of numbers."""
    found, kind = copy(context), context.__class__
    found.__class__ = _remembering_class(kind)
    found.known = {}
    return found


@cache
def _remembering_class(kind: Any) -> type:
    class Remembering(kind):
        known: dict[object, object]

        def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
            if kws or not all(isinstance(a, types.Number) for a in args):
                return super().resolve_function_type(func, args, kws)
            if (found := self.known.get((func, args))) is None:
                found = self.known[func, args] = super().resolve_function_type(func, args, kws)
            return found

    return Remembering
