"""The report as one self-contained HTML page."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from html import escape
from typing import Any

from . import sections
from .answer import answer
from .words import count_words

STYLE = """
:root { color-scheme: light dark;
  --back: #ffffff; --panel: #f4f6f8; --ink: #1a1f24; --quiet: #59636e; --line: #dde2e7;
  --shade: #0003;
  --link: #0a58a8; --good: #0b6b3a; --bad: #a33a00; --bad-back: #fff3ea; --good-back: #e9f6ee;
  --stop: #b00020; --stop-back: #fdecee;
  --c0: #0072b2; --c1: #d55e00; --c2: #009e73; --c3: #b4568c; --c4: #2a8fc4; --c5: #b27600;
  --c6: #1a1f24; }
@media (prefers-color-scheme: dark) { :root {
  --back: #14181c; --panel: #1d2329; --ink: #e8ecef; --quiet: #a3adb8; --line: #353d46;
  --shade: #fff3;
  --link: #7cb8f0; --good: #6fd39b; --bad: #ffab73; --bad-back: #33241a; --good-back: #17291f;
  --stop: #ff8f9a; --stop-back: #3a1a1f;
  --c0: #56a8e0; --c1: #ff8a3d; --c2: #2ec79b; --c3: #e59ac4; --c4: #8fd0f5; --c5: #f0b840;
  --c6: #e8ecef; } }
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; background: var(--back); color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
header, main, footer { max-width: 62rem; margin: 0 auto; padding: 0 1.25rem; }
header { padding-top: 1.5rem; }
header p { max-width: none; }
h1 { font-size: 1.05rem; font-weight: 600; margin: 0; color: var(--quiet); }
h2 { font-size: 1.3rem; line-height: 1.25; margin: 2.75rem 0 .5rem; }
h3 { font-size: 1rem; margin: 0; }
section > h3 { margin-top: 1.5rem; }
p { margin: .5rem 0; max-width: 48rem; }
a { color: var(--link); }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: 1rem; top: .5rem; background: var(--back); padding: .5rem; }
nav { display: flex; flex-wrap: wrap; gap: .25rem 1.1rem; margin-top: .6rem; font-size: .92rem; }
.quiet { color: var(--quiet); }
.small { font-size: .88rem; }
.headline { font-size: clamp(1.4rem, 3.6vw, 1.9rem); line-height: 1.2; margin: 1rem 0 .8rem;
  font-weight: 700; text-wrap: balance; }
.headline.stop { color: var(--stop); overflow-wrap: anywhere; }
.tiles { display: grid; gap: .75rem; margin: 1rem 0; }
@media (min-width: 42rem) { .tiles { grid-auto-flow: column; grid-auto-columns: 1fr; } }
.answer > div { min-width: 0; }
.answer > div > p:first-child { margin-top: 0; }
@media (min-width: 60rem) { .answer { display: grid; grid-template-columns: 2fr 3fr; gap: 2rem; } }
.first h3 a { font-weight: 400; font-size: .92rem; margin-left: .5rem; }
.first .scroll { margin: .3rem 0; }
.first thead th { min-width: 0; }
.first th, .first td { padding-top: .3rem; padding-bottom: .3rem; }
.tile { background: var(--panel); border-radius: .6rem; padding: .9rem 1rem; }
.tile dt { font-size: .88rem; color: var(--quiet); }
.tile dd { margin: .15rem 0 0; }
.tile .figure { font-size: 1.7rem; font-weight: 700; line-height: 1.15; }
.verdict { border-left: 4px solid var(--good); background: var(--good-back); padding: .6rem .9rem;
  border-radius: 0 .5rem .5rem 0; margin: 1rem 0; max-width: none; }
.verdict.fired { border-color: var(--bad); background: var(--bad-back); }
.verdict.stop { border-color: var(--stop); background: var(--stop-back); }
.scroll { overflow-x: auto; margin: .75rem 0;
  background: linear-gradient(90deg, transparent, var(--back) 70%) right / 2rem 100% local,
    linear-gradient(90deg, transparent, var(--shade)) right / .8rem 100% scroll; }
.scroll, .scroll table { background-repeat: no-repeat; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums;
  font-size: .94rem; }
th, td { text-align: left; vertical-align: top; padding: .45rem .9rem .45rem 0;
  border-bottom: 1px solid var(--line); }
th.number, td.number { text-align: right; }
td.number, .range { white-space: nowrap; }
thead th { min-width: 4.5rem; }
thead th { text-wrap: balance; vertical-align: bottom; font-weight: 600; font-size: .88rem; }
tbody th { font-weight: 600; }
th button { font: inherit; color: inherit; background: none; border: 0; padding: 0; cursor: pointer;
  text-align: inherit; }
th button::after { content: "\\a0\\2195"; color: var(--quiet); font-weight: 400; }
th[aria-sort=ascending] button::after { content: "\\a0\\2191"; color: inherit; }
th[aria-sort=descending] button::after { content: "\\a0\\2193"; color: inherit; }
th button:hover { text-decoration: underline; }
tr.best th, tr.best td { background: var(--panel); }
tr.best th:first-child { box-shadow: inset 3px 0 0 var(--c0); padding-left: .6rem; }
h3 + div { margin-top: .25rem; }
.range { display: block; font-size: .82rem; color: var(--quiet); }
.pictures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr));
  gap: 1.25rem; }
