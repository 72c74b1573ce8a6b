"""The documentation site: `make docs`. The order of the pages is that of index.md."""

from __future__ import annotations

import re
from pathlib import Path

from sphinx.application import Sphinx

project = "otel-rt4chart"
author = "The otel-rt4chart authors"
copyright = author
html_title = project

extensions = ["myst_parser"]
exclude_patterns = ["_build"]
myst_heading_anchors = 4
# Some examples are fragments that no lexer reads, such as JSON with an ellipsis.
suppress_warnings = ["misc.highlighting_failure"]

html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["tables.css"]
html_copy_source = False
html_show_sourcelink = False

SECTION = re.compile(r"^## (.+)\n\n((?:- .+\n)+)", re.MULTILINE)
PAGE = re.compile(r"\]\(([^)#]+)\.md\)")
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(((?:\.\./)[^)#\s]*)[^)]*\)")


def add_contents(app: Sphinx, page: str, source: list[str]) -> None:
    """Make tables of contents of the index pages' lists, and plain text of links out of docs/."""
    folder = Path(app.srcdir, page).parent

    def keep(link: re.Match[str]) -> str:
        return link[0] if (folder / link[2]).resolve().is_relative_to(app.srcdir) else link[1]

    text = LINK.sub(keep, source[0])
    if page == "index":
        text += "".join(
            _contents(heading, PAGE.findall(pages)) for heading, pages in SECTION.findall(text)
        )
    elif page == "decisions/index":
        text += _contents("", PAGE.findall(text))
    source[0] = text


def _contents(caption: str, pages: list[str]) -> str:
    options = f":hidden:\n:caption: {caption}\n" if caption else ":hidden:\n"
    return "\n```{toctree}\n" + options + "\n".join(("", *pages)) + "\n```\n"


def setup(app: Sphinx) -> None:
    """Register the hook."""
    app.connect("source-read", add_contents)
