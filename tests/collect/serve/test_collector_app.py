"""The collector as a server: what it takes, refuses and shows, and what it never says or keeps."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sfumato.collect import CollectionForm, CollectorClient, Noise
from sfumato.collect.collector_page import results_page
from sfumato.collect.live_results import LEAST_ANSWERS, LiveResults
from sfumato.collect.permanent_response import perturb_answer
from sfumato.collect.submission import longest_submission, read_submission, write_submission
from sfumato.core.randomness import Randomness
from sfumato.errors import InputError

TRUE: dict[str, Any] = {
    "age": 34,
    "hours": 20.5,
    "files": 20000,
    "use": "papers",
    "sex": "m",
    "language": "C",
    "features": ["macros"],
}


def test_an_answer_is_kept_once(collector: Any) -> None:
    """It is acknowledged when it is in the store; sent again it is acknowledged again, and counts once."""
    key = os.urandom(16).hex()
    for _ in range(3):
        assert collector.submit(key) == (200, {"kept": key})
    assert collector.store.count == 1
    status, said = collector.submit(key, use="programs")
    assert (status, list(said)) == (409, ["error"])
    assert collector.store.count == 1


def test_what_cannot_be_is_refused_with_a_sentence(collector: Any, form: CollectionForm) -> None:
    """Nothing of it is kept, and the reply says what to do."""
    assert collector.submit(age=41.23456789)[0] == 422
    assert collector.submit(features=["macros", "macros"])[0] == 422
    assert collector.post(b"{")[0] == 400
    stale = write_submission(os.urandom(16).hex(), "0" * 64, {})
    status, said = collector.post(stale)
    assert status == 409
    assert "fetch noise.json anew" in said["error"]
    status, said = collector.post(b" " * (longest_submission(form.noise) + 1))
    assert status == 413
    assert "bytes" in said["error"]
    assert collector.ask("POST", "/answers", b"{}", Content_Type="text/plain")[0] == 415
    assert collector.ask("GET", "/answers")[0] == 405
    assert collector.ask("GET", "/nothing")[0] == 404
    assert collector.store.count == 0


def test_pages_load_nothing_from_elsewhere(collector: Any) -> None:
    """Every reply carries the strict policy, none sets a cookie, and no page has a script or style within."""
    for path in ("/", "/results", "/noise.json", "/results.json", "/collector.js", "/style.css", "/nothing"):
        _, headers, content = collector.ask("GET", path)
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "form-action 'none'" in policy
        assert not {"set-cookie", "server", "date"} & headers.keys()
        text = content.decode()
        if headers["content-type"].startswith("text/html"):
            assert "style=" not in text
            assert "<style" not in text
            assert " on" not in {part[:3] for part in text.split("=")}
            assert text.count("<script") == text.count('<script src="collector.js"')
        assert "http://" not in text
        assert "https://" not in text


def test_the_noise_is_public(collector: Any, form: CollectionForm) -> None:
    """What the page perturbs by is what anybody can read."""
    assert Noise.read(json.loads(collector.ask("GET", "/noise.json")[2])) == form.noise


def test_texts_of_a_form_cannot_become_markup(tmp_path: Path, starts: Callable[..., Any]) -> None:
    """Titles, questions and answers with angle brackets and quotes stand in the page as text."""
    nasty = "<script>alert('x')</script> & \"q\""
    question = {"name": nasty, "text": nasty, "kind": "response", "values": [nasty, "b"], "keep": 0.5}
    form = CollectionForm.read({"title": nasty, "text": nasty, "question": [question]})
    with starts(form, tmp_path / "a.duckdb") as running:
        for _ in range(LEAST_ANSWERS):
            body = write_submission(os.urandom(16).hex(), running.digest, {nasty: nasty})
            assert running.post(body)[0] == 200
        for path in ("/", "/results"):
            assert b"<script>" not in running.ask("GET", path)[2]


@pytest.mark.slow
def test_results_recover_what_was_never_sent(form: CollectionForm) -> None:
    """Of ten thousand perturbed answers, shares come out near the true ones, whose intervals hold most of them."""
    count, randomness = 10_000, Randomness(3)
    generator = np.random.default_rng(1)
    use = form.question("use").noise
    features = form.question("features").noise
    age = form.question("age").noise
    reports = [dict(TRUE) for _ in range(50)]
    drawn = [
        {name: perturb_answer(name, one, answers[name], randomness) for name, one in form.noise.columns.items()}
        for answers in reports
    ]
    cells = [read_submission(write_submission("0" * 32, "d", one), form.noise, "d").cells for one in drawn]
    import pyarrow as pa

    table = pa.table(
        {name: [row[place] for row in cells] * (count // 50) for place, name in enumerate(form.noise.columns)}
    )
    true_age = np.clip(generator.normal(40, 8, count), 10, 90)
    codes = generator.choice(3, count, p=[0.6, 0.3, 0.1])
    bits = generator.random((count, 3)) < [0.7, 0.2, 0.5]
    table = table.set_column(0, "age", pa.array(age.perturb(true_age, randomness)))  # type: ignore[arg-type]
    used = [use.values[code] for code in use.perturb(codes, randomness)]  # type: ignore[union-attr, arg-type]
    table = table.set_column(3, "use", pa.array(used))
    turned = features.perturb(bits, randomness)  # type: ignore[arg-type]
    baskets = ["|".join(np.array(["macros", "spelling", "themes"])[row].tolist()) for row in turned]
    table = table.set_column(6, "features", pa.array(baskets))

    results = LiveResults(form)
    assert not results.is_fresh(count)
    found = {one["name"]: one for one in results.compute(table)["questions"]}
    assert results.is_fresh(count)
    assert [one["share"] for one in found["use"]["values"]] == pytest.approx([0.6, 0.3, 0.1], abs=0.04)
    assert [one["share"] for one in found["features"]["values"]] == pytest.approx([0.7, 0.2, 0.5], abs=0.05)
    bins = found["age"]["bins"]
    middle = sum(one["share"] for one in bins if one["low"] >= 26 and one["high"] <= 54)
    assert middle > 0.75  # 0.92 of the true ages; of the reports, half
    for one in [*bins, *found["use"]["values"], *found["features"]["values"]]:
        assert 0 <= one["low95"] <= one["share"] <= one["high95"] <= 1
    page = results_page(form, results.last or {})
    assert page.count("<svg") == len(form.questions)
    assert "10,000 answers so far" in page


def test_results_wait_for_answers(collector: Any) -> None:
    """Below a least number the page says how many are needed; from there on it has a chart for each question."""
    for _ in range(LEAST_ANSWERS - 1):
        assert collector.submit()[0] == 200
    content = collector.ask("GET", "/results")[2].decode()
    assert "<svg" not in content
    assert f"from {LEAST_ANSWERS} answers on" in content
    collector.submit()
    found = json.loads(collector.ask("GET", "/results.json")[2])
    assert found["answers"] <= LEAST_ANSWERS  # perhaps the last look, which is kept for a moment


def test_a_client_sends_what_it_drew_and_again_the_same(collector: Any, tmp_path: Path) -> None:
    """A program that answers ten times sends one report of each answer; the store never sees another."""
    client = CollectorClient(collector.address, memory=tmp_path / "memory")
    sent = [client.answer(TRUE) for _ in range(10)]
    assert sent == [sent[0]] * 10
    assert collector.store.count == 10  # ten submissions, each of the same reports
    assert set(collector.store.read("age").column("age").to_pylist()) == {sent[0]["age"]}


def test_a_client_sends_again_under_the_same_key(
    collector: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the acknowledgement is lost on the way, what was kept is acknowledged again, and counts once."""
    client = CollectorClient(collector.address, memory=tmp_path / "memory", pause=0.01)
    real, lost = client._ask, [2]

    def lossy(method: str, path: str, body: bytes | None) -> tuple[int, bytes]:
        reply = real(method, path, body)
        if method == "POST" and lost[0]:
            lost[0] -= 1
            raise ConnectionResetError
        return reply

    monkeypatch.setattr(client, "_ask", lossy)
    client.answer(TRUE)
    assert collector.store.count == 1
    lost[0] = 99
    with pytest.raises(InputError, match="cannot be reached"):
        client.answer(TRUE)
    assert collector.store.count == 2
    lost[0] = 0
    later = CollectorClient(collector.address, memory=tmp_path / "memory")  # another run of the program
    later.answer(TRUE)
    assert collector.store.count == 2
    later.answer(TRUE)
    assert collector.store.count == 3


