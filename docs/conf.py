"""How `make site` builds the documentation: Sphinx over the Markdown pages where they lie in the repository.

The source folder is the root of the repository, so that links between pages are the same on the site as in a clone.
Nothing on the site needs a network: the theme has no web fonts, and the search reads an index beside the pages.
"""
# ruff: noqa: INP001 - read by Sphinx, not imported

import re
from pathlib import Path
from typing import Any

from pygments.lexers.special import TextLexer

ROOT = Path(__file__).parents[1]
HEADING_OR_PAGE = re.compile(r"^## (?P<heading>.+)$|^\| \[[^\]]+\]\((?P<page>[^)#]+)\.md\)", re.MULTILINE)

project = "sfumato"
version = release = (ROOT / "src/sfumato/_version.py").read_text(encoding="utf-8").split('"')[-2]
extensions = ["myst_parser"]
root_doc = "README"
include_patterns = ["*.md", "docs/**.md", "benchmarks/*.md"]
exclude_patterns = [".*", "build", "dist", "site", "src", "tests"]
templates_path = ["_templates"]
myst_heading_anchors = 4  # the anchors that GitHub gives to headings
suppress_warnings = ["misc.highlighting_failure"]  # blocks show output as it is, which is not always of one language
html_theme = "furo"
html_title = f"sfumato {version}"
html_additional_pages = {"index": "index.html"}  # leads to the README
html_show_sphinx = False
html_show_copyright = False
html_show_sourcelink = False
html_copy_source = False
html_show_search_summary = False  # would fetch pages, which browsers refuse for files


def add_navigation(_app: Any, page: str, source: list[str]) -> None:
    """Give the front page the contents of docs/index.md as its table of contents, and RESULTS.md its siblings."""
    if page == root_doc:
        source[0] += "\n".join(contents((ROOT / "docs/index.md").read_text(encoding="utf-8")))
    if page == "benchmarks/RESULTS":
        source[0] += "\n\n```{toctree}\n:hidden:\n:glob:\n\nRESULTS-*\n```\n"


def contents(index: str) -> list[str]:
    """Turn the headings and tables of docs/index.md into tables of contents, one for each heading."""
    parts = ["\n\n```{toctree}\n:hidden:\n\ndocs/index\n```"]
    for match in HEADING_OR_PAGE.finditer(index):
        if match["heading"]:
            parts.append(f"\n```{{toctree}}\n:hidden:\n:caption: {match['heading']}\n\n```")
        else:
            path = match["page"].removeprefix("../") if match["page"].startswith("../") else f"docs/{match['page']}"
            parts[-1] = parts[-1].removesuffix("```") + f"{path}\n```"
    return parts


def setup(app: Any) -> None:
    """Tell Sphinx about the navigation, and that CSV is text without colours."""
    app.add_lexer("csv", TextLexer)
    app.connect("source-read", add_navigation)
