"""The compiled core, in the best form this machine can run."""

from . import _baseline

if _baseline.has_x86_64_v3():
    try:
        from ._v3 import ActiveSet, CombinedDescent, DualDescent, Matrix, project_balanced
    except ImportError:  # not an x86 build, or one for the sanitizers
        from ._baseline import ActiveSet, CombinedDescent, DualDescent, Matrix, project_balanced
else:
    from ._baseline import ActiveSet, CombinedDescent, DualDescent, Matrix, project_balanced

__all__ = ["ActiveSet", "CombinedDescent", "DualDescent", "Matrix", "project_balanced"]
