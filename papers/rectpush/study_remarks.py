"""What study.md says in words."""

HEAD = """
Made by `python papers/rectpush/run.py study`. Means over random splits 2:1, stratified by class
(the paper does not say), with standard errors; lambda from {powers}, by the mean average precision
of {folds} stratified folds of the training part, the largest of the best; seed {seed}. Columns have
unit deviation, then all rows are divided by the length of the longest, both over the whole set; the
paper says only "normalised so that |x| <= 1". RectPushApp has p = {p}; the paper does not give its
p. DCG is divided by the number of positives. Tied rows count by the mean over their orders.

Three rows are not in the paper's table. The early stopped ones solve TopPush and RectPush by the
procedure the papers describe, accelerated gradient steps on the dual, ended by the rule of the
TopPush authors' program: from the tenth step on at a relative change of the dual objective of 1e-4,
or after {steps} steps (the RectPush paper speaks of norms of gradients and gives no threshold).
They start cold, and choose from powers of two {coarse} apart, up to {coarse}, because they take
longer than all the others together; on the larger sets they have fewer splits. "Logistic, longer
grid" may choose a lambda down to 2^-35. None of the three takes part in the ranks, except
where the table says so.
"""

REMARKS = """
These are remarks on the run that is kept in the repository, all rows of one run. The early stopped
rows have ten splits of german, abalone, spambase and magic, three of w8a and one of the five other
sets, where by the authors' rule a fit takes up to 2500 steps at the smallest lambda.

TopPush's unfinished fits, save those of spambase, are at lambdas of 2^9 and more. Rounding hid
what there is to gain over w = 0 from the version that ran; later ones look for it at a smaller
lambda. On covtype-binary and magic w = 0 is the optimum; elsewhere such lambdas are never chosen.

Four of the paper's fourteen sets are not at hand: activity, real-sim, kddcup98 and kddcup04.

**Exact TopPush is trivial on five of ten sets.** On german, abalone, magic, covtype-binary and
ijcnn1 w = 0 is optimal for every lambda, fold and split; all rows tie, and AUC is one half. This
is what the paper's theory says of noisy data, and its Table 4 shows nothing of it: there TopPush
has AUCs of .73 to .93 on those sets. Stopped early it has such figures here too: an AP of .585 on
german, the paper's .606; .031 on abalone, .036; .902 on magic, .900. Where the optimum is not
trivial Table 4 can have the optimum: w8a (AP .696, the paper's .698) and nsl-kdd. spambase is in
between: .891 at the optimum, .911 stopped, .920 printed. Over the nine sets that are the paper's
own, TopPush's AP is .19 from the printed one at the optimum, and .012 stopped early.

**RectPush's row looks like unfinished steps as well.** Solved to a gap of 1e-4, RectPush has a
lower AP than printed on every set that is the paper's own, save skin, where they agree: by .03 on
average, by .08 on covtype-binary. Stopped early it is nearer: .010 away on average over the nine
sets, against .026. **Which rule the paper had cannot be told.** By another, the
absolute change of 1e-4 that the TopPush paper prints, cut off after 400 steps, a run of the four
small sets had RectPush .004 from the paper's AP and TopPush .012; by the authors' rule they are
.008 and .009 there. An early stop is a regularisation that no lambda of the grid offers: the hard
constraint, by which one outlying negative counts for all, has hardly been felt yet.

**Logistic regression was held back by the grid.** After the division by the longest row 2^-20 is
not small: logistic regression chooses the end of the grid on all or nearly all splits of seven
sets. Allowed lambdas down to 2^-35 it gains .057 of AP on covtype-binary, .037 on w8a and .009 on
nsl-kdd, and has the best average rank by AP, 1.40, before RectPushApp's 1.85. In the paper it has
the worst AP, 3.21; here it comes second even on the paper's grid, 1.90, because exact TopPush and
RectPush are worse than printed, and because it is better than printed on covtype-binary and w8a,
by .04 and .08. Why that is so is not known. AP rises steeply there as lambda falls, so that a
factor in what lambda multiplies, or a minimisation that stopped, would show.

**RectPushApp's row reproduces.** Its AUC is within .004 of the paper's on average, and it is the
best of the four by AUC, DCG and AP, here as there. But by AP and DCG the only method it beats
significantly here is TopPush, the trivial score on half of the sets. Its AP is below the paper's
on covtype-binary and w8a. A larger p comes nearer there, and no p is near everywhere: with p = 64
for 4 the AP of the first split goes from .613 to .646 on covtype-binary and from .723 to .766 on
w8a, but from .940 to .936 on spambase and from .611 to .608 on german (`study --p 64 --splits 1
--sets german,spambase,covtype-binary,w8a`).

**Significance.** From Table 4 alone, ties sharing their ranks, Friedman's test says what the
paper says: significant except for ARR and Prec@10. To the paper's list Holm's test adds
RectPushApp over Logistic by AUC and over TopPush by DCG, both narrowly, and RectPush over
Logistic by PTop. With TopPush and RectPush stopped early, our figures on ten sets show a
difference by AUC alone.

**PTop hangs on one negative row.** Ours and the paper's differ by .1 and more on w8a and nsl-kdd,
in both directions.

**Scaling and classes.** A trial apart from this command, at lambda 2^-18: logistic regression on
covtype-binary has AP .56 scaled as here, .42 with raw columns over the longest row, .62 with
standardised rows of length 1 and .65 with columns from 0 to 1 over the longest row; the paper has
.55. On spambase the AUCs are .965, .782, .977 and .969, and the paper's is .966. The positive
classes follow from AP and DCG, which together tell how many rows are positive. news20-forsale is
another copy, in tf-idf, and nothing there compares.

**Times.** A cold fit to a certified gap takes .001 to .14 s; by the published procedure, stopped
early, up to 22 s. The paper's took up to 61 s, on a machine of its day.
"""
