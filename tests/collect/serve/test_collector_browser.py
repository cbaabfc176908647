"""The page in a real browser: what leaves it, by which chances, on a phone, and by the keyboard alone.

Chromium is that of the distribution (``make servers`` installs it where it may), driven by Playwright. Where either is
missing, these tests are skipped with the reason.
"""

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import chisquare

from sfumato.channels.additive_noise import AdditiveNoise
from sfumato.collect import CollectionForm

pytestmark = pytest.mark.slow

FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
RARE = 1e-6
"""A test that would fail so rarely by chance is no nuisance."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium without a window."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("there is no Chromium (Debian: apt-get install chromium)")
    driver = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed: run make setup-dev")
    with driver.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
        yield started
        started.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page of a browser that remembers nothing yet; whatever it complains of fails the test."""
    context = browser.new_context(viewport={"width": 1000, "height": 900})
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text) if "Security Policy" in message.text else None)
    yield page
    context.close()
    assert complaints == []


def open_form(page: Any, collector: Any) -> list[str]:
    """Open the page and wait for its script; gives a list that fills with the bodies of all that is sent."""
    bodies: list[str] = []
    page.on("request", lambda request: bodies.append(request.post_data) if request.method != "GET" else None)
    page.goto(collector.address)
    page.wait_for_selector("#questions button:enabled")
    return bodies


def fill(page: Any, **answers: Any) -> None:
    """Answer every question of the form."""
    given = {
        "age": "88.8125",
        "hours": "59.4375",
        "files": "19876.5",
        "use": "papers",
        "sex": "m",
        "language": "Eiffel",
        "features": ["themes"],
        **answers,
    }
    for name in ("age", "hours", "files"):
        page.fill(f"[data-name={name}] input", given[name])
    for name in ("use", "sex"):
        page.check(f"[data-name={name}] input[value={given[name]}]")
    page.select_option("[data-name=language] select", given["language"])
    for item in given["features"]:
        page.check(f"[data-name=features] input[value={item}]")


def send(page: Any) -> None:
    """Look at what will be sent, and send it."""
    page.click("#questions button")
    page.wait_for_selector("#preview:not([hidden])")
    page.click("#send")
    page.wait_for_selector("#done:not([hidden])")


