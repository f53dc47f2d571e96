"""
A fraud table, end to end
=========================

A table of payments with categories, a date and gaps, a label, and room to look at 100 payments of
the next 5000. The way from there to the list, with a promise of how many on it are real.
"""

# %%
# The table
# ---------
#
# The payments are made up. Fraud is rare, more frequent at night, abroad and for new accounts, and
# often of another size than usual.

import numpy as np
import pandas as pd

from toprank import HeadRanker
from toprank.plots import TopCurveDisplay, WhyDisplay

rng = np.random.default_rng(0)
n = 20_000
payments = pd.DataFrame(
    {
        "amount": rng.lognormal(4, 1, n).round(2),
        "account_age": rng.exponential(400, n).round(),
        "country": rng.choice(["AT", "DE", "FR", "PL", "US"], n, p=[0.4, 0.3, 0.15, 0.1, 0.05]),
        "channel": rng.choice(["app", "web", "phone"], n),
        "time": pd.Timestamp("2025-01-01") + pd.to_timedelta(rng.integers(0, 200 * 1440, n), "min"),
    }
)
risk = (
    2.0 * (payments["time"].dt.hour < 6)
    + 1.5 * payments["country"].isin(["US", "PL"])
    + 2.0 * (payments["account_age"] < 30)
    + 1.2 * np.abs(np.log(payments["amount"]) - 4)
)
fraud = (risk + rng.logistic(size=n) > 7.5).astype(int).to_numpy()
payments.loc[rng.random(n) < 0.1, "account_age"] = np.nan
old, new = payments[:15_000], payments[15_000:]
print(f"{fraud.mean():.1%} of the payments are fraud")
old.head()

# %%
# The ranker
# ----------
#
# :class:`~toprank.HeadRanker` takes the raw table. Feature sets, losses and boosted trees race
# for what counts: the payments that can be looked at.

ranker = HeadRanker(
    capacity=100,
    list_size=len(new),
    candidates=["columns", "squashed", "bins"],
    cv=3,
    random_state=0,
).fit(old, fraud[:15_000])
print(ranker.why_)
ranker.leaderboard_[["candidate", "mean", "error", "chosen"]].round(4)

# %%
# The list, and what is promised of it
# ------------------------------------
#
# Nobody knows the labels of new payments. From those of the fit it can still be said how many of
# the list are fraud, at the least.

promised = ranker.promise(new)
print(promised.text)

head = new.iloc[promised.rows]
listed = head.assign(score=ranker.decision_function(head))
listed.head()

# %%
# Why these payments
# ------------------

WhyDisplay.from_estimator(ranker, new, k=10, n_features=5)

# %%
# In the end
# ----------
#
# Here the labels are known, so that we may look.

print(f"{fraud[15_000:][promised.rows].sum()} of {len(promised.rows)} are fraud")
TopCurveDisplay.from_estimator(ranker, new, fraud[15_000:])
