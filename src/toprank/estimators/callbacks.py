"""scikit-learn's callbacks, where it has them: how a running fit tells them of itself."""

from __future__ import annotations

from typing import Any

from ..solvers.watch import Report

try:  # scikit-learn 1.9 and later
    from sklearn.callback import CallbackSupportMixin
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in where scikit-learn has no callbacks: `verbose` tells of progress."""


class Callbacks:
    """Passes the iterations of a fit on to the callbacks of an estimator, if some are set."""

    def __init__(self, estimator: Any, X: Any, y: Any) -> None:
        self._estimator, self._data = estimator, {"X": X, "y": y}
        self._context: Any = None

    def __enter__(self) -> Report | None:
        if not self._estimator._skl_callbacks:  # taken off again
            return None
        self._context = self._estimator._init_callback_context(max_subtasks=None)
        self._context.call_on_fit_task_begin(estimator=self._estimator, **self._data)
        return self._iteration

    def _iteration(self, fitted: dict[str, Any]) -> bool:
        step = self._context.subcontext(task_name="iteration")
        step.call_on_fit_task_begin(estimator=self._estimator, **self._data)
        return bool(
            step.call_on_fit_task_end(
                estimator=self._estimator, reconstruction_attributes=fitted, **self._data
            )
        )

    def __exit__(self, kind: object, *_: object) -> None:
        if self._context is not None and kind is None:
            self._context.call_on_fit_task_end(
                estimator=self._estimator, reconstruction_attributes={}, **self._data
            )


__all__ = ["CallbackSupportMixin", "Callbacks"]
