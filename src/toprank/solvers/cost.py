"""What solvers cost, in entries of the matrix read, and how many features they are for."""

from __future__ import annotations

from ..designs import Design

#: Terms of a Gram matrix that cost as much as reading an entry.
GRAM_TERMS = 5
#: Operations of a factorisation that cost as much as reading an entry.
FACTOR_OPERATIONS = 20
#: Entries read in a few milliseconds: below this much work the choice of a solver hardly matters.
LITTLE_WORK = 3e6

#: Most features whose Hessian is sent over a network or factorised at every step: 72 MB.
FACTOR_FEATURES = 3000
#: Most features of a Hessian that stays in the cache: 18 MB. Solvers that factorise one at every
#: step are not chosen above it.
CACHED_FEATURES = 1500
#: Most features of a solver that stores matrices of d x d at all: 0.8 GB each.
MATRIX_FEATURES = 10_000
#: Passes over the data that Newton's method for a sum over rows may take for a factorised Hessian.
NEWTON_PASSES = 120

#: Most features of a Hessian of a sample of rows that is factorised.
FEW_PASSES_FEATURES = 1000
#: Fewest rows for which a sample of them saves time, and fewest rows per feature.
FEW_PASSES_ROWS, FEW_PASSES_ROWS_PER_FEATURE = 4000, 5
#: Fewest rows with a slope for which a push takes a Hessian of a sample: on fewer, the exact
#: Hessian costs less.
CEILING_ROWS = 5_000
#: A squared hinge of wide sparse rows is solved by dual descent where alpha is below this multiple
#: of what a row adds to the Hessian, in a fit from nothing and in one on a path.
KINKS, KINKS_ON_A_PATH = 10.0, 2.0

#: Passes of an active-set fit: scans of the negatives, gradients, Hessians.
ACTIVE_SET_PASSES = 20
#: Fewest passes of dual descent, checks included.
DESCENT_PASSES = 40
#: Share of Newton's work after which dual descent is judged by its progress: at a small alpha the
#: progress begins late.
DESCENT_TRIAL = 0.1
#: Steps of an interior-point method, whatever the data, and products with X in each.
INTERIOR_STEPS, INTERIOR_PRODUCTS = 30, 7

#: Rows of each class that the Hessian of pairs is summed over, and the most of a smooth loss.
PAIR_HESSIAN_ROWS, PAIR_HESSIAN_MOST_ROWS = 1000, 16_000
#: Products with X that the additional rows of a smooth loss may cost.
PAIR_HESSIAN_PRODUCTS = 0.5
#: Products with X that a factorised Hessian of pairs may cost.
PAIR_NEWTON_PRODUCTS = 8
#: A squared hinge of pairs of wide sparse rows begins with sweeps of dual descent where alpha is
#: below this multiple of what a row adds to the Hessian at w = 0. Above it, Newton's steps need as
#: few passes.
PAIR_SWEEPS_ALPHA = 8.0


def factor_work(design: Design) -> float:
    """Return the work of X' diag(c) X and its Cholesky factor."""
    (n, d), entries = design.shape, float(design.n_entries)
    return 0.5 * entries * (entries / n) / GRAM_TERMS + float(d) ** 3 / 3.0 / FACTOR_OPERATIONS


def factor_is_cheap(design: Design) -> bool:
    """Return whether a step by Cholesky's method beats one by conjugate gradients."""
    most = NEWTON_PASSES * float(design.n_entries) + LITTLE_WORK
    return design.shape[1] <= FACTOR_FEATURES and factor_work(design) <= most


def hessian_is_narrow(design: Design) -> bool:
    """Return whether a Hessian of few rows in memory is factorised."""
    return design.shape[1] <= FEW_PASSES_FEATURES


def factors_few_rows(design: Design) -> bool:
    """Return whether a Hessian of few rows is factorised."""
    return design.shape[1] <= (FEW_PASSES_FEATURES if design.stores_scores else FACTOR_FEATURES)


def few_passes_are_enough(design: Design) -> bool:
    """Return whether a few rows can stand for the Hessian of all."""
    n, d = design.shape
    least = max(FEW_PASSES_ROWS, FEW_PASSES_ROWS_PER_FEATURE * d)
    return n >= least if hessian_is_narrow(design) else True


def pair_hessian_rows(design: Design) -> int:
    """Return how many rows of a class the Hessian of pairs of a smooth loss is summed over."""
    (n, d), entries = design.shape, float(design.n_entries)
    in_a_row = entries / max(n, 1)
    of_a_row = max(in_a_row * (d + in_a_row) / GRAM_TERMS, 1.0)
    rows = PAIR_HESSIAN_PRODUCTS * max(entries, 1.0) / of_a_row
    return int(min(max(rows, PAIR_HESSIAN_ROWS), PAIR_HESSIAN_MOST_ROWS))


def pair_factor_is_cheap(design: Design) -> bool:
    """Return whether a step by Cholesky's method costs less for a loss of all pairs.

    Its Hessian is summed over some rows of each class.
    """
    (n, d), entries = design.shape, float(design.n_entries)
    in_a_row = entries / max(n, 1)
    terms = min(n, 2 * PAIR_HESSIAN_ROWS) * in_a_row * (d + in_a_row) / 2.0
    work = terms / GRAM_TERMS + float(d) ** 3 / 3.0 / FACTOR_OPERATIONS
    return work <= PAIR_NEWTON_PRODUCTS * entries + LITTLE_WORK


def matrix_bytes(design: Design) -> float:
    """Return the bytes of a matrix of d x d, which may be d + 1 features with a threshold."""
    return 8.0 * (design.shape[1] + 1.0) ** 2


def active_set_work(design: Design) -> float:
    """Return the work of an active-set Newton fit; infinite with too many features."""
    d = design.shape[1]
    if d > CACHED_FEATURES:
        return float("inf")
    return float(d) ** 3 + ACTIVE_SET_PASSES * design.n_entries


def active_set_is_cheap(design: Design) -> bool:
    """Return whether an active-set Newton fit costs less than dual descent at its best."""
    d = design.shape[1]
    cheap = float(d) ** 3 <= max(DESCENT_PASSES * design.n_entries, LITTLE_WORK)
    return cheap and d <= CACHED_FEATURES


def interior_work(design: Design) -> float:
    """Return the work of an interior-point fit; infinite with too many features."""
    if design.shape[1] > CACHED_FEATURES:
        return float("inf")
    rows, _, _ = design.differences()
    step = INTERIOR_PRODUCTS * float(rows.n_entries) + factor_work(rows)
    return max(INTERIOR_STEPS * step, LITTLE_WORK)


def has_sparse_rows(design: Design) -> bool:
    """Return whether kernels can read the rows in any order, and zeros are left out."""
    n, d = design.shape
    return design.reads_rows and design.n_entries < n * d
