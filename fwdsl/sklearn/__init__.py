"""Programs as scikit-learn estimators (extra `sklearn`), and estimators that scikit-learn lacks.

    from fwdsl.sklearn import FwRegressor

    search = GridSearchCV(FwRegressor("lasso.fw"), {"mu": [0.01, 0.1, 1]}).fit(X, y)

Each class is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from .recipes import RECIPES

GENERIC = ("FwClassifier", "FwRegressor", "FwTransformer")

READY = tuple(recipe.name for recipe in RECIPES)
CROSS_VALIDATED = tuple(f"{recipe.name}CV" for recipe in RECIPES if recipe.scale)

__all__ = [*GENERIC, *READY, *CROSS_VALIDATED]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ..extras import require

    require("sklearn")
    if name in GENERIC:
        globals()[name] = getattr(import_module(".generic", __name__), name)
    else:
        globals().update(import_module(".ready", __name__).make_classes())
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