figure { margin: 0; min-width: 0; }
figure svg { width: 100%; height: auto; display: block; font-family: inherit; }
figure svg * { stroke-linejoin: round; stroke-linecap: butt; }
figcaption { font-size: .92rem; margin-bottom: .3rem; }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; list-style: none; padding: 0;
  margin: .5rem 0 1rem; font-size: .92rem; }
.legend svg { width: 2.2rem; height: .7rem; vertical-align: middle; margin-right: .4rem; }
.why { list-style: none; margin: 0; padding: 0; min-width: 15rem; }
.first .why { min-width: 9rem; }
.first .why li { margin-bottom: 0; overflow-wrap: anywhere; }
.why li { display: inline-block; margin: 0 .9rem .1rem 0; overflow-wrap: break-word; }
@media (max-width: 30rem) {
  .first thead { position: absolute; width: 1px; height: 1px; overflow: hidden;
    clip-path: inset(50%); }
  .first tbody tr { display: grid; grid-template-columns: 1.6rem 1fr auto;
    border-bottom: 1px solid var(--line); }
  .first tbody th, .first tbody td { border: 0; padding-right: 0; }
  .first tbody td:last-child { grid-column: 1 / -1; padding: 0 0 .3rem 1.6rem; }
  .first tbody td:nth-child(3):not(:last-child)::before { content: "positive: "; }
}
.up { color: var(--good); } .down { color: var(--bad); }
.id { white-space: nowrap; }
.id.long { display: inline-block; width: 14rem; white-space: normal; overflow-wrap: anywhere; }
.checks { list-style: none; padding: 0; margin: 1rem 0; }
.checks li { border-top: 1px solid var(--line); padding: .7rem 0; }
.checks li.fired { border: 0; border-left: 4px solid var(--bad); background: var(--bad-back);
  padding: .7rem .9rem; border-radius: 0 .5rem .5rem 0; margin-bottom: .5rem; }
