"""What a page of the repository needs to be a page of the site.

A code host shows folders and source files; the site has none of them, so that links to them become
their text. The first page has its table of contents from `_contents.txt`, which a code host would
show as it is.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

#: A link to a place of the repository: [text](path#anchor).
_LINK = re.compile(r"(?<!!)\[([^\]\n]+)\]\((?![a-z]+:|#)([^)\s#]+)(#[^)\s]*)?\)")
_FENCED = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
#: What the site shows, or has to offer for download.
_KEPT = {".md", ".rst", ".png", ".svg", ".csv", ".json"}


def _without_strangers(app: Any, docname: str, content: list[str]) -> None:
    """Turn links to what is not on the site into their text; give the first page its contents."""
    if Path(app.env.doc2path(docname)).suffix != ".md":
        return
    folder = (Path(app.srcdir) / docname).parent
    if docname == app.config.root_doc:
        content[0] += (Path(app.confdir) / "_contents.txt").read_text()

    def kept(link: re.Match[str]) -> str:
        target = (folder / link[2]).resolve()
        on_site = target.suffix in _KEPT and target.is_file()
        if target.suffix == ".md":
            on_site = app.project.path2doc(target) in app.project.docnames
        return link[0] if on_site else link[1]

    parts = _FENCED.split(content[0])
    content[0] = "".join(
        part if part.startswith("```") else _LINK.sub(kept, part) for part in parts
    )


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("source-read", _without_strangers)
    return {"parallel_read_safe": True}
