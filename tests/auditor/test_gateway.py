"""The gateway: tokens, one after the other, bodies of a largest size, and a page."""

import http.client
import json
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import uvicorn

from sfumato.auditor.gateway_app import example_statement, gateway_app, gateway_page
from sfumato.auditor.gateway_tokens import GatewayTokens
from sfumato.auditor.query_ledger import AuditSettings, QueryLedger
from sfumato.errors import InputError
from sfumato.serving.local_server import quiet_options

ANN, BOB = "correct horse battery", "staple of the other"
COUNT = 60


@dataclass(frozen=True)
class Gateway:
    """A gateway that runs, and how to talk to it."""

    port: int
    ledger: QueryLedger

    def request(
        self, method: str, path: str, body: bytes | None = None, **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        """Send one request; gives status, headers and content of the reply."""
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)) as connection:
            connection.request(method, path, body, {key.replace("_", "-"): value for key, value in headers.items()})
            reply = connection.getresponse()
            return reply.status, {key.lower(): value for key, value in reply.getheaders()}, reply.read()

    def ask(self, sql: str, token: str = ANN) -> dict[str, Any]:
        """Ask something."""
        body = json.dumps({"sql": sql}).encode()
        status, _, content = self.request(
            "POST", "/ask", body, Content_Type="application/json", Authorization=f"Bearer {token}"
        )
        assert status == 200, content
        said: dict[str, Any] = json.loads(content)
        return said


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[Gateway]:
    """A gateway in a thread of this process."""
    data = pa.table({"id": list(range(COUNT)), "x": [(-1) ** n * n for n in range(COUNT)]})
    ledger = QueryLedger.create(tmp_path / "audit.db", data, AuditSettings(("x",), ("id",), name="numbers"))
    tokens = GatewayTokens.read({"users": {"ann": ANN, "bob": BOB}})
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = uvicorn.Server(quiet_options(gateway_app(ledger, tokens)))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            while not server.started:
                assert thread.is_alive()
                time.sleep(0.01)
            yield Gateway(listening.getsockname()[1], ledger)
        finally:
            server.should_exit = True
            thread.join(30)


def test_users_ask_and_see_what_they_asked(gateway: Gateway) -> None:
    """Answers, denials, and a history of their own."""
    assert gateway.ask("select sum(x)") == {"answered": True, "columns": ["sum(x)"], "rows": [[-30]]}
    denied = gateway.ask("select sum(x) where id <> 7", BOB)
    assert denied["answered"] is False
    assert "give away" in denied["reason"]
    _, _, content = gateway.request("GET", "/history", Authorization=f"Bearer {BOB}")
    assert [one["outcome"] for one in json.loads(content)["entries"]] == ["denied"]
    _, headers, content = gateway.request("GET", "/about", Authorization=f"bearer {ANN}")
    example = "select id, avg(x) group by id"
    known = {"user": "ann", "table": "numbers", "on": ["id"], "protected": ["x"], "example": example}
    assert json.loads(content) == known
    assert headers["cache-control"] == "no-store"
    assert "server" not in headers


@pytest.mark.parametrize("protected", ["pay-net", "illness", 'a "b"', "group", "FROM", "Case"])
def test_the_example_of_the_page_can_be_read(protected: str, tmp_path: Path) -> None:
    """Whatever the columns are called and hold, and whichever figures are answered."""
    values = [-3, 4, 5, 6, 7, 8] if protected != "illness" else list("abcabc")
    table = pa.table({protected: values, "Age, years": [1] * 6})
    for number, figures in enumerate((("sum", "max"), ("min",))):
        settings = AuditSettings((protected,), ("Age, years",), figures=figures)
        ledger = QueryLedger.create(tmp_path / f"{number}.db", table, settings)
        assert ledger.ask(example_statement(ledger)).answered
        ledger.close()


def test_a_wrong_token_learns_nothing(gateway: Gateway) -> None:
    """Whatever it asks, and however wrong it is, the reply is the same to the byte."""
    body = json.dumps({"sql": "select sum(x)"}).encode()
    replies = set()
    for given in (
        "",
        "Bearer",
        "Bearer wrong",
        f"Basic {ANN}",
        f"Bearer {ANN[:-1]}",
        f"Bearer {ANN}x",
        ANN,
        "Bearer \xff",
    ):
        for method, path, content in (
            ("POST", "/ask", body),
            ("POST", "/ask", b"{"),
            ("GET", "/history", None),
            ("GET", "/about", None),
        ):
            status, headers, said = gateway.request(
                method, path, content, Authorization=given, Content_Type="text/plain"
            )
            replies.add((status, tuple(sorted(headers.items())), said))
    assert len(replies) == 1
    assert replies.pop()[0] == 401
    assert gateway.ledger.history() == []


