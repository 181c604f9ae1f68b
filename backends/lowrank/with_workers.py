"""The part of workers in problems of observed entries, for plans in print."""

from __future__ import annotations

from fwdsl.backends.method import Method
from fwdsl.bind.instance import Instance
from fwdsl.bind.values import HeldEntries


def told(instance: Instance, method: type[Method]) -> tuple[str, ...]:
    """The observed entries that workers get nothing of, or have nothing to do with, and why; none where there are no workers."""
    found = [f"the entries of `{name}` stay in this process: {why}" for name, why in instance.stays.items()]
    if method.works_on != "factored":
        found += [
            f"the entries of `{name}` are worked on by this process alone: workers have a part in methods on factors"
            for name, value in instance.values.items()
            if isinstance(value, HeldEntries)
        ]
    return tuple(found)
