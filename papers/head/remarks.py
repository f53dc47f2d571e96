"""What the pages say in words."""

LEGEND = """Every system is tuned by average precision (AP) with three folds and runs on one
thread. pAUC .01 is the partial AUC up to a false positive rate of 1 %. Bank is split in time order:
train before a cut, test on the next 8 % of the rows. Its folds follow time too. The other sets are
split at random.

Differences are in points (hundredths): the mean over the sets of the mean over the splits. In round
brackets follows the standard error over the sets. Then come the sets better / equal / worse, where
equal means within 0.2 points. Square brackets hold the numbers of sets significantly better and
worse, by the corrected resampled t test (three splits or more) after Holm's correction. Two systems
are compared on the splits that both have.

Settings of HeadRanker were chosen on the sets with a star. The judged sets are all others.
AutoGluon (`best_quality`, 120 s) and FLAML (30 s) ran on two splits of twelve sets. CPU seconds
cover the fit and the scores of the test part. The machine also did other work: read the seconds to
a factor of 1.5. The aims are multiples of tuned LightGBM's seconds, in the median."""

CHOICES = """The share of the splits in which a candidate was chosen, alone or as a member of an
ensemble. In brackets follows its mean weight there; alone it is 1."""

FEWER_SPLITS = """Means over the splits. In brackets follows the number of splits of a system if
it was not measured on all of them: compare it by the differences above."""

HANDBOOK_LEGEND = """Protocol of the *Fraud Detection Handbook* on its simulated transactions: train
on seven days, skip seven, test on seven. Customers known to be compromised are removed from the
test days. CP@100 is the share of compromised customers among the first 100 customers of a day, in
the mean over the days. Day 94 is 2018-07-04, and day 115 is 2018-07-25, where the handbook begins.

Every system is tuned by average precision (AP) with three folds in time order and runs on one
thread. AutoGluon (`best_quality`, 120 s) uses random folds. Settings of HeadRanker were chosen on
day 94. The judged weeks are all others."""

SCALE = """Each fit is in a process of its own, on one thread. Peak memory is that of the whole
process, the table and imports included. The aims are 4 times the table plus 600 MB, and CPU seconds
for two of the sizes. Tuned LightGBM has eight settings and three folds. The earlier version is
HeadRanker of commit c932551, before case-control bins and rows. Each version has its defaults: five
folds then, three now."""

CAPACITY = """HeadRanker is given `capacity=200` and the length of the test list; the others are
tuned by average precision. One split each.

In the order of time HeadRanker is given the times of the rows. The positives grow from 6 to 22 per
cent from the past to what follows, which no fold can show."""

GROWTH = """One split of each size. Every column is the best of a few settings on the test part, so
all of them are a little flattered, the trees as much as the rest.

With 40 000 rows, the most that was tried, a Nystroem of 2000 columns costs 12 to 21 seconds for
three alphas, its columns included, and gains half a point to one over 600. The trees stay ahead of
it: by 1.4 points on bank (which has 27 126 rows), 7.8 on covtype, 1.0 on ijcnn1. RankBoost's stumps
are 5 to 20 points behind. So the gap does not close: neither is in the race of HeadRanker by
default, and the trees are."""
