"""What the pages say in words."""

HEAD = """
Made by `python papers/toppush/run.py table2`. A trial trains on 2/3 of the rows and tests on
the rest, stratified by class. Lambda, and the second parameter of those that have one, are
chosen on the training part by five folds' mean of positives at the top (the largest lambda of
equals). Exact systems choose from 10^2, 10^1, ..., 10^-6; the paper does not say what it chose
from. Tied rows count by the mean over their orders, and a positive that ties with the highest
negative is not at the top. {fits} fits took {minutes} minutes of CPU on one thread each, on a
machine busy with other work, which may have doubled them.
"""

#: What each system is here.
MEANT = {
    "TopPush": "solved to a relative gap of 1e-4, with a certificate",
    "TopPush, printed rule": "Algorithm 1, ended by its line 7: a change of g below 1e-4",
    "TopPush, authors' rule": "Algorithm 1, ended as in a program passed on as the authors' own: "
    "a relative change of 1e-4 from the tenth step on",
    "LR": "LIBLINEAR by scikit-learn, C = 1 / (lambda N)",
    "cs-SVM": "the same with the squared hinge; an error on a positive costs 0.1, 1 or 10 times "
    "one on a negative, which is chosen too",
    "SVM-rank": "RankSVM with the hinge, all pairs",
    "SVM-MAP": "SVMMAP to a gap of 1e-2",
    "SVM-pAUC": "SVMpAUC, tight, false positive rates 0 to 1/n, to a gap of 1e-2",
    "InfinitePush": "with the hinge, by m + n dual variables instead of mn",
    "AATP": "by alternating thresholds; its top has room for 0.1 or 0.5 of the positives, which is "
    "chosen too: the paper does not give its tau",
}

REDUCED = """
The paper has 30 trials throughout; the tables say how many there
are here. On news20-forsale, nsl-kdd and w8a lambdas are 100 apart, not 10. So are those of the
two stopped forms of TopPush, which go down to 10^-4, and those of AATP; the stopped forms are
cut off after 1000 steps if their rule has not ended them. SVM-MAP, SVM-pAUC and AATP learn from
3000 rows of the three large sets. `--trials 30` lifts all of this.
"""

BESIDE = """
Mean and standard deviation over trials, the paper's in italics. • : TopPush, exact, is
significantly better by the paper's paired t-test at 0.9 over the trials that both have; ◦ :
worse. In the paper's columns the marks are the paper's, for its TopPush. With two or three
trials a mark says little, and none less.
"""

VERDICTS = """
Sets on which the TopPush of the row is significantly better / neither / worse than the system
of the column, by paired t-tests at 0.9. Sets where they share one trial are not counted.
"""

NEAR = """
Mean distance of our mean to the printed one, and in brackets the mean difference, ours less
theirs. All three forms of TopPush are held against the paper's TopPush. news20-forsale is
another copy and not counted; a set that the paper has no figures of for a system is not either.
"""

SECONDS = """
CPU seconds of a cold fit on all rows with the parameters that most trials chose, the least of a
few, and in brackets how many times TopPush's. A star marks a fit on 3000 rows. Parameters
differ from system to system, so a ratio compares what one would run, not solvers of one
problem. The paper's seconds are of other programs on another machine: only its ratios compare.
"""

WORK = """
The median lambda chosen and its range; the second parameters chosen; how many of the last fits
were trivial (the same score for every row); fits that stopped short of their tolerance, or were
cut off.
"""

HOLDS = ""

FIGURE = """
Made by `python papers/toppush/run.py figure1`. url could not be had. The rows are made by
`make_sparse_text_like`, with the columns of url (3 231 961), its nonzeros a row (115) and its
share of positives (one third): columns are as rare as words, rows have length 1. So the shape
is url's, the difficulty need not be. CPU seconds of one cold fit on one thread; "cut off" is
after 2000 steps. The paper's seconds are read off its figure, to about 3 %.
"""

FIGURE_HOLDS = ""
