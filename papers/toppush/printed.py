"""Table 2 as printed, and Figure 1 as it can be read off."""

from __future__ import annotations

from dataclasses import dataclass

MEASURES = ("Pos@Top", "AP", "NDCG")
#: Trials of the paper, and the level of its t-tests: two-sided, p below 1 - 0.9.
TRIALS, LEVEL = 30, 0.1


@dataclass(frozen=True)
class Printed:
    """A line of the table: seconds; means and deviations of MEASURES; the mark of each.

    A mark is "+" where the paper's TopPush is significantly better, "-" where it is worse.
    """

    seconds: float
    means: tuple[float, float, float]
    deviations: tuple[float, float, float]
    marks: str = "..."


def _line(seconds: float, pos: str, ap: str, ndcg: str) -> Printed:
    """A line from cells such as ".064 .075+"."""
    cells = [cell.rstrip("+-").split() for cell in (pos, ap, ndcg)]
    means, deviations = zip(*((float(a), float(b)) for a, b in cells), strict=True)
    marks = "".join(cell[-1] if cell[-1] in "+-" else "." for cell in (pos, ap, ndcg))
    return Printed(seconds, means, deviations, marks)


#: Positives, negatives and columns by set.
SIZES: dict[str, tuple[int, int, int]] = {
    "diabetes": (500, 268, 34),
    "news20-forsale": (999, 18_929, 62_061),
    "nsl-kdd": (71_463, 77_054, 121),
    "real-sim": (22_238, 50_071, 20_958),
    "spambase": (1_813, 2_788, 57),
    "url": (792_145, 1_603_985, 3_231_961),
    "w8a": (1_933, 62_767, 300),
}

#: By set and system.
TABLE_2: dict[str, dict[str, Printed]] = {
    "diabetes": {
        "TopPush": _line(5.11e-3, ".123 .056", ".872 .023", ".976 .005"),
        "LR": _line(2.30e-2, ".064 .075+", ".881 .022", ".973 .008"),
        "cs-SVM": _line(7.70e-2, ".077 .088+", ".758 .166+", ".920 .078+"),
        "SVM-rank": _line(6.11e-2, ".087 .082+", ".879 .022", ".975 .006"),
        "SVM-MAP": _line(4.71e0, ".077 .072+", ".879 .012", ".969 .009"),
        "SVM-pAUC": _line(2.09e-1, ".053 .096+", ".668 .123+", ".884 .065+"),
        "InfinitePush": _line(2.63e1, ".119 .051", ".877 .035", ".978 .007"),
        "AATP": _line(2.72e3, ".127 .061", ".881 .035", ".979 .010"),
    },
    "news20-forsale": {
        "TopPush": _line(2.16e0, ".191 .088", ".843 .018", ".970 .005"),
        "LR": _line(4.14e0, ".086 .067+", ".803 .020+", ".962 .005"),
        "cs-SVM": _line(1.89e0, ".114 .069+", ".766 .021+", ".955 .006+"),
        "SVM-rank": _line(2.96e2, ".149 .056+", ".850 .016", ".972 .003"),
        "SVM-MAP": _line(8.42e2, ".184 .092", ".832 .022", ".969 .007"),
        "SVM-pAUC": _line(3.25e2, ".196 .087", ".812 .019+", ".963 .005+"),
    },
    "nsl-kdd": {
        "TopPush": _line(7.64e1, ".633 .088", ".978 .001", ".997 .001"),
        "LR": _line(3.63e1, ".220 .053+", ".981 .002", ".998 .001"),
        "cs-SVM": _line(1.86e0, ".556 .037+", ".980 .001", ".998 .001"),
        "SVM-pAUC": _line(1.72e2, ".634 .059", ".956 .002+", ".996 .001"),
    },
    "real-sim": {
        "TopPush": _line(1.34e1, ".186 .049", ".986 .001", ".998 .001"),
        "LR": _line(7.67e0, ".100 .043+", ".989 .001", ".999 .001"),
        "cs-SVM": _line(4.84e0, ".146 .031+", ".979 .001", ".998 .001"),
        "SVM-rank": _line(1.83e3, ".090 .045+", ".986 .000", ".999 .001"),
    },
    "spambase": {
        "TopPush": _line(1.51e-1, ".129 .077", ".922 .006", ".988 .001"),
        "LR": _line(3.11e-2, ".071 .053+", ".920 .010", ".987 .003"),
        "cs-SVM": _line(8.31e-2, ".069 .059+", ".907 .010+", ".980 .004+"),
        "SVM-rank": _line(2.31e1, ".069 .076+", ".931 .010", ".990 .003"),
        "SVM-MAP": _line(1.92e2, ".097 .069+", ".935 .014", ".984 .005"),
        "SVM-pAUC": _line(1.73e0, ".073 .058+", ".854 .024+", ".975 .007+"),
        "InfinitePush": _line(1.78e3, ".132 .087", ".920 .005", ".987 .002"),
    },
    "url": {
        "TopPush": _line(5.11e3, ".474 .046", ".986 .001", ".999 .001"),
        "LR": _line(8.98e3, ".362 .113+", ".993 .001-", ".999 .001"),
        "cs-SVM": _line(3.78e3, ".432 .069+", ".991 .002", ".998 .001"),
    },
    "w8a": {
        "TopPush": _line(7.35e0, ".226 .053", ".710 .019", ".938 .005"),
        "LR": _line(2.46e0, ".107 .093+", ".450 .374+", ".775 .221+"),
        "cs-SVM": _line(3.87e0, ".118 .105+", ".447 .372+", ".774 .220+"),
        "SVM-pAUC": _line(2.59e3, ".207 .046", ".673 .021+", ".929 .006+"),
    },
}

#: Figure 1: seconds by lambda at rows of 10^2, 10^2.5, ..., 10^5, read off to about 3 %.
FIGURE_1: dict[float, tuple[float, ...]] = {
    100.0: (4.8, 10.1, 17.6, 19.4, 24.0, 30.3, 44.9),
    10.0: (4.0, 6.6, 11.7, 16.4, 29.2, 55.4, 87.3),
    1.0: (6.3, 8.7, 17.2, 33.8, 37.8, 87.3, 170.0),
    0.1: (6.7, 10.2, 25.2, 39.2, 48.3, 88.4, 225.0),
    0.01: (8.2, 16.0, 37.8, 65.0, 96.4, 131.0, 310.0),
}