def test_bodies_that_are_not_taken(gateway: Gateway) -> None:
    """Of another kind, no JSON, something else, or too long."""
    known = {"Authorization": f"Bearer {ANN}"}
    for body, kind, status in (
        (b'{"sql": "select sum(x)"}', "text/plain", 415),
        (b"{", "application/json", 400),
        (b"[" * 100_000, "application/json", 400),
        (b'{"sql": 7}', "application/json", 400),
        (b'{"sql": "select 1", "user": "bob"}', "application/json", 400),
        (b'{"sql": "' + b"x" * 200_000 + b'"}', "application/json", 413),
        (b"\xff\xfe", "application/json", 400),
    ):
        found, _, content = gateway.request("POST", "/ask", body, Content_Type=kind, **known)
        assert (found, "error" in json.loads(content)) == (status, True)
    assert gateway.request("GET", "/ask", None, **known)[0] == 405
    assert gateway.request("GET", "/nothing", None, **known)[0] == 404
    assert gateway.ledger.history() == []
    assert gateway.ask('select sum(x) where id = "\ud800"'.encode("utf-8", "surrogatepass").decode("utf-8", "replace"))


def test_a_body_of_a_gigabyte_is_refused_unread(gateway: Gateway) -> None:
    """By its length where it says one, and else as soon as it is too long."""
    with socket.create_connection(("127.0.0.1", gateway.port), timeout=30) as connection:
        head = f"POST /ask HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {ANN}\r\nContent-Type: application/json\r\n"
        connection.sendall(f"{head}Content-Length: {1 << 30}\r\n\r\n".encode() + b"x" * 1000)
        assert b" 413 " in connection.recv(200)
    with socket.create_connection(("127.0.0.1", gateway.port), timeout=30) as connection:
        connection.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
        sent = 0
        chunk = b"10000\r\n" + b"x" * 65536 + b"\r\n"
        try:
            while sent < 1 << 30:
                connection.sendall(chunk)
                sent += 65536
                connection.settimeout(0.02)
                try:
                    assert b" 413 " in connection.recv(200)
                    break
                except TimeoutError:
                    connection.settimeout(30)
        except (BrokenPipeError, ConnectionResetError):
            pass
        assert sent < 1 << 24
    assert gateway.ask("select sum(x)")["answered"]


@pytest.mark.slow
def test_fifty_clients_at_once_are_answered_one_after_the_other(gateway: Gateway) -> None:
    """Each asks for everybody but one: whoever comes after the sum of all is denied, and together they get nothing."""
    asked = [f"select sum(x) where id <> {n}" for n in range(50)] + ["select sum(x)"]
    with ThreadPoolExecutor(50) as pool:
        said = list(pool.map(gateway.ask, asked))
    entries = gateway.ledger.history()
    assert len(entries) == 51
    by_sql = {one["sql"]: one["outcome"] == "answered" for one in entries}
    assert by_sql == {sql: one["answered"] for sql, one in zip(asked, said, strict=True)}
    # two answers of this kind give away the difference of two people, and the sum of all one person
    assert not (by_sql["select sum(x)"] and any(by_sql[sql] for sql in asked[:50]))


def test_tokens_of_a_file(tmp_path: Path) -> None:
    """As they are or hashed; what is wrong is said without a token."""
    import hashlib

    file = tmp_path / "tokens.toml"
    hashed = hashlib.sha256(BOB.encode()).hexdigest()
    file.write_text(f'ann = "{ANN}"\n[others]\nbob = "sha256:{hashed}"\n', encoding="utf-8")
    tokens = GatewayTokens.load(file)
    assert [tokens.find_user(one) for one in (ANN, BOB, f"sha256:{hashed}", "")] == ["ann", "bob", None, None]
    assert ANN not in repr(tokens)
    for content, words in {
        "": "no user has a token",
        "ann = 7": "the token of 'ann' must be a text",
        'ann = "short"': "at least 8 characters",
        f'ann = "{ANN}"\n[b]\nann = "{BOB}"': "has two tokens",
        f'ann = "{ANN}"\nbob = "{ANN}"': "the same token",
        f'ann = "{ANN}': "not written as TOML",
    }.items():
        file.write_text(content, encoding="utf-8")
        with pytest.raises(InputError, match=words) as error:
            GatewayTokens.load(file)
        assert ANN not in str(error.value)


def test_the_page_loads_nothing_from_elsewhere(gateway: Gateway) -> None:
    """One script and one style, from the same place."""
    page = gateway_page()
    assert "http" not in page
    status, headers, content = gateway.request("GET", "/")
    assert (status, content.decode()) == (200, page)
    assert "default-src 'none'" in headers["content-security-policy"]
    assert gateway.request("GET", "/gateway.js")[0] == 200
    assert gateway.request("GET", "/style.css")[0] == 200


@pytest.mark.slow
def test_somebody_asks_on_the_page(gateway: Gateway) -> None:
    """With a real browser: a wrong token, an answer, a denial, the history."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("there is no Chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        troubles: list[str] = []
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.goto(f"http://127.0.0.1:{gateway.port}/")
        page.fill("#token", "wrong token")
        page.press("#token", "Enter")
        page.get_by_text("This token is not known.").wait_for()
        page.fill("#token", ANN)
        page.press("#token", "Enter")
        page.fill("#sql", "select sum(x), count(*)")
        page.click("#send")
        page.wait_for_selector("#answer table")
        assert page.inner_text("#answer td") == "60"
        page.fill("#sql", "select sum(x) where id <> 1")
        page.click("#send")
        page.wait_for_selector("#answer .denied")
        page.locator("#history article").nth(1).wait_for()
        browser.close()
    assert troubles == []
