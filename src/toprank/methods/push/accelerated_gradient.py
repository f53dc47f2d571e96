"""The TopPush paper's own method: Nesterov's accelerated gradient on the dual, corrected.

Solves   min over a, b >= 0, sum a = sum b  g = |X+'a - X-'b|^2 / (2 alpha) + sum_i p_i l*(a_i/p_i)
by       Algorithm 1 of Li, Jin and Zhou (2014), squared hinge only.
Given    a Problem with a TopLoss of the squared hinge, the only one whose conjugate has a
         Lipschitz gradient.
Returns  a Solution; its dual vector is feasible at every iteration.

The paper's variables are m times ours. Corrected: the inequality of line 5 (a sufficient decrease
with the projection in it), the point line 8 returns (the last one). Two rules end it early, and
bound no error. Line 7 stops at a small change of g: `stopping="change"`. A program that is passed
on as the authors' own stops at a small change relative to g, or at a small step, and starts from
another L: `stopping="relative"`.
"""

from __future__ import annotations

import math
from functools import partial
from typing import cast

import numpy as np
from numpy.typing import NDArray

from ..._core import project_balanced
from ...losses import TopLoss
from ...problems import Problem, Solution
from ...solvers.starts import restart_duals
from ...solvers.watch import Watch
from ...solvers.zero_test import ZeroTest

Array = NDArray[np.float64]

#: The relative rule looks at the change of g from this step on; the first steps are short ones.
FIRST_CHECK = 10
#: The relative rule also ends at a step |a - s| of this length, in the paper's variables.
SHORT_STEP = 1e-6


def accelerated_gradient(
    problem: Problem,
    *,
    start: Solution | None = None,
    tol: float = 1e-4,
    max_iter: int = 10_000,
    watch: Watch | None = None,
    stopping: str = "gap",
) -> Solution:
    """Solve a TopPush problem as the paper does, to a gap or by a rule of its own.

    gap       (primal - dual) <= tol primal
    change    m |g_k - g_{k-1}| < tol, the paper's line 7; L begins at 1 / (m + n)
    relative  |g_k - g_{k-1}| <= tol |g_{k-1}| and k >= 10, or m |y_k - s_k| <= 1e-6; L from 1 / m
    """
    loss, design, alpha = cast(TopLoss, problem.loss), problem.design, problem.alpha
    watch = watch or Watch(design)
    split, p = loss.split, loss.split.p
    m, n = len(split.pos), len(split.neg)
    best_y = np.zeros(m + n)

    def image(y: Array) -> Array:
        return design.pull_back(y[:m], split.pos) - design.pull_back(y[m:], split.neg)

    def separable(a: Array) -> float:
        return float(a @ (a / (4.0 * p) - 1.0))

    def project(y: Array) -> Array:
        return np.concatenate(project_balanced(y[:m], y[m:]))

    d = design.shape[1]
    duals = restart_duals(problem, start)
    y = np.zeros(m + n) if duals is None else project(np.concatenate(duals))
    u = np.zeros(d) if duals is None else image(y)
    s = np.zeros(design.shape[0]) if duals is None else design.scores(u / alpha)
    y_last, u_last, s_last = y, u, s
    g = float(u @ u) / (2.0 * alpha) + separable(y[:m])
    early = stopping != "gap"
    lipschitz = 1.0 if stopping == "relative" else m / (m + n)  # m times the paper's
    t_last, t = 0.0, 1.0
    zero = ZeroTest(problem)
    primal, dual, best_w = loss.at_zero, 0.0, np.zeros(d)
    converged = stopped = False
    iteration = 0
    while iteration < max_iter and not (converged or stopped):
        iteration += 1
        omega = max((t_last - 1.0) / t, 0.0)
        # Everything is linear in the duals, so the point ahead costs no product with X.
        y_ahead, u_ahead, s_ahead = (
            now + omega * (now - last) for now, last in ((y, y_last), (u, u_last), (s, s_last))
        )
        g_ahead = float(u_ahead @ u_ahead) / (2.0 * alpha) + separable(y_ahead[:m])
        slope = np.concatenate(
            [s_ahead[split.pos] + y_ahead[:m] / (2.0 * p) - 1.0, -s_ahead[split.neg]]
        )
        while True:  # line 5: double L until the quadratic model bounds g
            y_new = project(y_ahead - slope / lipschitz)
            u_new = image(y_new)
            g_new = float(u_new @ u_new) / (2.0 * alpha) + separable(y_new[:m])
            move = y_new - y_ahead
            model = g_ahead + float(slope @ move) + 0.5 * lipschitz * float(move @ move)
            if g_new <= model + 1e-12 * abs(g_ahead) or not lipschitz < 1e300:
                break
            lipschitz *= 2.0
        g_before, step = g, m * math.sqrt(float(move @ move))
        y_last, u_last, s_last, y, u, g = y, u, s, y_new, u_new, g_new
        t_last, t = t, (1.0 + math.sqrt(1.0 + 4.0 * t * t)) / 2.0

        w = u / alpha
        s = design.scores(w)
        s_neg = s[split.neg]
        rise, error = loss.rise(s[split.pos], s_neg, loss.highest_bias(s_neg))
        penalty = 0.5 * alpha * float(w @ w)
        value = penalty + loss.value(s)
        if (value < primal and rise + penalty < -error) or early:
            primal, best_w = value, w
        if -g > dual:
            dual, best_y = -g, y
        stopped = watch(iteration, primal, dual, partial(np.copy, best_w))
        change = abs(g - g_before)
        if stopping == "change":
            converged = m * change < tol  # the paper's g is m times ours
        elif stopping == "relative":
            small = iteration >= FIRST_CHECK and change <= tol * abs(g_before)
            converged = small or step <= SHORT_STEP
        else:
            converged = primal - dual <= tol * primal and (
                bool(best_w.any()) or zero.holds(loss.join(best_y[:m], best_y[m:]))
            )
    return Solution(
        w=best_w,
        proof=loss.join(best_y[:m], best_y[m:]),
        n_iter=iteration,
        converged=converged,
        solver="accelerated-gradient",
        alpha=alpha,
    )
