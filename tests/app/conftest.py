"""A server of pages for the tests: a real one on a free port of this machine, and a browser that has been let in."""

import http.client
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
import uvicorn

from sfumato.app.access import Access
from sfumato.app.app_routes import serve_app
from sfumato.app.workbench import Workbench
from sfumato.serving.local_server import listen, quiet_options

FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
Reply = tuple[int, dict[str, str], bytes]


@dataclass(frozen=True)
class ServedFolder:
    """A server over a folder, and how to talk to it."""

    root: Path
    access: Access
    bench: Workbench

    @property
    def host(self) -> str:
        """Its host, as a request says it."""
        return f"127.0.0.1:{self.access.port}"

    @property
    def entrance(self) -> str:
        """The address that works once."""
        return f"http://{self.host}/enter?{urlencode({'token': self.access.token, 'to': '/open'})}"

    def ask(self, method: str, path: str, body: str | None = None, **headers: str) -> Reply:
        """Send one request with these headers and no others; gives status, headers and content of the reply."""
        sent = {key.replace("_", "-"): value for key, value in headers.items()}
        with closing(http.client.HTTPConnection("127.0.0.1", self.access.port, timeout=60)) as connection:
            connection.putrequest(method, path, skip_host="Host" in sent, skip_accept_encoding=True)
            for name, value in sent.items():
                connection.putheader(name, value)
            content = None if body is None else body.encode()
            if content is not None:
                connection.putheader("Content-Length", str(len(content)))
                connection.putheader("Content-Type", "application/x-www-form-urlencoded")
            connection.endheaders(content)
            reply = connection.getresponse()
            return reply.status, {key.lower(): value for key, value in reply.getheaders()}, reply.read()

    def enter(self) -> str:
        """Take the token, and give the cookie as a browser sends it back."""
        _, headers, _ = self.ask("GET", self.entrance.partition(self.host)[2])
        return headers["set-cookie"].partition(";")[0]

    def get(self, cookie: str, path: str) -> Reply:
        """Ask as a browser that has been let in."""
        return self.ask("GET", path, Cookie=cookie)

    def post(self, cookie: str, path: str, **fields: str) -> Reply:
        """Send a form as one of our pages does."""
        return self.ask("POST", path, urlencode(fields), Cookie=cookie, Origin=f"http://{self.host}")

    def version(self, policy: str) -> str:
        """The version of a policy as it stands."""
        return self.bench.desk(policy).read().version


@contextmanager
def serve_folder(root: Path) -> Iterator[ServedFolder]:
    """Serve a folder from a thread of this process."""
    with closing(listen("127.0.0.1", 0)) as listening:
        access, bench = Access(listening.getsockname()[1]), Workbench(root.resolve())
        app = serve_app(bench, access, warm=False)  # processes start when something is asked
        server = uvicorn.Server(quiet_options(app))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            while not server.started:
                assert thread.is_alive()
                time.sleep(0.01)
            yield ServedFolder(root.resolve(), access, bench)
        finally:
            server.should_exit = True
            thread.join(30)
            assert not thread.is_alive()


Serves = Callable[[Path], ServedFolder]


@pytest.fixture
def serves() -> Iterator[Serves]:
    """Serve folders until the test ends."""
    with ExitStack() as servers:
        yield lambda root: servers.enter_context(serve_folder(root))


@pytest.fixture
def served(serves: Serves, clinic: Path) -> ServedFolder:
    """A server over a folder with a small table and its policy."""
    return serves(clinic)


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    """A folder with a table of forty people, and a policy for it with a hierarchy file."""
    folder = tmp_path / "clinic"
    (folder / "people-hierarchies").mkdir(parents=True)
    rows = [
        f"P{i:03d},{20 + i},{'fm'[i % 2]},{('cook', 'nurse', 'vet')[i % 3]},{('flu', 'HIV')[i % 4 == 0]}"
        for i in range(40)
    ]
    (folder / "people.csv").write_text("name,age,sex,job,illness\n" + "\n".join(rows) + "\n")
    (folder / "people-hierarchies" / "job.csv").write_text("cook,service,*\nnurse,health,*\nvet,health,*\n")
    (folder / "people.toml").write_text(
        """# A policy by hand.
[data]
source = "people.csv"

[columns]
name    = { role = "identifier" }
age     = { role = "quasi", hierarchy = { intervals = [5, 10, 20], domain = [0, 119] } }  # as in the census
sex     = { role = "quasi", hierarchy = "suppress" }
job     = { role = "quasi", hierarchy = "people-hierarchies/job.csv" }
illness = { role = "sensitive" }

# Nobody stands out.
[[privacy]]
model = "k-anonymity"
k = 4

[algorithm]
name = "optimal"   # one level per column
"""
    )
    return folder


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


@dataclass(frozen=True)
class Visit:
    """A page of a browser that has been let in, and everything that it asked for or complained of."""

    page: Any
    requests: list[str]
    complaints: list[str]


def is_complaint(said: Any) -> bool:
    """Whether a browser found something wrong; that a change was refused is none of it."""
    return said.type == "error" and not said.text.startswith("Failed to load resource")


Visits = Callable[[ServedFolder], Visit]


@pytest.fixture
def visits(browser: Any) -> Iterator[Visits]:
    """Let a browser in; afterwards it has asked for nothing off this server, and its policy was never violated."""
    made: list[tuple[Any, ServedFolder, Visit]] = []

    def visit(served: ServedFolder) -> Visit:
        context = browser.new_context(viewport={"width": 1400, "height": 950})
        page = context.new_page()
        page.set_default_timeout(60_000)
        visit = Visit(page, [], [])
        context.on("request", lambda request: visit.requests.append(request.url))
        page.on("pageerror", lambda error: visit.complaints.append(str(error)))
        page.on("console", lambda said: visit.complaints.append(said.text) if is_complaint(said) else None)
        page.goto(served.entrance)
        made.append((context, served, visit))
        return visit

    yield visit
    for context, served, visited in made:
        context.close()
        assert visited.complaints == []
        assert [url for url in visited.requests if not url.startswith(f"http://{served.host}/")] == []
