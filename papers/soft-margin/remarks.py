"""What the pages say in words."""

HEURISTIC = """
Made by `python papers/soft-margin/run.py heuristic`. 1000 rows with 5% noise, k = 30, epsilon = .2,
rankers and weights as in Table 1. The paper does not say which data its figures show, and the copy
at hand has their captions only.

In Figure 2 the left panel has the cap of a positive's weight in (7), 1 / nu+, and the tangents that
(9) has in its place: they are below it, so that what (9) allows (7) allows. The right panel has
what follows: the optimum of (9) is nowhere below that of (7), touches it at nu_c, and is least at
the next nu+.
"""

HEURISTIC_HOLDS = """
* **Reproduced:** the optimum of (7) is not convex in nu+, and every round of (9) and (7) lowers it.
  On these three sets it has one minimum only, and the rounds end there, where a search ends too.
  That is not so on all data: small sets often have several minima.
* **What the rounds find is not gamma\\*.** "If we optimize nu+, we obtain the minimum of problem
  (6), that is [...] gamma\\*", says the paper; (6) allows product distributions only, and its least
  value is 1.3 to 1.7 times LP-Pair's here.
* A lower optimum of (7) is a closer bound of LP-Pair's. It need not rank better: the tables have
  Corollary 4 beside the rounds.
"""

ARTIFICIAL = """
Made by `python papers/soft-margin/run.py artificial`. 1000 rows of 100 Boolean variables, k = 30;
the base rankers are the variables and a constant, and the weights of both linear programs are
not negative, as in the paper. {folds} of five stratified folds, at most three where the classes are
unequal and the noise is 10% or 15%; one data set a line. Test labels have noise too.

The paper's figure is in italics, then ours. Those of LP-Pair, the reduction and SoftRankBoost
are at the best epsilon of .05, .1, ..., .3, chosen on the same folds: optimistic, and most
likely what the paper did, which does not say. "Reduction" has the nu+ of the paper's rounds of (9)
and (7), from that of Corollary 4; "Corollary 4" stays there, at sqrt(epsilon) p. SoftRankBoost is a
reconstruction, with 2000 rounds at most.

"Best" is what the best of all scores can have in the mean: noise is independent of the rows, so
that no score ranks noisy labels better than the label before noise does. "Label" is the AUC of
that in this draw. **!** marks a figure of the paper's that is more than three standard deviations
above the best.
"""

RULES = """
In each cell the paper's figure; ours with ties counted one half; ours with ties counted as pairs
in order; and the same among the epsilons that gave no constant score; each at its own best epsilon
of the paper's. A score that is the same for all rows has an AUC of .5 by the first rule and of 1
by the second. Solid lines in the figure count one half, dashed ones count all; the dotted ones are
the paper's.
"""

TRIVIAL = """
The share of folds in which every test row has the same score, for epsilon = .05, .1, .15, .2, .25
and .3, and for LP-Pair .5. Where the worst pairs, a share epsilon of all, have no positive mean
margin by any weights, all weight is on the constant. That is so wherever epsilon is not well above
the share of pairs that noise has turned round or made uninformative.
"""

SHORT = """
Fits that ended before they had reached the tolerance that was asked for, or had used up their
rounds. They count in the tables like the others.
"""

CLEAN = """
AUC of the same fits on the same test rows against labels without noise, each at its best setting.
"""

