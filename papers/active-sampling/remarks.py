"""What the pages say in words."""

HEAD = """
Made by `python papers/active-sampling/run.py compare`. C = 0.1, B = 8000, b = 100, gamma = 1,
pairs weighted as the paper prints it. A figure is the mean over folds, and then, for what hangs
on chance, the mean and deviation over initial pools (for CRR over draws). Folds are stratified
and shuffled; the paper does not say. ERankSVM is `RankSVM` on all pairs, CRR has its column of
ones as in sofia-ml. Every fit but CRR's ends within a certified relative gap of 1e-3.

"Total" is the total weight of the losses beside 1/2 |w|^2. The paper states C B = 800 for every
method, which is alpha = 1/800 here; its own figures of the sampled methods say 1600, see below.
So every method is run with both. Bold is the best of the paper's six methods in a row.

Shortened to stay within a quarter of an hour: covtype has one of its five folds, connect two;
both and mnist have five pools, rcv1 three.
"""

DISTANCES = """
The mean distance between our AUC and the printed one, in ten thousandths; in brackets the mean
of ours less the paper's.
"""

VERDICTS = """
Does soft-correct win, lose or tie, by one-sided t-tests at 95 % over the pools? In each cell:
ours with a total of 800 for all; ours with 1600 for the sampled methods and 800 for the others;
*what the same test says of the paper's printed means and deviations*, which over its 14 sets
gives just its Table 3. CRR's draws are taken for pools here; the paper has one figure of it.
"""

TIMES = """
Process seconds of one fit on one thread, the mean over folds and pools; sampled and hard
strategies with a total of 1600. They depend on the machine and on what else it did. The paper's
are another machine's, of 2013 or before, and other programs': only their order is worth
comparing.
"""

COMPARE = """
* **The sampled methods seem to have had twice the weight.** With a total of 1600 ours of Random,
  Soft-Close and Soft-Correct are the paper's: 2 ten thousandths apart on the eight sets whose
  rows are the paper's, on bank, ijcnn1, shuttle, mnist and a9a none more than 2. With the stated
  800 they are 9 apart, and Random and Soft-Close are too low on letter, bank, shuttle and covtype;
  only connect, ijcnn1 and mnist fit either. WSVM and ERankSVM fit at 800. Perhaps each pair went
  into the SVM in both orientations, as the paper counts pairs in its Table 1, and each with the
  whole weight. It shows in the paper alone: a random sample of pairs stands for all pairs, yet
  Random beats ERankSVM on 7 of its 14 sets. Here, with equal totals, it does so on one set of ten
  with 800 (rcv1) and on two with 1600 (rcv1, shuttle by .0001).
* **So part of the lead over ERankSVM is a larger C.** With 1600 for both, Soft-Correct is ahead
  on letter, bank and shuttle, behind on the other seven, on ijcnn1 by .0002.
  [findings.md](findings.md) shows that RankSVM on all pairs with a larger C still is as good or
  better everywhere.
* **a9a, ERankSVM .9047.** The certified optimum of the stated problem has a test AUC of .9025.
  Its training AUC is .9047: the printed value is most likely a training value.
* **letter, Soft-Correct .9874 with a deviation of .0123.** Ours is .9897 with .0000. A
  deviation that large, beside .0003 for the others, tells of a run that went astray.
* **The range of the columns** was 0 to 1 on letter, bank and covtype and -1 to 1 on shuttle, as
  WSVM and ERankSVM tell; [findings.md](findings.md) has both. The paper does not say.
* **ijcnn1 and mnist** agree: WSVM within .0006 and .0000, ERankSVM within .0003 and .0001, the
  sampled methods with 1600 within .0002 and .0001. Only CRR differs, by .0011 on both.
* **protein and rcv1** are parts of the paper's sets, so their figures are lower. On protein the
  methods that use the whole set lead, as in the paper. On 1500 documents of rcv1 it is another:
  less weight is better there for every method, WSVM and CRR lead, and 8000 pairs by
  Soft-Correct are the worst of all.
* **shuttle, ERankSVM .9876.** The certified optimum has .9888; we do not know why. WSVM and the
  sampled methods agree.
* **CRR** ends wherever its last steps leave it: on covtype five runs went from .810 to .819.
  The paper's single figures on its own sets are within .004 of our means.
* **Table 3** is much the same, but for rcv1, of which we have a part, for letter, where that
  one deviation makes ties of all five, and for connect.
* **The hard strategies**, whose AUC the paper does not give: Hard-Close is the best of all
  strategies on bank, connect and covtype. Hard-Correct, which learns from the worst outliers,
  is of no use.
* **Times.** Hard strategies cost 1 to 30 times the soft ones, not up to 2000 times: no pairs
  are enumerated. Soft-Correct is the slowest of the soft ones, as in the paper; the more pairs
  are in order, the more it has to reject. But RankSVM on all pairs takes 0.02 to 0.6 s: less
  than Soft-Correct everywhere but on rcv1 and covtype. What the paper avoids by sampling is no
  longer expensive.
"""

