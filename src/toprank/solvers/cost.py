"""What solvers cost, in entries of the matrix read, and how many features they are for."""

from __future__ import annotations

from ..designs import Design

#: Terms of a Gram matrix that cost as much as reading an entry.
GRAM_TERMS = 5
#: Operations of a factorisation that cost as much as reading an entry.
FACTOR_OPERATIONS = 20
#: Below this much work a factorisation always beats a Python loop.
LITTLE_WORK = 3e6

#: Newton's method takes conjugate gradients above this many features: a factor has their cube.
NEWTON_FEATURES = 3000
#: And where the Hessian and its factor are more work than so many passes.
NEWTON_PASSES = 120

#: Hessians of few rows have a factor up to this many features; above it conjugate gradients.
FEW_PASSES_FEATURES = 1000
#: With a factor they are for this many rows, of which a sample is but a few.
FEW_PASSES_ROWS = 4000
#: Rows there must be for every feature.
FEW_PASSES_ROWS_A_FEATURE = 5

#: Steps of a squared hinge of wide rows meet kinks where alpha is below so many times what a row
#: adds to the Hessian, of a fit from nothing and of one that goes on.
KINKS_MET, KINKS_MET_ON_A_PATH = 10.0, 2.0

#: The most features of rows on a cluster, whose Hessian, 8 d^2 bytes, comes from every part.
CLUSTER_FEATURES = 3000

#: Bytes of negatives that one part on a worker sends in a round, and all of them.
PART_BYTES, ROUND_BYTES = 200_000, 4_000_000
#: Bytes of positives that a fit copies from a file, and over a network to the driver.
FILE_BYTES, NETWORK_BYTES = 1 << 30, 1 << 28

#: Above this many features the factors of an active set leave the cache: out of the race.
ACTIVE_SET_FEATURES = 1500
#: Below this many operations the rest of a fit costs more than any solver.
ACTIVE_SET_ALWAYS = 1e6
#: Above this many features a solver that stores matrices of d x d is refused: 0.8 GB each.
MATRIX_FEATURES = 10_000
#: Passes of an active-set fit: scans of the negatives, gradients, Hessians.
ACTIVE_SET_PASSES = 20
#: Passes that dual descent needs at least, with its checks.
DESCENT_PASSES = 40
#: Rows with a slope from which a push takes thinned Hessians and one pass a step. On fewer rows,
#: exact Hessians cost less than the samples.
CEILING_ROWS = 5_000
#: Dual descent is given this share of Newton's work before it is judged by its progress, which at
#: a small alpha begins late.
DESCENT_TRIAL = 0.1

#: Rows of a class that the Hessian of pairs is summed over.
PAIR_HESSIAN_ROWS = 1000
#: Of a smooth loss there are more where that costs no more than so many products with X.
PAIR_HESSIAN_PRODUCTS = 0.5
#: But so many times as many at the most.
PAIR_HESSIAN_TIMES = 16
#: That Hessian is factored where it is no more work than so many products with X.
PAIR_NEWTON_PRODUCTS = 8
#: Sweeps of dual descent begin a squared hinge of wide sparse rows where alpha is less than so many
#: times what a row adds to the Hessian at w = 0. Above it, Newton's steps need as few passes.
PAIR_SWEEPS_ALPHA = 8.0

#: The most pairs that are listed one by one: their memory is some hundred bytes each.
MOST_PAIRS = 5_000_000

#: Above this many features an interior-point method's matrix is out of the race.
INTERIOR_FEATURES = 1500
#: Steps of an interior-point method, whatever the data.
INTERIOR_STEPS = 30
#: Products with X in such a step.
INTERIOR_PRODUCTS = 7
#: Less work than this is not worth another method.
INTERIOR_LEAST = 2e6


def factor_work(design: Design) -> float:
    """The work of X' diag(c) X and its Cholesky factor."""
    (n, d), entries = design.shape, float(design.n_entries)
    return 0.5 * entries * (entries / n) / GRAM_TERMS + float(d) ** 3 / 3.0 / FACTOR_OPERATIONS


