"""How often every experiment is repeated."""

from __future__ import annotations

from argparse import Namespace

from common.study import Argument, at_least

REPETITIONS = Argument(
    "--repetitions", type=at_least(1), help="50 for made-up data; at most 20 for real ones"
)


def repetitions_of(args: Namespace, usual: int = 50) -> int:
    """As many as asked for, or two if it is to be quick, or the usual number."""
    return args.repetitions or (2 if args.quick else usual)
