"""What the pages say in words."""

PANELS = """
Phi-risk / AUC, means of {times} repetitions. 1000 rows of each class, 10 features (the paper does
not say how many), the length of w at most 1000. Risks and AUCs are those of the distribution,
computed exactly; how far the likelihood ratio is ahead is from 4000 new rows a repetition.
"""

PANEL_TIMES = """
Milliseconds to sum first and second moments, on one thread, by the same kernel, the best of
several; the last two columns are ratios.
"""

PANELS_HOLD = """
The paper says that BBR is very close to the optimal ranker, that LCBR "catches on with S = 3000
at most", and that it is "roughly 100 times faster than BBR when S = 5000". It has curves, no
numbers.

**Reproduced:** both curves. BBR is within {bbr:.4f} of the best AUC, LCBR with 3000 pairs within
{lcbr:.4f} of BBR. More components and a larger sigma are harder.

**Not what it seems:** the speed. The loop over a million pairs is indeed slower than LCBR by the
factor above. But BBR needs no loop over pairs: the means and covariances of the classes give the
same problem exactly. That is one pass over 2000 rows, and 5000 pairs are more work than that.
Summed by the same compiled kernel, LCBR takes {slower:.1f} times as long as BBR, whose answer is
better.

**Matched** draws, where every row comes up equally often, are not in the paper. They close most
of what is left between LCBR and BBR.
"""

SKEW = """
AUC of the distribution, means of {times} repetitions; K = 2, sigma = 3, 10 features, 2000 rows, S
= 5000 independent pairs.
"""

SKEW_HOLDS = """
**Reproduced:** "as rho deviates from 0.5 the generalization of both algorithms get worse", and
"the performance of BBR and LCBR are once again close". With a share of .01 there are twenty
positives. LCBR draws 5000 pairs from 2000 rows, so that it has nothing over BBR but noise.
"""

FEATURES = """
{rows} rows of each class, {d} features of a row; relative excess of the mean square loss over all
640 000 pairs, means over the repetitions. "bounded": differences divided by one plus their
length, and tanh of differences, {width} features. Times are those of the whole fit, the best of
the repetitions, in milliseconds; the last column is what all pairs take, block by block, in
multiples of it.
"""

FEATURES_HOLD = """
For "bounded" no moments of the classes give the answer: all pairs must be visited, or some of
them. The relative excess over all pairs follows the rule d / (S - d - 1), and matched draws do
better than it. The rule asks for {rule} pairs for 1%, which is what `n_pairs="auto"` takes.

For plain differences the table shows what matched draws gain there; but there BBR is exact, at
the price of {rows} pairs.
"""

SETS = """
Test AUC after 10%, 40% and all of the training rows, and in brackets its standard deviation over
the repetitions at the last. LCBR and PGD take as many pairs as that is rows, BBR all pairs of
these rows, the online methods one pass over them. Columns of german and svmguide3 go from -1 to
1, and all rows have length one. Settings are chosen, for every share, on a fifth of the training
rows that is kept back; those of the ridge classifier are its defaults.
"""

SETS_HOLD = """
The paper: "For the A9A dataset all algorithms have good generalization, with an AUC of
approximately 90%. For the GERMAN and SVMGUIDE3 datasets, on the other hand, there is a
significant gap between LCBR and the SGD-based competitiors." It has curves, no numbers. Below,
behind and ahead mean by more than the standard deviation over the repetitions, .005 at the least.
"""

SETS_DIFFER = """
a9a has its official test set. german comes as one file, and the test file of svmguide3 has 41
rows, all of them positive, on which no AUC is defined: so both are cut at random, 80 to 20. The
paper says that it used the test sets provided. Repetitions, 50 in the paper, are in the table's
head.

Which method it calls PGD cannot be told from the copy at hand, whose references are cut off; here
it is projected stochastic descent on random pairs. LCBR and PGD draw independent pairs from all
training rows: S pairs see up to 2 S rows, where BBR and the online methods see S of them. That
helps LCBR at the smallest share.
"""
