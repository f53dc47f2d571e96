"""The reference: a page for each public name, from `__all__` of the public modules.

The pages are written before Sphinx looks for its sources, and only where they changed.
"""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import toprank

#: The first paragraph of the reference.
_INTRODUCTION = (
    "Every public name, from its docstring. All other modules (``solvers``, ``losses``, "
    "``designs``, ``surrogates``, ``problems``, ``estimators``, ``inputs`` and ``weak_learners`` "
    "among them) are internal and may change in any release."
)


def write(folder: Path) -> None:
    """Write the pages, and take away those of names that are gone."""
    folder.mkdir(exist_ok=True)
    pages = {"index.rst": _index()}
    for module, names in _public().items():
        pages |= {f"{module}.{name}.rst": _page(module, name) for name in names}
    for path in set(folder.glob("*.rst")) - {folder / name for name in pages}:
        path.unlink()
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def _public() -> dict[str, list[str]]:
    """The public names of every module, those at the top first; each name once."""
    found = {"toprank": sorted(set(toprank.__all__) - set(toprank._MODULES), key=str.lower)}
    seen = set(found["toprank"])
    for name in sorted(toprank._MODULES):
        module = f"toprank.{name}"
        own = set(import_module(module).__all__) - seen
        found[module] = sorted(own, key=str.lower)
        # Two modules may have one class, and two functions one name.
        seen |= {one for one in own if inspect.isclass(getattr(import_module(module), one))}
    return found


def _index() -> str:
    lines = [*_title("Reference"), _INTRODUCTION, ""]
    for module, names in _public().items():
        first = (inspect.getdoc(import_module(module)) or "").partition("\n")[0]
        lines += [*_title(module, "-"), first.partition(": ")[2].capitalize() or first, ""]
        lines += [f".. currentmodule:: {module}", ""]
        lines += [".. list-table::", "   :widths: 30 70", "   :class: api-names", ""]
        for name in names:
            lines += [f"   * - :doc:`{name} <{module}.{name}>`", f"     - {_summary(module, name)}"]
        lines += ["", ".. toctree::", "   :hidden:", ""]
        lines += [f"   {name} <{module}.{name}>" for name in names] + [""]
    return "\n".join(lines)


def _page(module: str, name: str) -> str:
    thing = getattr(import_module(module), name)
    kind = "data"
    if inspect.isclass(thing):
        kind = "exception" if issubclass(thing, Exception) else "class"
    elif callable(thing):
        kind = "function"
    lines = [*_title(f"{module}.{name}"), f".. currentmodule:: {module}", ""]
    lines += [f".. auto{kind}:: {name}"]
    if kind == "class":
        lines += ["   :members:", "   :inherited-members:"]
    elif kind == "data":
        lines += ["   :no-value:"]
    return "\n".join([*lines, ""])


def _summary(module: str, name: str) -> str:
    thing = getattr(import_module(module), name)
    if not (inspect.isclass(thing) or callable(thing)):
        return "See the page."
    paragraph = (inspect.getdoc(thing) or "").partition("\n\n")[0]
    return " ".join(paragraph.split())


def _title(text: str, under: str = "=") -> list[str]:
    return [text, under * len(text), ""]


def _skip(app: Any, what: str, name: str, thing: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what scikit-learn describes, and attributes, which the class describes."""
    if what not in ("class", "exception") or name.startswith("_"):
        return None
    if not (inspect.isroutine(thing) or isinstance(thing, property | classmethod)):
        return True
    function = thing.fget if isinstance(thing, property) else thing
    home = getattr(function, "__module__", None) or ""
    return True if home.partition(".")[0] != "toprank" else None


#: A name that ends in an underscore, which would be a link, outside of what is in backticks.
_NAME = re.compile(r"(``.*?``|`[^`]*`)|(?<![\w:])(\w+)_(?!\w)")


def _escape(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Keep `coef_` from being a link to a target of that name."""
    example = False
    for place, line in enumerate(lines):
        example = bool(line.strip()) and (example or line.lstrip().startswith(">>>"))
        if not example:
            lines[place] = _NAME.sub(lambda found: found[1] or rf"{found[2]}\_", line)


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    write(Path(app.confdir) / "api")
    app.connect("autodoc-skip-member", _skip)
    # After numpydoc, which makes sections of a docstring.
    app.connect("autodoc-process-docstring", _escape, priority=900)
    return {"parallel_read_safe": True}