def test_a_client_says_what_is_wrong(collector: Any, tmp_path: Path, form: CollectionForm) -> None:
    """A question too many or too few, and a collector that is away or refuses, end in one sentence each."""
    client = CollectorClient(collector.address, memory=tmp_path / "memory", tries=1)
    with pytest.raises(InputError, match="does not ask 'agee'; did you mean age"):
        client.answer(TRUE | {"agee": 1})
    with pytest.raises(InputError, match="also asks 'age'"):
        client.answer({key: value for key, value in TRUE.items() if key != "age"})
    with pytest.raises(InputError, match="column 'age'"):
        client.answer(TRUE | {"age": 200})
    away = CollectorClient("http://127.0.0.1:9/", memory=tmp_path / "memory", tries=2, pause=0.01)
    with pytest.raises(InputError, match="cannot be reached"):
        away.answer(TRUE)
    stale = CollectorClient(collector.address, memory=tmp_path / "memory")
    stale._noise = Noise({**form.noise.columns, "age": form.noise.columns["hours"]})
    with pytest.raises(InputError, match="the collector refused the answer: the noise of this collection is another"):
        stale.answer(TRUE)
    assert collector.store.count == 0


def test_the_store_is_read_in_no_order_of_arrival(collector: Any) -> None:
    """Answers that came in a known order come back in that of their random keys."""
    keys = [os.urandom(16).hex() for _ in range(40)]
    for place, key in enumerate(keys):
        collector.submit(key, files=float(place))
    order = [float(keys.index(key)) for key in sorted(keys)]
    assert collector.store.read("files").column("files").to_pylist() == order
