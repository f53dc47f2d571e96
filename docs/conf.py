"""How Sphinx makes the site: the pages of docs/, papers/ and benchmarks/ where they are.

The source is the repository, so that a link means the same on the site and on a code host.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import toprank

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "toprank"
author = "The toprank developers"
version = release = toprank.__version__

root_doc = "docs/index"
include_patterns = [
    "docs/**",
    "papers/*/README.md",
    "papers/*/results/*.md",
    "benchmarks/*.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
]
exclude_patterns = [".*", "build", "dist", "core", "src", "tests", "docs/_*"]
extensions = [
    "myst_parser",
    "numpydoc",
    "api_pages",
    "site_links",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx_click",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
html_extra_path = ["_root"]

# Pages are Markdown as a code host reads it; headings have the anchors that it gives them.
myst_heading_anchors = 4
suppress_warnings = ["myst.header"]  # a page may begin its sections where it likes

# Docstrings: a name in backticks is a link where it is one, and code everywhere.
default_role = "py:obj"
nitpick_ignore_regex = [("py:obj", r"(?s).*")]
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

sphinx_gallery_conf: dict[str, Any] = {
    "examples_dirs": "examples",
    "gallery_dirs": "docs/gallery",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
    "write_computation_times": False,
    "show_signature": False,
    "min_reported_time": 1,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "reference_url": {"toprank": None},
    "doc_module": (),
    "backreferences_dir": None,
}

html_theme = "pydata_sphinx_theme"
html_title = f"toprank {release}"
html_static_path = ["_static"]
templates_path = ["_templates"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_sidebars = {"docs/site/commands": [], "docs/index": []}  # of one page: nothing to list
html_theme_options = {
    "show_toc_level": 2,
    "navigation_depth": 3,
    "header_links_before_dropdown": 7,
    "footer_start": ["copyright"],
    "footer_end": ["version.html"],
    "secondary_sidebar_items": ["page-toc"],
}
copyright = "The toprank developers, BSD-3-Clause"

# An example may say that a label was guessed, or an optimum trivial: what it shows is its text.
warnings.filterwarnings("ignore", category=UserWarning, module="matplotlib")