def test_only_perturbed_answers_leave_the_browser(page: Any, collector: Any, form: CollectionForm) -> None:
    """True numbers, which the noise hardly ever hits, are in no request; what was shown is what leaves."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    bodies = open_form(page, collector)
    fill(page)
    page.click("#questions button")
    page.wait_for_selector("#preview:not([hidden])")
    assert bodies == []  # looking sends nothing
    shown = page.locator(".pair div:nth-child(2) b").all_inner_texts()
    page.click("#send")
    page.wait_for_selector("#done:not([hidden])")
    (body,) = bodies
    sent = json.loads(body)
    assert sent.keys() == {"format", "key", "noise", "reports"}
    assert not any(true in body for true in ("88.812", "59.437", "19876.5"))
    assert shown == [
        ", ".join(one) or "(none)" if isinstance(one, list) else str(one).removesuffix(".0")
        for one in sent["reports"].values()
    ]
    stored = collector.store.read().to_pylist()
    cells = {key: "|".join(one) if isinstance(one, list) else one for key, one in sent["reports"].items()}
    assert stored == [cells]
    assert all(url.startswith(collector.address) for url in asked)
    for name, one in form.noise.columns.items():
        if isinstance(one, AdditiveNoise):
            assert one.admits(np.array([sent["reports"][name]]))[0]
    assert page.context.cookies() == []


def test_asked_again_the_same_is_sent(page: Any, collector: Any) -> None:
    """The same answers on another day send the same reports under another key; another answer is drawn for anew."""
    bodies = open_form(page, collector)
    for _ in range(3):
        page.goto(collector.address)
        page.wait_for_selector("#questions button:enabled")
        fill(page)
        send(page)
    sent = [json.loads(body) for body in bodies]
    assert [one["reports"] for one in sent] == [sent[0]["reports"]] * 3
    assert len({one["key"] for one in sent}) == 3
    page.goto(collector.address)
    page.wait_for_selector("#questions button:enabled")
    fill(page, age="20.5")
    send(page)
    last = json.loads(bodies[-1])["reports"]
    assert last["age"] != sent[0]["reports"]["age"]
    assert {**last, "age": 0} == {**sent[0]["reports"], "age": 0}


def test_the_browser_draws_by_the_published_chances(page: Any, collector: Any, form: CollectionForm) -> None:
    """Of six hundred submissions by a browser that forgets, the store has each report as often as the noise says."""
    open_form(page, collector)
    true = {
        "age": 40,
        "hours": 30,
        "files": 10000,
        "use": "papers",
        "sex": "m",
        "language": "C",
        "features": ["themes"],
    }
    count = 600
    page.evaluate(
        """async ([true_, count]) => {
            const noise = (await (await fetch("noise.json")).json()).columns;
            for (let place = 0; place < count; place += 60) {
                await Promise.all(Array.from({length: 60}, () => {
                    sfumato.forgetAll();
                    const reports = {};
                    for (const name in true_) reports[name] = sfumato.permanentReport(name, noise[name], true_[name]);
                    return sfumato.send(sfumato.compose(reports));
                }));
            }
        }""",
        [true, count],
    )
    table = collector.store.read()
    assert table.num_rows == count
    columns = {name: table.column(name).to_pylist() for name in true}
    for name in ("age", "hours", "files"):
        noise: Any = form.noise.columns[name]
        chances = noise.cumulative(np.array(columns[name]) - true[name])  # uniform, if the noise is what it should be
        assert chisquare(np.histogram(chances, bins=12, range=(0, 1))[0]).pvalue > RARE, name
    expected = {"use": [0.5 / 3, 0.5 + 0.5 / 3, 0.5 / 3], "sex": [0.3, 0.7]}
    for name, shares in expected.items():
        noise = form.noise.columns[name]
        seen = Counter(columns[name])
        assert chisquare([seen[one] for one in noise.values], np.array(shares) * count).pvalue > RARE, name
    for name, answer in (("language", ["C"]), ("features", ["themes"])):
        noise = form.noise.columns[name]
        members = Counter(member for cell in columns[name] for member in cell.split("|"))
        for one in getattr(noise, "values", None) or noise.items:
            add = noise.add if name == "language" else 1 - noise.keep
            chance = noise.keep if one in answer else add
            share = np.array([chance, 1 - chance]) * count
            assert chisquare([members[one], count - members[one]], share).pvalue > RARE, (name, one)


def test_a_thousand_askings_of_the_page_learn_nothing_more(page: Any, collector: Any) -> None:
    """The page, asked a thousand times for the same answer, gives one report."""
    open_form(page, collector)
    given = page.evaluate(
        """() => {
            const noise = {kind: "gaussian", sigma: 20, domain: [0, 100]};
            return Array.from({length: 1000}, () => sfumato.permanentReport("weight", noise, 70));
        }"""
    )
    assert len(set(given)) == 1


def test_normal_quantiles_are_exact(page: Any, collector: Any) -> None:
    """Those of the script agree with SciPy's to thirteen digits, as far out as chances are drawn."""
    open_form(page, collector)
    tails = np.concatenate([2.0 ** -np.arange(2, 54), np.linspace(0.001, 0.999, 997)])
    chances = np.concatenate([tails, 1 - tails[:40]])
    found = page.evaluate("(chances) => chances.map(sfumato.normalQuantile)", chances.tolist())
    np.testing.assert_allclose(found, ndtri(chances), rtol=2e-13, atol=2e-15)


def test_a_likely_range_holds_answers_as_often_as_it_says(page: Any, collector: Any) -> None:
    """Of answers spread over the domain, the range shown beside a report misses one in twenty."""
    open_form(page, collector)
    held = page.evaluate(
        """() => [["gaussian", "sigma"], ["laplace", "scale"], ["uniform", "half_width"]].map(([kind, key]) => {
            const noise = {kind, [key]: 20, domain: [10, 90]};
            let inside = 0;
            for (let place = 0; place < 400; place++) {
                const answer = 10 + 80 * (place + 0.5) / 400;
                const [low, high] = sfumato.likelyRange(noise, sfumato.perturb(noise, answer));
                inside += low <= answer && answer <= high;
            }
            return inside;
        })"""
    )
    for inside in held:
        assert 355 < inside <= 400  # 380, give or take 4.4


def test_a_lost_acknowledgement_sends_the_same_again(page: Any, collector: Any) -> None:
    """Where the reply never arrives, the page sends the same text again, and the store has it once."""
    bodies = open_form(page, collector)
    left = [2]

    def lose(route: Any) -> None:
        left[0] -= 1
        if left[0] >= 0:
            route.fetch()  # the collector gets it, and the page no answer
            route.abort()
        else:
            route.continue_()

    page.route("**/answers", lose)
    fill(page)
    send(page)
    assert len(bodies) == 3
    assert len(set(bodies)) == 1
    assert collector.store.count == 1


def test_a_refusal_is_said_on_the_page(page: Any, collector: Any) -> None:
    """What the collector says of a submission it does not take stands on the page, for screen readers as well."""
    open_form(page, collector)
    fill(page)
    page.evaluate("document.body.dataset.noise = 'stale'")
    page.click("#questions button")
    page.click("#send")
    page.wait_for_selector("#trouble:not(:empty)")
    assert "the noise of this collection is another" in page.inner_text("#trouble")
    assert page.get_attribute("#trouble", "role") == "alert"
    assert collector.store.count == 0


