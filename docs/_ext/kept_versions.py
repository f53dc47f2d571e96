"""Beside the sites of all versions: a list of them, and a first page that leads to the newest.

python docs/_ext/kept_versions.py build/site
"""

from __future__ import annotations

import sys
from pathlib import Path

from packaging.version import InvalidVersion, Version

_LIST = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>toprank: versions</title>
<style>body {{ font: 1.1rem/1.6 system-ui; max-width: 40rem; margin: 3rem auto }}</style>
<h1>Versions of toprank</h1>
<ul>
{items}
</ul>
</html>
"""
_FIRST = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url={version}/index.html">
<title>toprank</title>
<a href="{version}/index.html">toprank {version}</a>
</html>
"""


def kept(site: Path) -> list[Version]:
    """The versions whose sites are there, newest first."""
    found = []
    for folder in site.iterdir():
        try:
            found.append(Version(folder.name))
        except InvalidVersion:
            continue
    return sorted(found, reverse=True)


def write(site: Path) -> None:
    """Write the list and the first page; the newest version that is no trial is led to."""
    versions = kept(site)
    if not versions:
        raise SystemExit(f"{site} has no folder that is named by a version.")
    newest = next((one for one in versions if not one.is_prerelease), versions[0])
    items = "\n".join(
        f'<li><a href="{one}/index.html">{one}</a>{" (newest)" if one == newest else ""}'
        for one in versions
    )
    (site / "versions.html").write_text(_LIST.format(items=items))
    (site / "index.html").write_text(_FIRST.format(version=newest))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
