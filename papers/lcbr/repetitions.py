"""How often every experiment is repeated."""

from __future__ import annotations

from argparse import Namespace

from common.study import Argument, at_least

#: The paper's number.
USUAL = 50
REPETITIONS = Argument(
    "--repetitions", type=at_least(1), help=f"{USUAL}, as in the paper, or 2 if quick"
)


def repetitions_of(args: Namespace) -> int:
    """As many as asked for, or two if it is to be quick, or the paper's number."""
    return args.repetitions or (2 if args.quick else USUAL)
