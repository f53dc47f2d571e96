"""How many random examples the property tests draw: the profile's number, scaled by the test."""

from __future__ import annotations

from hypothesis import Phase, settings

#: What Hypothesis draws by default, and what `examples` counts in.
USUAL = 100

# The same examples in every run, so that a run of the tests can be repeated. More of them would
# show the same again tomorrow: fresh ones are the business of `make fuzz`.
settings.register_profile(
    "repeatable", derandomize=True, database=None, deadline=None, max_examples=2 * USUAL // 5
)
# Those of `repeatable`, for who asks only whether one of them fails: it is not made smaller.
settings.register_profile(
    "first-failure", settings.get_profile("repeatable"), phases=[Phase.explicit, Phase.generate]
)
# Other examples in every run, and ten times as many. A failure prints how to repeat it.
settings.register_profile("fuzz", deadline=None, print_blob=True, max_examples=10 * USUAL)


def examples(number: int) -> settings:
    """Settings of a test that draws `number` examples where others draw a hundred."""
    return settings(max_examples=max(1, number * settings().max_examples // USUAL))