def test_questions_are_answered_before_anything_is_drawn(page: Any, collector: Any) -> None:
    """With a question left open, or a number out of range, there is no preview."""
    bodies = open_form(page, collector)
    page.click("#questions button")
    assert page.is_hidden("#preview")
    fill(page, age="91")
    page.click("#questions button")
    assert page.is_hidden("#preview")
    assert bodies == []


def test_without_its_script_nothing_is_sent(browser: Any, collector: Any) -> None:
    """A browser without scripts shows why, and cannot submit the form either."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(collector.address)
    assert "needs its script" in page.inner_text("main")
    assert page.is_disabled("#questions button")
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_needs_no_scrolling_aside(browser: Any, collector: Any, form: CollectionForm, scheme: str) -> None:
    """At 390 pixels form, preview and results fit the width, in the light and in the dark."""
    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme=scheme)
    page = context.new_page()
    wide = "document.documentElement.scrollWidth"
    open_form(page, collector)
    for detail in page.locator("summary").all():
        detail.click()
    assert page.evaluate(wide) <= 390
    fill(page)
    page.click("#questions button")
    page.wait_for_selector("#preview:not([hidden])")
    assert page.evaluate(wide) <= 390
    for _ in range(20):
        collector.submit()
    page.goto(collector.address + "results")
    assert page.locator("svg").count() == len(form.questions)
    for detail in page.locator("summary").all():
        detail.click()
    assert page.evaluate(wide) <= 390
    context.close()


def test_the_keyboard_is_enough(page: Any, collector: Any) -> None:
    """Every answer is given and sent by keys alone, and the focus goes where something new is."""
    bodies = open_form(page, collector)
    keys = page.keyboard
    page.focus("[data-name=age] input")
    keys.type("44")
    focused = "document.activeElement.closest('fieldset')?.dataset.name ?? document.activeElement.id"

    def tab_to(name: str, tag: str) -> None:
        for _ in range(6):
            keys.press("Tab")
            if page.evaluate(f"[{focused}, document.activeElement.tagName]") == [name, tag]:
                return
        pytest.fail(f"the tabulator does not lead to {name}")

    tab_to("hours", "INPUT")
    keys.type("12")
    tab_to("files", "INPUT")
    keys.type("300")
    tab_to("use", "INPUT")
    keys.press("ArrowDown")
    tab_to("sex", "INPUT")
    keys.press("Space")
    tab_to("language", "SELECT")
    keys.type("Lisp")
    tab_to("features", "INPUT")
    keys.press("Space")
    for _ in range(5):
        keys.press("Tab")
        if page.evaluate("document.activeElement.tagName") == "BUTTON":
            break
    keys.press("Enter")
    page.wait_for_selector("#preview:not([hidden])")
    assert page.evaluate("document.activeElement.textContent") == "This will be sent"
    assert page.locator(".pair div:nth-child(1) b").all_inner_texts() == [
        "44",
        "12",
        "300",
        "papers",
        "f",
        "Lisp",
        "macros",
    ]
    keys.press("Tab")
    assert page.evaluate("document.activeElement.id") == "send"
    keys.press("Enter")
    page.wait_for_selector("#done:not([hidden])")
    assert page.evaluate("document.activeElement.textContent") == "Sent. Thank you."
    assert len(bodies) == 1


def test_results_come_by_themselves(page: Any, collector: Any) -> None:
    """Whoever leaves the page of results open sees what has come since."""
    page.goto(collector.address + "results")
    assert "0 answers so far" in page.inner_text("main")
    for _ in range(25):
        collector.submit()
    page.wait_for_selector("text=25 answers so far", timeout=60_000)
    assert page.locator("svg").count() == 7


def test_a_store_that_fails_is_said_and_tried_again(
    page: Any, tmp_path: Path, form: CollectionForm, starts: Callable[..., Any]
) -> None:
    """While the store is locked the page says that nothing was sent; when it is free again, the same is kept once."""
    with starts(form, tmp_path / "locked.duckdb") as running:
        real, locked = running.store._known, [True]

        def known(keys: list[str]) -> dict[str, tuple[Any, ...]]:
            if locked[0]:
                raise OSError("locked")
            found: dict[str, tuple[Any, ...]] = real(keys)
            return found

        running.store._known = known
        bodies = open_form(page, running)
        fill(page)
        page.click("#questions button")
        page.click("#send")
        page.wait_for_selector("#trouble:not(:empty)", timeout=60_000)
        assert "It was not sent" in page.inner_text("#trouble")
        assert running.store.count == 0
        locked[0] = False
        page.click("#send")
        page.wait_for_selector("#done:not([hidden])")
        assert len(set(bodies)) == 1
        assert running.store.count == 1