ARTIFICIAL_HOLDS = """
* **Not to be had: the paper's figures for r = 1.** Its method has .9818, .994 and 1.0 where noise
  leaves .950, .900 and .850 to the best of all scores, and .9624 and .9431 where it leaves .935
  and .837; its LP-Pair has .9745 for .950. Ours, ties counted one half, have what noise leaves.
* **Ties counted as pairs in order explain most of them.** At 15% the optimum is trivial in every
  fold up to epsilon = .1, and its AUC is 1 by that rule, as printed. At 10% and at 9:1 it is
  trivial at the smallest epsilons; .994 and .9431 are means such as some trivial folds would give.
  At 5% nothing need be trivial: at r = 1 negatives have none of the k variables on, good weights
  are all but equal, and many scores tie. Counted as in order they give .972 here; five more draws
  (`--seed 1` to `5`) have .972 to .981 for LP-Pair and Corollary 4, where the paper has .9745
  and .9818.
* **Not all fits.** At epsilon = .05 LP-Pair is trivial on every data set here. By that rule, at the
  best epsilon, it would have 1.0 on every line, and the paper has not. So its epsilon was not the
  best by that rule, or its solver left a trace of other weights. Without the authors' program
  this cannot be settled.
* **Reproduced:** LP-Pair and the reduction at r = 8 and 15, as far as one draw tells. At 10% they
  are within .009 of the printed figures. At 5% ours are lower by .013 to .027, which is what draws
  differ by: the five more draws have .938 to .957 for LP-Pair at r = 8 and .929 to .951 at r = 15,
  where the paper has .9564 and .952. 7:3 at 5% is within .018.
* **LP-Pair at 15% noise** is trivial on the paper's whole grid at r = 15, and in most folds at
  r = 8, where the paper has .857 and .861; at epsilon = .5 it has .822 and .832. That the reduction
  seems better there is the grid's doing: at epsilon it works like LP-Pair at a larger one. This
  answers the paper's last question, why its method sometimes beats LP-Pair.
* **"Higher AUCs than the other algorithms for almost all data sets"**: with ties counted one half
  LP-Pair at .5, the reduction and Corollary 4 are within .013 of each other on all lines of Table
  1, and none is ahead throughout. RankBoost is behind, as in the paper, by .02 to .05: it goes on
  to the minimum of its loss, and noise is in that. Against labels without noise the soft margins
  have .954 to 1.0.
* **SoftRankBoost** of the paper is far lower at r = 1 (.7391, .7442, .7661) and higher at 15%. Ours
  is about as good as the linear programs; but it is a reconstruction.
* **Table 2 was most likely made with 5% noise**, the first of the three in its caption: RankBoost,
  which hardly ever ties, is within .04 of it there. With 10% it is .03 to .1 lower, and on average
  over the three noises .04 to .1.
"""

UCI = """
Made by `python papers/soft-margin/run.py uci`. Five stratified folds; ties count one half.
The base rankers of the first four methods are the features, scaled to [-1, 1] on the training
rows, with weights of either sign; "stumps" are all decision stumps. The paper does not say what
its rankers are, and has 43 of them on hypothyroid, where the copy at hand has 25 columns. Its
figures in italics, then ours at the best setting, chosen on the same folds.

The reduction has the nu+ of the paper's rounds of (9) and (7), "Corollary 4" that of the
corollary; with stumps only the corollary's was run. SoftRankBoost is a reconstruction, with 2000
rounds at most.
"""

UCI_TIES = """
The paper's figure, then ours by either rule, each at its own best epsilon; and the share of folds
with a constant score at epsilon = .05, .1, ..., .3 and .5 (LP-Pair), .05, .1, .2, .3 (reduction),
.05, .1, .3 (stumps).
"""

UCI_HOLD = """
* **The perfect figures are not reproduced.** The paper has an AUC of 1.0 six times. No method here
  reaches it, with features or with stumps, when ties count one half.
* **With ties counted as pairs in order, LP-Pair's 1.0 on sick-euthyroid and spambase come out as
  printed:** at epsilon = .05 the optimum is trivial in every fold, all rows have the same score,
  and every pair is a tie. By the other rule such a score has .5, and the best epsilon gives .958
  and .971.
* **The reduction is never trivial in every fold** with features, so its 1.0 do not come out that
  way. By stumps at a large epsilon few rankers get a weight and ties are many: counted as in order
  they lift it from .962 to .988 on ionosphere, where the paper has .9865, from .993 to .997 on
  hypothyroid and from .966 to .996 on sick-euthyroid, where it has 1.0. So its rankers may have
  been stumps, or features of few values, and its ties counted so. This is likely, not proved: the
  authors' program is not at hand. kr-vs-kp, where it has 1.0 for LP-Pair, is not explained:
  .993 by either rule.
* **Ionosphere, LP-Pair .9768:** .918 with features, .962 with stumps.
* **RankBoost** is better here than printed on hypothyroid, kr-vs-kp (.994 for .871) and spambase
  (.969 for .872), and worse on ionosphere. That its AUC on spambase falls to .735 with 10 000
  rounds is not seen; more rounds change nothing here. Perhaps its rankers were others, or fewer.
* **"Our method achieves high AUCs for all data sets"**: yes, but not higher than LP-Pair, nor than
  RankBoost with stumps. With the honest rule LP-Pair is ahead of the reduction on four of five
  sets, by up to .011, and stumps are ahead of features on all but kr-vs-kp, whose features are
  stumps.
* **The rounds for nu+ do not always pay:** beside Corollary 4 they gain .029 on kr-vs-kp and .004
  on sick-euthyroid, and lose .025 on ionosphere; on the other two the figures agree to .0005.
* The five fits that stopped short are LP-Pair's on kr-vs-kp at epsilon = .5, which the paper did
  not try and which the first table leaves out.
"""

