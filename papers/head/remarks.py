"""What the pages say in words."""

LEGEND = """Differences are in points (hundredths), as the mean over the sets of the means over the
splits; in round brackets the standard error over the sets; then sets better / equal / worse, equal
being within 0.2 points; then, in square brackets, how many sets are significantly better and worse
by the corrected resampled t test (three splits or more) after Holm's correction. Everything is
tuned by average precision (AP), three folds, one thread. pAUC .01 is the partial AUC up to a false
positive rate of one per cent, m the number of positives in the test part."""

CAPACITY = """HeadRanker is given `capacity=200` and the length of the test list; the others are
tuned by average precision. One split each."""

GROWTH = """One split of each size. Every column is the best of a few settings on the test part, so
all of them are a little flattered, the trees as much as the rest."""

TABLES = ""
