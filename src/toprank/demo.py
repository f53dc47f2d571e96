"""The main job on bundled data: `python -m toprank.demo`."""

from __future__ import annotations

import warnings
from textwrap import fill

from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from . import RankSVM, RectPush, TopPush, TrivialSolutionWarning
from .datasets import load_mammography, load_spambase
from .metrics import auc, average_precision, get_scorer, positives_at_top, precision_at_k

REVIEWED = 50
#: Wide enough that no choice is at an end.
ALPHAS = [10.0**k for k in range(-5, 3)]


def main() -> None:
    """Rank spam, then mammograms, by pushes, pairs and logistic regression; compare the heads."""
    for name, load in (("spambase", load_spambase), ("mammography", load_mammography)):
        X, y = load(return_X_y=True)
        train, test, y_train, y_test = train_test_split(
            X, y, test_size=1 / 3, stratify=y, random_state=0
        )
        print(f"\n{name}: {len(y)} rows, {X.shape[1]} columns, {y.sum()} positives")
        print(f"  {'':<20} {'top':>6} {f'prec@{REVIEWED}':>8} {'AP':>6} {'AUC':>6}")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fitted = {}
            for label, model, grid in _contestants(len(y_train)):
                search = GridSearchCV(
                    make_pipeline(StandardScaler(), model),
                    grid,
                    scoring=get_scorer("average_precision"),
                    cv=3,
                ).fit(train, y_train)
                scores = search.decision_function(test)
                print(
                    f"  {label:<20} {positives_at_top(y_test, scores):>6.3f}"
                    f" {precision_at_k(y_test, scores, k=REVIEWED):>8.3f}"
                    f" {average_precision(y_test, scores):>6.3f} {auc(y_test, scores):>6.3f}"
                )
                fitted[label] = search.best_estimator_[-1]
        for label, ranker in list(fitted.items())[:3]:
            print(f"  {label}, alpha={ranker.alpha:g}: {ranker.certificate_}")
            print(f"  solved by {ranker.solver_} in {ranker.history_['passes'][-1]:.0f} passes")
        trivial = [w for w in caught if issubclass(w.category, TrivialSolutionWarning)]
        if fitted["TopPush"].trivial_:
            print(
                fill(f"But: {trivial[0].message}", 98, initial_indent="  ", subsequent_indent="  ")
            )
    print(
        "\ntop: share of positives above every negative; prec@k: share of positives among the "
        "first k.\nNext: help(toprank.TopPush), docs/, benchmarks/RESULTS.md; your own data: "
        "TopPush().fit(X, y).rank(X_new)"
    )


def _contestants(n_rows: int) -> list[tuple[str, object, dict[str, list[float]]]]:
    return [
        ("TopPush", TopPush(), {"toppush__alpha": ALPHAS}),
        ("RectPush", RectPush(), {"rectpush__alpha": ALPHAS}),
        ("RankSVM", RankSVM(), {"ranksvm__alpha": ALPHAS}),
        (
            "LogisticRegression",
            LogisticRegression(solver="liblinear"),
            {"logisticregression__C": [2 / (alpha * n_rows) for alpha in ALPHAS]},
        ),
    ]


if __name__ == "__main__":
    main()
