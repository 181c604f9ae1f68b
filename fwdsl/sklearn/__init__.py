"""Programs as scikit-learn estimators (extra `sklearn`), and estimators that scikit-learn lacks.

    from fwdsl.sklearn import FwRegressor

    search = GridSearchCV(FwRegressor("lasso.fw"), {"mu": [0.01, 0.1, 1]}).fit(X, y)

Each class is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

GENERIC = ("FwClassifier", "FwRegressor", "FwTransformer")

__all__ = list(GENERIC)


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    _require_sklearn()
    found = getattr(import_module(".generic", __name__), name)
    globals()[name] = found
    return found


def _require_sklearn() -> None:
    """Raise `RunError` FW0018 if scikit-learn is absent."""
    try:
        import sklearn  # noqa: F401
    except ImportError:
        from ..errors import RunError
        from ..grammar.diagnostic import Diagnostic

        rule = "Estimators need the extra `sklearn`."
        found = Diagnostic("FW0018", "scikit-learn is not installed", rule=rule, hint="pip install 'fwdsl[sklearn]'")
        raise RunError([found]) from None
