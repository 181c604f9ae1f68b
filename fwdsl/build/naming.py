"""Names for what the user has not named: `data1`, `data2`, ..., `var1`, ..."""

from __future__ import annotations

from .leaves import DataLeaf, Leaf


class Names:
    """The names of one program; fresh ones avoid those that are taken."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._count = {"data": 0, "var": 0}

    def take(self, name: str) -> bool:
        """Reserve a name; False if it is taken already."""
        if name in self._taken:
            return False
        self._taken.add(name)
        return True

    def fresh(self, leaf: Leaf) -> str:
        """The next free name for an unnamed leaf."""
        stem = "data" if isinstance(leaf, DataLeaf) else "var"
        while True:
            self._count[stem] += 1
            name = f"{stem}{self._count[stem]}"
            if self.take(name):
                return name
