"""The screens in a real browser: from a table to a verified release without a line of TOML, and all that must not be.

Chromium is that of the distribution (``make servers`` installs it where it may), driven by Playwright. Where either is
missing, these tests are skipped with the reason.
"""

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest

from sfumato.datasets import hospital

pytestmark = pytest.mark.slow

AXE = Path(__file__).with_name("axe") / "axe.min.js"
SHOTS = os.environ.get("SFUMATO_SCREENSHOTS")
"""A folder to write pictures of the screens into, for the guide."""


def picture(page: Any, name: str) -> None:
    """Keep a picture of a screen, where somebody asked for them."""
    if SHOTS:
        page.screenshot(path=str(Path(SHOTS) / f"serve-{name}.png"))


def serious_faults(page: Any) -> list[str]:
    """What axe-core finds that keeps somebody from using a page."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{one['id']}: {one['nodes'][0]['html'][:200]}"
        for one in found["violations"]
        if one["impact"] in {"serious", "critical"}
    ]


def overflows(page: Any) -> bool:
    """Whether a page is wider than its window."""
    return bool(page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"))


def look_at(page: Any, name: str) -> None:
    """A screen fits a desk and a phone, in light and in dark, and axe-core finds nothing serious."""
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": 390, "height": 844})
        assert not overflows(page), f"{name} on a phone"
        picture(page, f"{name}-phone-{scheme}")
        page.set_viewport_size({"width": 1400, "height": 950})
        assert not overflows(page), name
        picture(page, f"{name}-{scheme}")
        assert serious_faults(page) == [], f"{name}, {scheme}"
    page.emulate_media(color_scheme="light")


def changed(page: Any, act: Any) -> None:
    """Do something that posts a form, and wait until the screen is the new one."""
    before = int(page.evaluate("document.body.dataset.shown") or 0)
    act()
    page.wait_for_selector(f"body[data-shown='{before + 1}']", state="attached")


def run_to_the_end(page: Any) -> None:
    """Press the button that makes a release, and wait for how it ends."""
    changed(page, page.get_by_role("button", name="Run it").click)
    page.wait_for_selector("#run-panel:not(.running) .message", timeout=120_000)


@pytest.fixture
def patients(tmp_path: Path) -> Path:
    """A folder with a table and nothing else."""
    folder = tmp_path / "desk"
    folder.mkdir()
    import pyarrow.csv

    pyarrow.csv.write_csv(hospital(600).drop_columns(["nights"]), folder / "patients.csv")
    return folder


def test_from_a_table_to_a_release(patients: Path, serves: Any, visits: Any, runs: Any) -> None:
    """Nobody writes TOML; the policy gives the same levels and classes on the command line; all screens are fit."""
    page = visits(serves(patients)).page
    look_at(page, "open")
    page.get_by_role("button", name="Begin: patients.csv").click()
    page.wait_for_selector("table.alone")
    look_at(page, "columns")
    role = page.get_by_label("Role of admitted")
    changed(page, lambda: role.select_option("identifier"))
    assert page.locator(".change").inner_text().startswith("admitted: left out. Rows that are alone:")
    page.get_by_role("link", name="Requirements").click()
    page.wait_for_selector(".verdicts")
    look_at(page, "requirements")
    changed(page, lambda: (page.locator("#key-0-k").fill("6"), page.locator("#key-0-k").press("Enter")))
    assert "at least 6 people" in page.locator(".cards .said").first.inner_text()
    changed(page, lambda: page.locator("#algorithm").select_option("optimal"))
    page.get_by_role("link", name="Go on: run it").click()
    look_at(page, "run")
    run_to_the_end(page)
    assert page.locator(".message.good").inner_text().startswith("The release is out, whole and verified.")
    page.get_by_role("link", name="Look at the release").click()
    page.wait_for_selector(".charts")
    look_at(page, "release")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download public/ as a zip").click()
    names = zipfile.ZipFile(download.value.path()).namelist()
    assert sorted(Path(name).name for name in names) == ["manifest.json", "summary.html", "table.csv"]
    audit = json.loads((patients / "patients-release" / "private" / "audit.json").read_text())
    told = runs("anonymize", patients / "patients.toml", "--out", patients / "again", "--json")
    assert told.code == 0, told
    said = json.loads(told.out)
    assert said["levels"] == audit["levels"]
    classes = [classes_of(patients / folder / "public" / "table.csv") for folder in ("patients-release", "again")]
    assert classes[0] == classes[1]
    assert runs("verify", patients / "patients-release").code == 0


def classes_of(path: Path) -> list[tuple[str, ...]]:
    """The published rows, in an order of their own."""
    with path.open(newline="") as file:
        return sorted(tuple(row) for row in csv.reader(file))


def test_what_cannot_be_met_comes_with_what_can(served: Any, visits: Any) -> None:
    """The nearest value is a button, where it is asked and where it runs; pressing it makes the release possible."""
    page = visits(served).page
    page.get_by_role("link", name="people.toml").click()
    page.get_by_role("link", name="Requirements").click()
    changed(page, lambda: (page.locator("#key-0-k").fill("41"), page.locator("#key-0-k").press("Enter")))
    page.wait_for_selector("text=Set k = 40")
    look_at(page, "infeasible")
    page.get_by_role("link", name="Run", exact=True).click()
    run_to_the_end(page)
    assert "cannot be met" in page.locator(".message.bad").inner_text()
    assert not (served.root / "people-release").exists()
    changed(page, page.get_by_role("button", name="Set k = 40").click)
    run_to_the_end(page)
    assert page.locator(".message.good").count() == 1


def test_names_and_values_stay_text(tmp_path: Path, serves: Any, visits: Any) -> None:
    """Markup in file names, column names and cells is shown as it is written, on every screen."""
    folder = tmp_path / "desk"
    folder.mkdir()
    evil = '<script>alert("x")</script>'
    out = io.StringIO()
    lines = [[f"{20 + i % 9}", evil if i % 2 else "<img src=x onerror=alert(1)>", f"{i % 3}"] for i in range(60)]
    csv.writer(out).writerows([["age", "<b onmouseover=alert(1)>job", "vi&amp;sits"], *lines])
    (folder / "a<i>b & c.csv").write_text(out.getvalue())
    page = visits(serves(folder)).page
    page.get_by_role("button", name="Begin").click()
    page.wait_for_selector("table.alone")
    for summary in page.locator(".picture summary").all():
        summary.click()
    content = page.content()
    assert "<script>alert" not in content
    assert "&lt;script&gt;alert" in content
    assert page.locator("h2", has_text="<b onmouseover=alert(1)>job").count() == 1
    for screen in ("Requirements", "Run"):
        page.get_by_role("link", name=screen, exact=True).click()
        page.wait_for_selector("h1")
    run_to_the_end(page)
    page.get_by_role("link", name="Release", exact=True).click()
    page.wait_for_selector("table.rows")
    assert page.locator("img, i, b[onmouseover]").count() == 0


def test_two_tabs_do_not_overwrite_each_other(served: Any, visits: Any) -> None:
    """The second is told what the first did, nothing of its own is written, and then it goes on from there."""
    visit = visits(served)
    first = visit.page
    first.goto(f"http://{served.host}/requirements?policy=people.toml")
    second = first.context.new_page()
    second.goto(f"http://{served.host}/requirements?policy=people.toml")
    changed(first, lambda: (first.locator("#key-0-k").fill("7"), first.locator("#key-0-k").press("Enter")))
    changed(second, lambda: (second.locator("#key-0-k").fill("9"), second.locator("#key-0-k").press("Enter")))
    second.wait_for_selector("text=The policy was changed meanwhile")
    assert "k-anonymity: k = 7" in second.locator("#screen").inner_text().lower()
    assert "k = 7" in (served.root / "people.toml").read_text()
    second.get_by_role("link", name="Go on with it as it is now").click()
    second.wait_for_selector("#key-0-k")
    assert second.locator("#key-0-k").input_value() == "7"


def test_undo_and_redo_by_keyboard_alone(served: Any, visits: Any) -> None:
    """A role is changed, taken back and done again without a mouse; the focus is seen and is not lost."""
    page = visits(served).page
    page.goto(f"http://{served.host}/columns?policy=people.toml")
    page.wait_for_selector("table.alone")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "To the content"
    page.locator("#role-2").focus()
    changed(page, lambda: page.keyboard.press("s"))  # the list goes to the next that begins so
    assert 'sex     = { role = "quasi"' not in (served.root / "people.toml").read_text()
    assert page.evaluate("document.activeElement.id") == "role-2"
    undo = page.get_by_role("button", name="Undo: sex")
    undo.focus()
    changed(page, lambda: page.keyboard.press("Enter"))
    assert 'sex     = { role = "quasi", hierarchy = "suppress" }' in (served.root / "people.toml").read_text()
    page.get_by_role("button", name="Redo: sex").focus()
    changed(page, lambda: page.keyboard.press("Enter"))
    assert page.locator("#role-2").input_value() != "quasi"


def test_a_tree_by_drag_and_by_keyboard(served: Any, visits: Any) -> None:
    """A value is dragged under another group, a second moved without a mouse; a declaration is tried on the way."""
    visit = visits(served)
    page, tree = visit.page, served.root / "people-hierarchies" / "job.csv"
    page.goto(f"http://{served.host}/columns?policy=people.toml")
    page.locator("#column-3").get_by_role("link", name="Change how it is told").click()
    page.wait_for_selector("#tree")
    look_at(page, "hierarchy")
    group = page.locator('#tree li[data-node="1:1"] > ul')
    changed(page, lambda: page.locator('#tree li[data-node="0:0"] > label').drag_to(group))
    assert tree.read_text().splitlines()[0] == "cook,health,*"
    page.locator('#tree li[data-node="0:2"] input').focus()
    page.keyboard.press("Space")
    page.get_by_label("Name of a group").focus()
    page.keyboard.type("animals")
    page.get_by_role("button", name="Put chosen values together").focus()
    changed(page, lambda: page.keyboard.press("Enter"))
    assert tree.read_text().splitlines()[2] == "vet,animals,*"
    changed(page, page.get_by_role("button", name="Undo: job").click)
    assert tree.read_text().splitlines()[2] == "vet,health,*"
    page.goto(f"http://{served.host}/hierarchy?policy=people.toml&column=1")
    page.wait_for_selector("#preview .levels")
    look_at(page, "intervals")
    before = (served.root / "people.toml").read_text()
    page.get_by_label("Widths, each a multiple of the one before").fill("10, 15")
    page.wait_for_selector("#preview .message.bad")
    page.get_by_label("Widths, each a multiple of the one before").fill("10, 30")
    page.wait_for_selector("#preview >> text=30-59")
    assert (served.root / "people.toml").read_text() == before
    changed(page, page.get_by_role("button", name="Use it").click)
    assert "intervals = [10, 30]" in (served.root / "people.toml").read_text()


def start_command(folder: Path, *arguments: str) -> tuple[subprocess.Popen[str], str]:
    """Start ``sfumato serve`` as a process, and read the address that it prints."""
    command = [sys.executable, "-c", "from sfumato.cli import main; main()", "serve", "--no-browser", *arguments]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process.stdout as out:
        line = out.readline()
    assert line.startswith("open     http://127.0.0.1:"), line
    return process, line.split()[1]


def test_a_killed_server_loses_nothing(clinic: Path, browser: Any) -> None:
    """Every choice is in the file before its screen is shown; after a new start undo still goes back."""
    process, address = start_command(clinic, "people.toml")
    page = browser.new_context().new_page()
    page.goto(address)
    page.wait_for_selector("#role-2")
    page.get_by_role("link", name="Requirements").click()
    changed(page, lambda: (page.locator("#key-0-k").fill("6"), page.locator("#key-0-k").press("Enter")))
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert "k = 6" in (clinic / "people.toml").read_text()
    process, address = start_command(clinic)
    page = browser.new_context().new_page()
    page.goto(address)
    page.get_by_role("link", name="people.toml").click()
    changed(page, page.get_by_role("button", name="Undo: k-anonymity: k = 6").click)
    assert "k = 4" in (clinic / "people.toml").read_text()
    process.send_signal(signal.SIGINT)
    assert process.wait(20) in {0, 2}  # 2, where what it says last has no reader


def test_stop_ends_the_work_within_two_seconds(tmp_path: Path, serves: Any, visits: Any) -> None:
    """No process goes on, and neither a folder nor a hidden one is left."""
    import pyarrow.csv

    folder = tmp_path / "desk"
    folder.mkdir()
    pyarrow.csv.write_csv(hospital(400_000), folder / "patients.csv")
    served = serves(folder)
    page = visits(served).page
    page.get_by_role("button", name="Begin").click()
    page.wait_for_selector("table.alone")
    page.get_by_role("link", name="Run", exact=True).click()
    before = {".patients.toml.history", *(path.name for path in folder.iterdir())}
    for words in ("looking for", "writing"):
        changed(page, page.get_by_role("button", name="Run it").click)
        run = served.bench.running
        assert run is not None
        while words not in run.doing:  # seen here, and not on the page, which asks less often than writing takes
            assert not run.is_over
            time.sleep(0.005)
        began = time.monotonic()
        page.get_by_role("button", name="Stop").click()
        page.wait_for_selector("#run-panel .message:has-text('Stopped: no part of a release')", timeout=10_000)
        assert time.monotonic() - began < 2
        assert not run.process.is_alive
        assert {path.name for path in folder.iterdir()} == before, words
