"""The documentation: its examples run and print what they show, its links lead somewhere."""

from __future__ import annotations

import contextlib
import doctest
import importlib.util
import io
import re
import subprocess
import sys
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from packaging.version import Version

import toprank
from support.orders import orders
from support.programs import PATIENCE
from toprank import methods

REPOSITORY = Path(__file__).resolve().parents[1]
PAGES = [
    *(REPOSITORY / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted((REPOSITORY / "docs").rglob("*.md")),
    REPOSITORY / "benchmarks" / "README.md",
    *sorted((REPOSITORY / "papers").glob("*/README.md")),
]
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: Before a block that prints figures of scikit-learn's trees: older ones grow others.
MADE_BY = re.compile(r"<!-- figures: scikit-learn ([\d.]+) -->\n$")
#: Before a block that needs packages which the tests do not.
NEEDS = re.compile(r"<!-- needs: ([\w ]+) -->\n$")
#: Tables that a page reads: written before its blocks run.
FILES = re.compile(r"^<!-- files: ([\w. -]+) -->$", re.MULTILINE)
#: The recipe for a method is written as its file in the package would be.
PACKAGES = {"CONTRIBUTING.md": "toprank.methods.push"}


def name_of(page: Path) -> str:
    return page.relative_to(REPOSITORY).as_posix()


EXAMPLES = [page for page in PAGES if "```python" in page.read_text(encoding="utf-8")]


@pytest.mark.parametrize("page", EXAMPLES, ids=name_of)
def test_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of a page share a namespace; a text block right after one is what it prints.

    A block that needs packages which are not there is left out: then the test says it skipped it.
    """
    text = page.read_text(encoding="utf-8")
    files = FILES.search(text)
    if files:
        monkeypatch.chdir(tmp_path)
        for seed, name in enumerate(files[1].split()):
            orders(2000, seed).to_csv(name, index=False)
    package = PACKAGES.get(page.name, "")
    namespace: dict[str, Any] = {
        "__name__": f"{package}.example".lstrip("."),
        "__package__": package,
    }
    blocks, lacking = list(FENCED.finditer(text)), set()
    for block, following in zip(blocks, [*blocks[1:], None], strict=True):
        if block[1] != "python":
            continue
        needs = NEEDS.search(text, 0, block.start())
        if needs:
            absent = [name for name in needs[1].split() if not importlib.util.find_spec(name)]
            lacking.update(absent)
            if absent:
                continue
        # Blank lines before the code, so that a traceback names the line of the page.
        before = "\n" * (text.count("\n", 0, block.start()) + 1)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), warnings.catch_warnings():
            if needs:
                warnings.simplefilter("ignore")  # of packages that are not ours
            exec(compile(before + block[2], str(page), "exec"), namespace)
        if following is not None and following[1] == "text":
            between = text[block.end() : following.start()]
            made = MADE_BY.search(text, 0, block.start())
            older = made and Version(version("scikit-learn")) < Version(made[1])
            if not between.strip() and not older:
                assert_prints(printed.getvalue(), following[2])
    if lacking:
        pytest.skip(f"all but the blocks that need {', '.join(sorted(lacking))}")


def assert_prints(printed: str, shown: str) -> None:
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert doctest.OutputChecker().check_output(shown, printed, flags), printed


def prose(page: Path) -> str:
    """A page without its code."""
    return re.sub(r"`[^`\n]*`", "`code`", FENCED.sub("", page.read_text(encoding="utf-8")))


def anchors(page: Path) -> set[str]:
    """What a heading is called in a link: lower case, hyphens for spaces, no punctuation."""
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ +(.+?) *$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_relative_links_resolve(page: Path) -> None:
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        if not there.exists() or (anchor and anchor not in anchors(there)):
            broken.append(target)
    assert broken == []


def test_the_index_leads_to_every_page() -> None:
    index = REPOSITORY / "docs" / "index.md"
    targets = re.findall(r"\]\(([^)#\s]+)", prose(index))
    linked = {(index.parent / target).resolve() for target in targets}
    assert set((REPOSITORY / "docs").rglob("*.md")) - linked == {index}


@pytest.mark.parametrize("name", methods.__all__)
def test_every_method_has_a_page_and_a_line_in_the_readme(name: str) -> None:
    page = f"docs/methods/{name.lower()}.md"
    assert (REPOSITORY / page).exists()
    rows = re.findall(rf"^\| `{name}` \|.*$", (REPOSITORY / "README.md").read_text(), re.MULTILINE)
    assert len(rows) == 1
    assert f"({page})" in rows[0]


def test_the_readme_counts_the_methods() -> None:
    assert f": {len(methods.__all__)} methods," in (REPOSITORY / "README.md").read_text()


def test_contributing_says_what_every_module_holds() -> None:
    text = (REPOSITORY / "CONTRIBUTING.md").read_text()
    named = set(re.findall(r"`(\w+)(?:/|\.py)`", " ".join(re.findall(r"^\|[^|]*", text, re.M))))
    there = {
        path.stem
        for folder in (Path(toprank.__file__).parent, Path(methods.__file__).parent)
        for path in folder.iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert there - named == {"__init__"}


@pytest.mark.parametrize("page", ["index.md", "choosing.md", "conversions.md"])
def test_every_method_has_its_row(page: str) -> None:
    """In the first cell, alone or with others; [Name](...) or `Name`."""
    text = (REPOSITORY / "docs" / page).read_text()
    firsts = " ".join(re.findall(r"^\| ([^|]*) \|", text, re.MULTILINE))
    named = set(re.findall(r"[`\[](\w+)", firsts))
    assert set(methods.__all__) - named == set()


def test_the_readme_knows_the_version() -> None:
    text = (REPOSITORY / "README.md").read_text()
    assert re.findall(r"\bversion (\d+\.\d+\.\d+)", text) == [toprank.__version__]


def test_changelog_and_citation_know_the_day() -> None:
    text = (REPOSITORY / "CITATION.cff").read_text()
    day = re.search(r"^date-released: (\d{4}-\d\d-\d\d)$", text, re.MULTILINE)
    assert day is not None
    heading = f"## [{toprank.__version__}] - {day[1]}\n"
    assert heading in (REPOSITORY / "CHANGELOG.md").read_text()


def test_changelog_and_citation_know_the_version() -> None:
    version = re.escape(toprank.__version__)
    assert re.search(rf"^## \[{version}\]", (REPOSITORY / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert re.search(
        rf"^version: {version}$", (REPOSITORY / "CITATION.cff").read_text(), re.MULTILINE
    )


def test_the_sites_of_older_versions_stay(tmp_path: Path) -> None:
    """The first page leads to the newest, and the list has them all."""
    for name in ("0.2.0", "0.10.0", "0.11.0rc1", "pictures"):
        (tmp_path / name).mkdir()
    script = REPOSITORY / "docs" / "_ext" / "kept_versions.py"
    subprocess.run([sys.executable, str(script), str(tmp_path)], check=True, timeout=PATIENCE)
    assert 'href="0.10.0/index.html"' in (tmp_path / "index.html").read_text()
    listed = re.findall(r'href="([^/"]+)/', (tmp_path / "versions.html").read_text())
    assert listed == ["0.11.0rc1", "0.10.0", "0.2.0"]
