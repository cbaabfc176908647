"""The documentation as a site: it is built without a warning, needs no network, and no dead link passes."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MISSING = [name for name in ("sphinx", "myst_parser", "furo") if find_spec(name) is None]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(MISSING), reason=f"the site needs {', '.join(MISSING)}: run make setup-dev or make site"),
]


def build(source: Path, target: Path) -> subprocess.CompletedProcess[str]:
    """Build the site as `make site` does."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (command,) = re.findall(r"-m sphinx (.*) -c docs \. site$", makefile, re.MULTILINE)
    options = command.replace("build/doctrees", str(target.parent / "doctrees")).split()
    program = [sys.executable, "-m", "sphinx", *options, "-c", "docs", ".", str(target)]
    return subprocess.run(program, cwd=source, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of this tree."""
    target = tmp_path_factory.mktemp("built") / "site"
    done = build(ROOT, target)
    assert done.returncode == 0, done.stderr
    return target


class Loads(HTMLParser):
    """Everything that a page makes a browser load by itself."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what this tag loads."""
        for name, value in attrs:
            if value and (name in {"src", "srcset", "data"} or (tag == "link" and name == "href")):
                self.addresses.append(value)


def pages(site: Path) -> Iterator[Path]:
    """Every page of the site."""
    yield from site.rglob("*.html")


def test_every_page_is_there(site: Path) -> None:
    """Each Markdown page of the root and of docs/ is a page of the site, and the front page leads to the README."""
    sources = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    assert [page for page in sources if not (site / page.relative_to(ROOT)).with_suffix(".html").exists()] == []
    assert "url=README.html" in (site / "index.html").read_text(encoding="utf-8")


def test_every_page_is_in_the_navigation(site: Path) -> None:
    """The front page links every page of docs/ beside its text, whether or not the text does."""
    front = (site / "README.html").read_text(encoding="utf-8")
    navigation = front[front.index("sidebar-tree") : front.index("<article")]
    expected = {page.relative_to(ROOT).with_suffix(".html").as_posix() for page in (ROOT / "docs").rglob("*.md")}
    assert expected <= set(re.findall(r'href="([^"#]+)"', navigation))


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    """All that a browser loads by itself lies in the folder: pages, styles, scripts, pictures and the search index."""
    for page in pages(site):
        for address in Loads(page).addresses:
            assert not re.match(r"(https?:)?//", address), f"{page}: {address}"
            assert address.startswith("data:") or (page.parent / address.split("?")[0].split("#")[0]).exists(), address
    for style in site.rglob("*.css"):
        assert not re.search(r"@import|url\(['\"]?(https?:)?//", style.read_text(encoding="utf-8")), style
    assert (site / "searchindex.js").exists()


def test_dead_links_and_anchors_are_errors(tmp_path: Path) -> None:
    """A link to a page, a heading, a file or a picture that is not there fails the build and is named."""
    source = tmp_path / "source"
    shutil.copytree(ROOT / "docs" / "_templates", source / "docs" / "_templates")
    for file in ("docs/conf.py", "src/sfumato/_version.py"):
        (source / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, source / file)
    page = "# A page\n\n## Known\n\n[fine](index.md) [fine](index.md#known) [fine](../README.md)\n"
    (source / "README.md").write_text("# Front\n\n[docs](docs/index.md)\n", encoding="utf-8")
    dead = ["nowhere.md", "index.md#no-heading", "#no-such", "../LICENSE-9", "img/none.png"]
    links = " ".join(f"{'!' if link.endswith('png') else ''}[dead]({link})" for link in dead)
    (source / "docs" / "index.md").write_text(f"{page}\n{links}\n", encoding="utf-8")
    done = build(source, tmp_path / "dead")
    assert done.returncode != 0
    for link in dead:
        assert re.search(rf"WARNING: .*{re.escape(link.rpartition('#')[2].removeprefix('../'))}", done.stderr), link
    assert done.stderr.count("WARNING: ") == len(dead), done.stderr  # the others are fine