CURVES = """
Made by `python papers/active-sampling/run.py curves`. Sampled methods with a total weight of
1600 for 8000 pairs, in proportion for fewer, as the paper's figures imply; levels of the
methods that use the whole set with 800, from `compare`, on the same folds. Three folds at the
most, two pools.

Each point of Figure 1 is a run that ends there, solved to a relative gap of 1e-3. Within a run
all rounds but the last are one epoch of dual descent: good enough to steer the sampling, too
rough to be shown. In the paper every round is solved.

As in the paper, Soft-Correct is ahead from the first thousand pairs on letter, bank and
shuttle. On a9a, connect and mnist no strategy reaches RankSVM on all pairs with
8000 of them, on protein none of the methods that use the whole set. rcv1, in part only, falls
with more pairs: the total weight grows with them, and too much of it spoils so small a set.
"""

REJECTED = """
Pairs that plain rejection sampling has to propose and reject for each one it accepts, by the
acceptance rate of the round. As in the paper, Soft-Close rejects few, fewer than five but on mnist,
where it is 19, and Soft-Correct ever more. What is proposed here is less where rejection is
expensive: a sampler that draws in proportion to a bound takes over, and at 8000 pairs of rcv1 it
rejects 0.9 instead of 3600, on letter 0.1 instead of 91.
"""

GAMMA = """
Made by `python papers/active-sampling/run.py gamma`. ASCRC with a total weight of 1600; three
folds at the most, three pools. gamma is the chance that a proposal is a real pair; the rest are
points. "uniform" is mn / (mn + m + n), next to 1 on all sets. "paper" weights are as printed,
with gamma in the weights too; "rate" leaves gamma to the sampling and keeps the total.

* **Pairs are better than points** on all whole sets but mnist: gamma of 1 or nearly so is best, as
  in the paper. One of its best gammas is within .0005 of our best on each of them.
* **Points help where a point-wise SVM is no worse than a pair-wise one:** protein and rcv1
  here, and mnist, as in the paper's Figure 3. On mnist gamma = 0.1 to 0.5 has .9984 to .9987 with
  Soft-Close, where gamma = 1 has .9979, WSVM .9985 and ERankSVM .9982, and the broken line is as
  high; with Soft-Correct half of the gain is left there. On the other two, see the broken lines:
  with the total kept, most of what small gammas gain on protein, and with Soft-Correct on rcv1, is
  gone. These two have fewer points than 8000, so most of the pool are pairs whatever gamma is;
  as printed they then weigh little, and the total is a third of 1600 at gamma = 0.1, a half at
  0.5. On so few rows less weight is better.
* **Points hurt where one class is rare:** letter, ijcnn1, bank. They are not balanced, and
  there is no bias.
* **Bold** compares a total of 1600 with ERankSVM's 800, as the paper seems to do.
"""

WEIGHTINGS = """
Made by `python papers/active-sampling/run.py findings`. Test AUC with a total weight of 800.
"paper" is 1/p as printed, p the chance of being accepted; "rate" multiplies it by the
acceptance rate of the round, without which late rounds count more than early ones; "none" lets
all chosen pairs count the same.

The two corrections differ by at most .0006, on protein by .0017. No correction at all is better
for Soft-Close on six of ten sets: it favours pairs in doubt, which is much like a larger C.
For Soft-Correct it makes little difference.
"""

LARGER_C = """
RankSVM on all pairs with the total weight 800 times a factor, beside Soft-Correct with 800.
Soft-Correct never draws a pair that is in order by a margin, yet its weights sum to the same
total: pairs that violate the margin weigh more than in RankSVM. What it gains over RankSVM at
the same C, on letter, bank, ijcnn1, shuttle and covtype, a larger C on all pairs gains too, and
more.
"""

RANGES = """
WSVM and RankSVM on all pairs with a total weight of 800 and columns brought to either range,
beside the paper's figures. Neither needs chance, so they tell which range the paper had: 0 to 1
on letter, bank and covtype, -1 to 1 on shuttle. The study uses those. Without a bias WSVM is
far from indifferent to the range.
"""
