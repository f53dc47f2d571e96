"""Dates taken apart in a graph."""

from __future__ import annotations

from .errors import NotExportable
from .graph import Graph

_DAY = 86400.0


def date_parts(graph: Graph, name: str, wanted: list[str]) -> list[str]:
    """The parts of a date from its seconds since 1970, NaN where it is missing.

    Months by the calendar that begins in March, of which every 400 years have 146,097 days.
    """
    if wanted == ["days"]:
        raise NotExportable(f"column {name!r} holds spans of time, which cannot be exported.")
    seconds = graph.input(name, 1)

    def number(value: float) -> str:
        return graph.constant([value])

    def floor(table: str, by: float) -> str:
        return graph.add("Floor", graph.add("Div", table, number(by)))

    def rest(table: str, by: float) -> str:
        return graph.add("Sub", table, graph.add("Mul", floor(table, by), number(by)))

    def total(*terms: tuple[float, str]) -> str:
        parts = [graph.add("Mul", own, number(factor)) for factor, own in terms]
        found = parts[0]
        for part in parts[1:]:
            found = graph.add("Add", found, part)
        return found

    days = floor(seconds, _DAY)
    since = graph.add("Add", days, number(719468.0))  # of the first of March of the year 0
    of_era = rest(since, 146097.0)
    leaps = total(
        (1.0, of_era),
        (-1.0, floor(of_era, 1460.0)),
        (1.0, floor(of_era, 36524.0)),
        (-1.0, floor(of_era, 146096.0)),
    )
    year = floor(leaps, 365.0)
    of_year = total(
        (1.0, of_era), (-365.0, year), (-1.0, floor(year, 4.0)), (1.0, floor(year, 100.0))
    )
    # Months from March on have 153 days in every five.
    from_march = floor(graph.add("Add", total((5.0, of_year)), number(2.0)), 153.0)
    begins = floor(graph.add("Add", total((153.0, from_march)), number(2.0)), 5.0)
    day = graph.add("Add", total((1.0, of_year), (-1.0, begins)), number(1.0))
    month = graph.add("Add", rest(graph.add("Add", from_march, number(2.0)), 12.0), number(1.0))
    found = {
        "days": days,
        "month": month,
        "day": day,
        "weekday": rest(graph.add("Add", days, number(3.0)), 7.0),
        "hour": graph.add("Div", rest(seconds, _DAY), number(3600.0)),
    }
    return [found[part] for part in wanted]


__all__ = ["date_parts"]
