"""Reports: what a comparison found, as JSON, as one offline page, as Markdown."""

from .report import Report, make

__all__ = ["Report", "make"]
