"""The look of the figures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

STYLE = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "svg.hashsalt": "toprank",  # the same file from the same numbers
    "svg.fonttype": "none",
}


@contextmanager
def drawn(path: Path, size: tuple[float, float], style: dict[str, Any]) -> Iterator[Figure]:
    """A figure to draw on, saved as SVG and PNG in the end; `style` is beside the common look."""
    with mpl.rc_context({**STYLE, **style}):
        figure = Figure(figsize=size, layout="constrained")
        yield figure
        figure.savefig(path.with_suffix(".svg"), metadata={"Date": None})
        figure.savefig(path.with_suffix(".png"), dpi=110)
