"""The part of workers in problems on factors: they take products with the rows of data, and nothing of observed entries."""

from __future__ import annotations

from fwdsl.canon.factored import EntryMap, Factored


def told(form: Factored) -> tuple[str, ...]:
    """The reason why a run on observed entries has no use for the workers that are there; none of products with data."""
    if not isinstance(form.data, EntryMap):
        return ()
    return tuple(
        f"the entries of `{name}` stay in this process: steps gather them by rows and by columns, and each product would send a number for each"
        for name in form.instance.stays
    )