REUTERS = """
Made by `python papers/soft-margin/run.py reuters`. A base ranker a word: is it in the article, or
is it not; of both signs. 12 902 articles and 19 425 words at hand, 10 710 articles and 30 838
words in the paper, so that the sets are not the same. Five stratified folds, ties count one half,
the best epsilon of .05, .1, .2, .3 on the same folds; SoftRankBoost with ties counted one half, and
as pairs in order. RankBoost has 1000 rounds at most, where the
paper goes on to 10 000. LP-Pair and the reduction are fitted to a relative gap of 1e-2 over all
words. The paper has no LP-Pair here.

The reduction has the nu+ of the paper's rounds of (9) and (7), "Corollary 4" that of the
corollary; SoftRankBoost has 2000 rounds at most.
"""

REUTERS_HOLD = """
* **Reproduced in part:** the reduction is ahead of RankBoost with 1000 rounds on acq, money-fx and
  trade, behind it on crude and earn; the paper has it ahead on all five. RankBoost with 100 rounds
  is ahead of the reduction on three. The rounds for nu+ gain up to .0035 over Corollary 4 (earn),
  and nothing on acq and crude.
* **All of our figures are higher than the paper's**, RankBoost's by .036 to .072, but for its
  SoftRankBoost on crude and earn. More articles, words in titles, and other words may be why.
* **SoftRankBoost .9944 and .9952**, far ahead of all others on crude and earn, are not reproduced
  with ties counted one half: the reconstruction has .966 and .983. It stops after a few words, so
  that most articles have the same score. With ties counted as pairs in order it has .996 and
  .992: the rule for ties may be what put it ahead. On trade, where the paper has .9281, that rule
  would give .996.
* **LP-Pair**, which the paper did not run here, is the best on four of five topics, and .0004
  behind RankBoost on earn. All pairs are not too many: 35 million on earn.
"""

TIMES = """
Made by `python papers/soft-margin/run.py times`. k = 10, r = 3, noise 5%, epsilon = .2, weights
not negative, a constant ranker, as in the paper. CPU seconds on one thread, to a relative gap of
1e-6; the paper's, in italics, are those of another machine, of 2011. "paper" are the paper's rounds
for nu+, "search" looks for the least optimum in another way, "corollary" is Corollary 4.
"""

ONE_FIT = """
To all rows. "HiGHS, all pairs" is SciPy's `linprog` on (3) with every pair a variable, "HiGHS, (7)"
on the reduction at the nu+ of Corollary 4; the time includes setting them up. Dotted lines in the
figure are a fifth of the paper's cross-validation.
"""

TIMES_HOLD = """
* **The premise no longer holds.** The paper reduces the problem because all pairs are too many for
  a linear program: with them listed, time grows faster than the square of the rows, in the paper
  as with HiGHS here. Without listing them five-fold cross-validation of LP-Pair takes {cv} s at
  1500 rows, where the paper's took 1353 s, {at_1500} times as long, on a machine of its day. At 500
  rows one fit is {pairs} times faster than HiGHS on the same program in the same run, with the same
  value.
* **So the reduction is not needed for speed.** With the nu+ of Corollary 4 it is faster than
  LP-Pair; with the paper's rounds for nu+, which its figures had, cross-validation takes {beside}
  times as long as LP-Pair's at 1500 rows, and LP-Pair is exact. (These rounds solve (9) by one
  solve of (7) after the other, and are not made for speed.) At Corollary 4 the reduction's optimum
  is 1.3 to 2.8 times LP-Pair's: a bound from above, not a close one.
* **On to 100 000 rows:** a row takes {rate} times as long as at 10 000. HiGHS on the reduction's
  program takes {reduced} times as long as the interior-point method here at 20 000 rows.
* Reproduced: the order of the paper's two columns with programs of the kind it used.
"""
