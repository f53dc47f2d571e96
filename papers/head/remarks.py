"""What the pages say in words."""

LEGEND = """Differences are in points (hundredths), as the mean over the sets of the means over the
splits; in round brackets the standard error over the sets; then sets better / equal / worse, equal
being within 0.2 points; then, in square brackets, how many sets are significantly better and worse
by the corrected resampled t test (three splits or more) after Holm's correction. Everything is
tuned by average precision (AP), three folds, one thread. pAUC .01 is the partial AUC up to a false
positive rate of one per cent, m the number of positives in the test part."""

COST = """CPU seconds of the fit and the scores of the test part, one thread, one split of each
set, the systems in turns, the least of two turns. Ratios are of those seconds. Tuned LightGBM has
17 settings and three folds, but a model with fewer trees is taken from one with more, so that a
fold is fitted four times, not seventeen; fitted one by one the settings would grow twice as many
trees."""

CAPACITY = """HeadRanker is given `capacity=200` and the length of the test list; the others are
tuned by average precision. One split each.

In the order of time the folds train on a quarter, a half and three quarters of the past. Fewer
rows call for a larger alpha: on bank such folds choose 0.035 for logistic regression on the
columns, random folds 0.004. On the test part the precision is .605 at the first and .625 at the
second, and between .625 and .640 at every smaller alpha. The positives grow from 6 to 22 per cent
from the past to what follows, which no fold can tell."""

GROWTH = """One split of each size. Every column is the best of a few settings on the test part, so
all of them are a little flattered, the trees as much as the rest.

With 40 000 rows, the most that was tried, a Nystroem of 2000 columns costs 12 to 21 seconds for
three alphas, its columns included, and gains half a point to one over 600. The trees stay ahead of
it: by 1.4 points on bank (which has 27 126 rows), 7.8 on covtype, 1.0 on ijcnn1. RankBoost's stumps
are 5 to 20 points behind. So the gap does not close: neither is in the race of HeadRanker by
default, and the trees are."""

TABLES = """## In words

Up to 6000 training rows the run is whole: five splits of twenty-two tables. With up to 40 000 rows
it was cut short: one split of seven tables, so that nothing is tested there.

* **`HeadRanker()` is not significantly behind tuned LightGBM on any set**, by any of the four
  measures, and its means are at or above LightGBM's. Both were aimed at. No single set is
  significantly ahead either, and the means over sets are ahead by about two standard errors at
  the most. Where it is behind by more than half a point of AP, on hypothyroid, abalone19 and
  sick-euthyroid, the test parts have 13 to 117 positives.
* It chooses a blend of trees and a linear score on four splits of five.
* **Without trees** it is a point of AP behind tuned LightGBM, and seven ahead of logistic
  regression. The aims were within 1.5, and 6. It is significantly behind on three sets by AP.
* **The fast candidates** cost as much as logistic regression, and gain a point of AP over it.
* [cost.md](cost.md) compares the seconds, measured in turns. Those in the tables here are of runs
  at different times on a machine that others used: read them to a factor of 1.5.

The studies before this one had trees ahead of linear scores by 1.1 (0.5) points of AP, blends ahead
of trees by 0.5 (0.2), and linear scores on good features ahead of logistic regression by 8.5 (2.7),
on other sets and with other folds. Here it is 1.0, 0.4 and 7.0: the same. One thing differs: in
those studies other losses on the winning features were compared in all folds. Here one that does
not lead in the first fold is dropped; what that alone costs was not measured."""
