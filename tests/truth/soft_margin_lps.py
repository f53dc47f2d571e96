"""The 1-norm soft margins written out as linear programmes, for HiGHS; and small data for them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from toprank.designs import DenseDesign, ScaledDesign
from toprank.inputs.class_split import Split
from toprank.losses import ClassTailLoss, PairTailLoss
from toprank.problems import BallProblem
from truth.reference_files import reference_file

Array = NDArray[np.float64]

OPTIONS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def least_edge(
    Z: Array, caps: Array, group: NDArray[np.int64], totals: Array, constant: Array, signed: bool
) -> float:
    """min over d of max_k |constant + Z'd|_k, 0 <= d <= caps, group sums as given."""
    rows, bounds = [np.column_stack([Z.T, -np.ones(Z.shape[1])])], [-constant]
    if signed:
        rows, bounds = [*rows, np.column_stack([-Z.T, -np.ones(Z.shape[1])])], [*bounds, constant]
    sums = np.column_stack([(group == g) * 1.0 for g in range(len(totals))]).T
    found = linprog(
        np.append(np.zeros(len(Z)), 1.0),
        np.concatenate(rows),
        np.concatenate(bounds),
        np.column_stack([sums, np.zeros(len(totals))]),
        totals,
        [*((0.0, cap) for cap in caps), (None, None)],
        method="highs-ds",
        options=OPTIONS,
    )
    assert found.status == 0
    return float(found.fun)


def pair_margin(H: Array, split: Split, epsilon: float, signed: bool) -> float:
    """gamma* of rankers H by its dual, over all pairs one by one."""
    Z = ((H[split.pos][:, np.newaxis] - H[split.neg]) / 2).reshape(-1, H.shape[1])
    caps = np.outer(split.p, split.q).ravel() / epsilon
    nothing = np.zeros(H.shape[1])
    return least_edge(Z, caps, np.zeros(len(Z), int), np.ones(1), nothing, signed)


def reduced_margin(H: Array, loss: ClassTailLoss, signed: bool) -> float:
    """The reduction's gamma of rankers H by its dual."""
    split = loss.split
    Z = np.concatenate([H[split.pos], -H[split.neg]]) / 2
    caps = np.concatenate([loss.caps_pos, loss.caps_neg])
    group = np.repeat([0, 1], [len(split.pos), len(split.neg)])
    return least_edge(Z, caps, group, np.ones(2), np.zeros(H.shape[1]), signed)


def rankers(seed: int, n: int, d: int, kind: str) -> tuple[Array, NDArray[np.bool_]]:
    """Rankers with values in [-1, 1] and labels; the first ranker knows something."""
    rng = np.random.default_rng(seed)
    positive = rng.permutation(np.arange(n) < max(1, min(n - 1, round(n * rng.uniform(0.2, 0.8)))))
    H = rng.uniform(-1, 1, (n, d)) if kind == "continuous" else rng.choice([-1.0, 1.0], (n, d))
    know = rng.random(n) < rng.uniform(0.5, 1.0)
    H[know, 0] = np.where(positive[know], 1.0, -1.0) * np.abs(H[know, 0])
    return H, positive


def problem_of(
    H: Array, split: Split, epsilon: float, signed: bool, loss: ClassTailLoss | None = None
) -> BallProblem:
    """The problem of rankers H: half their scores are what margins are differences of."""
    half = ScaledDesign(DenseDesign(H), np.arange(H.shape[1]), np.full(H.shape[1], 0.5))
    return BallProblem(half, loss or PairTailLoss(split, epsilon), signed=signed)


CASES = [
    "c1_separable",
    "c2_boolean",
    "c3_overlap",
    "c4_signed",
    "c5_trivial",
    "c6_fractional_nu",
    "c7_nu_all",
    "c8_imbalanced",
]


def reference_case(name: str) -> tuple[dict[str, Array], Array, NDArray[np.int64]]:
    """A case that was solved elsewhere: its fields, its rankers and labels."""
    with np.load(reference_file("soft-margin")) as file:
        case = {key.split("/")[1]: file[key] for key in file.files if key.startswith(name)}
    P, Q = case["P"], case["Q"]
    return case, np.concatenate([P, Q]), np.repeat([1, 0], [len(P), len(Q)])
