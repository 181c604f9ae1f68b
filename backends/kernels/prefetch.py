"""A hint to the processor to fetch memory that is needed soon: where short runs of large arrays are gone through in no order it cannot guess."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from fwdsl.backends.kernels.uncompiled import Function, why_not_compiled

if TYPE_CHECKING:
    from fwdsl.atoms.base import MatrixLike


@cache
def prefetch_function() -> Function:
    """`prefetch(a, j)` for kernels, to be linked by that name: LLVM's prefetch of the cache line of a[j]; a is a vector.

    It does nothing where kernels are not compiled.
    """
    if why_not_compiled() is not None:
        return _nothing

    from llvmlite import ir
    from numba.core import cgutils, types
    from numba.extending import intrinsic

    @intrinsic
    def prefetch(typing_context: Any, array: MatrixLike, index: Any) -> MatrixLike:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
            pointer, number = ir.IntType(8).as_pointer(), ir.IntType(32)
            hint = cgutils.get_or_insert_function(
                builder.module, ir.FunctionType(ir.VoidType(), [pointer, number, number, number]), "llvm.prefetch.p0i8"
            )
            at = builder.bitcast(builder.gep(data, [arguments[1]]), pointer)
            # for reading, into the second cache, of data: to ask for lines as if to write them is slower, measured
            builder.call(hint, [at, number(0), number(2), number(1)])
            return context.get_dummy_value()

        return types.void(array, types.intp), generate

    found: Function = prefetch
    return found


def _nothing(array: object, index: object) -> None:
    """The hint that plain Python can give."""