@media (min-width: 60rem) {
  .checks li { display: grid; grid-template-columns: 15rem 1fr; gap: 1.5rem; }
  .checks li p:first-child { margin-top: 0; }
}
.status { font-size: .88rem; font-weight: 600; margin-left: .5rem; color: var(--quiet); }
.checks li.stop { border-color: var(--stop); background: var(--stop-back); }
.fired .status { color: var(--bad); } .passed .status { color: var(--good); }
pre, code { font-size: .9rem;
  font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
code.whole { white-space: nowrap; }
pre { background: var(--panel); padding: .8rem 1rem; border-radius: .5rem; white-space: pre-wrap;
  overflow-wrap: anywhere; }
summary { cursor: pointer; }
footer { color: var(--quiet); font-size: .88rem; padding: 2.5rem 1.25rem; }
.aloud { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
@media print {
  :root { color-scheme: light; --back: #fff; --panel: #f4f4f4; --ink: #000; --quiet: #444;
    --shade: #0000; --line: #bbb;
    --link: #000; --good: #000; --bad: #000; --bad-back: #fff; --good-back: #fff;
    --stop: #000; --stop-back: #fff;
    --c0: #0072b2; --c1: #d55e00; --c2: #009e73; --c3: #b4568c; --c4: #2a8fc4; --c5: #b27600;
    --c6: #000; }
  nav, .skip { display: none; }
  header, main, footer { max-width: none; padding: 0; }
  body { font-size: 10pt; }
  h2 { break-after: avoid; }
  figure, tr, .tile, .checks li { break-inside: avoid; }
  .scroll { overflow: visible; }
  .pictures { grid-template-columns: 1fr 1fr; }
  th button::after { content: "" !important; }
}
"""


SCRIPT = """
"use strict";
for (const table of document.querySelectorAll("table.sorts")) {
  const heads = table.tHead.rows[0].cells, body = table.tBodies[0];
  const said = table.parentElement.parentElement.querySelector("[aria-live]");
  for (const head of heads) {
    const button = head.querySelector("button");
    if (!button) continue;
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") ===
        (head.dataset.first === "descending" ? "descending" : "ascending")
        ? head.dataset.first !== "descending" : head.dataset.first === "descending";
      const place = head.cellIndex, sign = down ? -1 : 1;
      const key = row => row.cells[place].dataset.value ?? row.cells[place].textContent.trim();
      const number = text => text !== "" && !isNaN(text);
      const rows = Array.from(body.rows);
      rows.sort((one, other) => {
        const a = key(one), b = key(other);
        return sign * (number(a) && number(b) ? a - b : a.localeCompare(b));
      });
      for (const row of rows) body.append(row);
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      if (said) said.textContent = "Sorted by " + button.textContent.trim() +
        (down ? ", largest first." : ", smallest first.");
    });
  }
}
"""


#: The sections, by their anchors, and what they are called in the navigation.
_SECTIONS = (
    ("answer", "Answer", answer),
    ("models", "Models", sections.models),
    ("curves", "Curves", sections.curves),
    ("top", "Top rows", sections.top),
    ("checks", "Checks", sections.checks),
    ("next", "What next", sections.next_steps),
    ("made", "How it was made", sections.made),
)


def page(report: dict[str, Any]) -> str:
    """The page of a report."""
    data = report["data"]
    name = escape(data["name"])
    # No other script runs, whatever a column may be called, and nothing is fetched.
    digest = b64encode(sha256(SCRIPT.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    links = "".join(f'<a href="#{anchor}">{title}</a>' for anchor, title, _ in _SECTIONS)
    parts = "".join(
        f'<section id="{anchor}" aria-labelledby="{anchor}-title">{make(report)}</section>\n'
        for anchor, _, make in _SECTIONS
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="generator" content="toprank {escape(report["with"]["toprank"])}">
<title>{name}: {escape(report["answer"]["headline"])}</title>
<style>{STYLE}</style>
</head>
<body>
<a class="skip" href="#answer">To the answer</a>
<header>
<h1>{_question(report)}</h1>
<p class="quiet small">{_compared(report)}{count_words(data["rows"], "row")},
{count_words(data["columns"], "column")}, {count_words(data["positives"], "row")}
{_positive(data)} · {count_words(len(report["models"]), "model")} on
{count_words(report["folds"]["count"], "fold")} · {escape(report["made"][:10])}</p>
<nav aria-label="Sections">{links}</nav>
</header>
<main>
{parts}</main>
<footer>Made by toprank {escape(report["with"]["toprank"])}, {escape(report["made"])}.
The same as data: the JSON form of this report.</footer>
<script>{SCRIPT}</script>
</body>
</html>
"""


def _question(report: dict[str, Any]) -> str:
    """What the page answers: of which rows, and by which model."""
    new = report["new"]
    if new is None:
        return f"Which rows of {escape(report['data']['name'])} to look at first, by which model"
    rows = count_words(new["rows"], "row")
    return f"Which of the {rows} of {escape(new['name'])} to look at first, by which model"


def _compared(report: dict[str, Any]) -> str:
    """The table that was compared, where the first line names another."""
    return "" if report["new"] is None else f"Compared on {escape(report['data']['name'])}: "


def _positive(data: dict[str, Any]) -> str:
    if data["label"] is None:
        return "positive"
    return f"with {escape(data['label'])} = {escape(str(data['positive']))}"


__all__ = ["SCRIPT", "STYLE", "page"]