def factor_is_cheap(design: Design) -> bool:
    """Whether a step by Cholesky's method costs less than one by conjugate gradients might."""
    most = NEWTON_PASSES * float(design.n_entries) + LITTLE_WORK
    return design.shape[1] <= NEWTON_FEATURES and factor_work(design) <= most


def hessian_is_narrow(design: Design) -> bool:
    """Whether a Hessian of few rows is factored."""
    return design.shape[1] <= FEW_PASSES_FEATURES


def factors_few_rows(design: Design) -> bool:
    """Return whether a Hessian of few rows is factorised."""
    return design.shape[1] <= (FEW_PASSES_FEATURES if design.keeps_scores else CLUSTER_FEATURES)


def few_passes_are_enough(design: Design) -> bool:
    """Whether a few rows can stand for the Hessian of all."""
    n, d = design.shape
    least = max(FEW_PASSES_ROWS, FEW_PASSES_ROWS_A_FEATURE * d)
    return n >= least if hessian_is_narrow(design) else True


def pair_hessian_rows(design: Design) -> int:
    """Rows of a class that the Hessian of pairs of a smooth loss is summed over."""
    rows = PAIR_HESSIAN_PRODUCTS / pair_hessian_products(design, 1.0)
    most = PAIR_HESSIAN_TIMES * PAIR_HESSIAN_ROWS
    return int(min(max(rows, PAIR_HESSIAN_ROWS), most))


def pair_hessian_products(design: Design, rows: float) -> float:
    """What the Hessian of so many rows of each class costs, in products with X."""
    (n, d), entries = design.shape, float(design.n_entries)
    in_a_row = entries / max(n, 1)
    a_row = 2.0 * in_a_row * (d + in_a_row) / 2.0 / GRAM_TERMS
    return rows * max(a_row, 1.0) / max(entries, 1.0)


def pair_factor_is_cheap(design: Design) -> bool:
    """The same for the Hessian of all pairs, which is summed over some rows of each class."""
    (n, d), entries = design.shape, float(design.n_entries)
    in_a_row = entries / max(n, 1)
    terms = min(n, 2 * PAIR_HESSIAN_ROWS) * in_a_row * (d + in_a_row) / 2.0
    work = terms / GRAM_TERMS + float(d) ** 3 / 3.0 / FACTOR_OPERATIONS
    return work <= PAIR_NEWTON_PRODUCTS * entries + LITTLE_WORK


def matrix_bytes(design: Design) -> float:
    """Bytes of a matrix of d x d, which may be d + 1 features with a threshold."""
    return 8.0 * (design.shape[1] + 1.0) ** 2


def active_set_work(design: Design) -> float:
    """The work of an active-set Newton fit; infinite where there are too many features."""
    d = design.shape[1]
    if d > ACTIVE_SET_FEATURES:
        return float("inf")
    return float(d) ** 3 + ACTIVE_SET_PASSES * design.n_entries


def active_set_is_cheap(design: Design) -> bool:
    """Return whether an active-set Newton fit costs less than dual descent at its best."""
    d = design.shape[1]
    cheap = float(d) ** 3 <= max(DESCENT_PASSES * design.n_entries, ACTIVE_SET_ALWAYS)
    return cheap and d <= ACTIVE_SET_FEATURES


def positives_fit(design: Design, n_pos: int) -> bool:
    """Return whether so many rows may be copied to where the solver runs."""
    most = NETWORK_BYTES if hasattr(design, "n_parts") else FILE_BYTES
    return n_pos * (row_bytes(design) + 32.0) <= most


def row_bytes(design: Design) -> float:
    """Return the bytes of a row, dense in float64 or as CSR, whichever is less."""
    n, d = design.shape
    return min(8.0 * d, 12.0 * design.n_entries / max(n, 1))


def interior_work(design: Design) -> float:
    """The work of an interior-point fit of the rows of this matrix."""
    step = INTERIOR_PRODUCTS * float(design.n_entries) + factor_work(design)
    return max(INTERIOR_STEPS * step, INTERIOR_LEAST)


def rows_a_round(design: Design) -> int:
    """Negatives that every part of rows elsewhere sends in a round; the fewer, the more parts."""
    a_part = min(PART_BYTES, ROUND_BYTES / getattr(design, "n_parts", 1))
    return int(a_part / (row_bytes(design) + 16.0))
