"""Who is let in: every route there is refuses other hosts, other sites, and browsers without the cookie."""

import hashlib
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from sfumato.app.app_routes import app_routes
from sfumato.app.workbench import Workbench

ROUTES = sorted(
    (method, route.path)
    for route in app_routes(Workbench(Path("/nowhere")))
    for method in sorted((route.methods or set()) - {"HEAD"})
)
"""Every route: a new one is asked what it must refuse as soon as it stands in the table."""
POLICY_ROUTES = [
    (method, path) for method, path in ROUTES if "." not in path.rpartition("/")[2] or path.endswith("zip")
]


def body_of(method: str) -> str | None:
    """A form that would be taken, if it were let in."""
    return "policy=people.toml&version=x" if method == "POST" else None


def test_every_screen_is_in_the_table() -> None:
    """The list that the other tests go through is the application's own, and not empty."""
    assert len(ROUTES) > 20
    assert ("GET", "/columns") in ROUTES


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:PORT", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:PORT"]
)
def test_other_hosts_are_refused_everywhere(served: Any, host: str) -> None:
    """A page whose name resolves to this machine gets nothing, with the cookie or without."""
    cookie = served.enter()
    for method, path in [*ROUTES, ("GET", "/enter")]:
        said = host.replace("PORT", str(served.access.port))
        status, _, content = served.ask(
            method, path, body_of(method), Host=said, Cookie=cookie, Origin=f"http://{said}"
        )
        assert status == 421, (method, path)
        assert b"people" not in content


def test_without_the_cookie_nothing_is_given(served: Any) -> None:
    """Neither a screen nor its style, and a wrong cookie is none."""
    served.enter()
    name = served.access.cookie
    for cookie in ("", f"{name}=", f"{name}=wrong", "other=1"):
        for method, path in ROUTES:
            headers = {"Cookie": cookie} if cookie else {}
            origin = f"http://{served.host}"
            status, replied, _ = served.ask(method, path, body_of(method), Origin=origin, **headers)
            assert status == 403, (method, path)
            assert "set-cookie" not in replied


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "https://127.0.0.1"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ],
)
def test_other_sites_are_refused_everywhere(served: Any, headers: dict[str, str]) -> None:
    """Even where a browser sends the cookie along."""
    cookie = served.enter()
    for method, path in ROUTES:
        assert served.ask(method, path, body_of(method), Cookie=cookie, **headers)[0] == 403, (method, path)


def test_a_change_has_to_say_where_it_is_from(served: Any) -> None:
    """A form without Origin and without Sec-Fetch-Site is nobody's."""
    cookie = served.enter()
    for method, path in ROUTES:
        if method == "POST":
            assert served.ask(method, path, body_of(method), Cookie=cookie)[0] == 403, path


def test_the_token_works_once(served: Any) -> None:
    """The second time there is no cookie, and a wrong token does not use up the right one."""
    wrong = served.ask("GET", "/enter?token=wrong")
    assert wrong[0] == 403
    assert "set-cookie" not in wrong[1]
    way = served.entrance.partition(served.host)[2]
    status, headers, _ = served.ask("GET", way)
    assert (status, headers["location"]) == (303, "/open")
    assert "HttpOnly" in headers["set-cookie"]
    assert "SameSite=strict" in headers["set-cookie"]
    again = served.ask("GET", way)
    assert again[0] == 403
    assert b"was used already" in again[2]
    assert "set-cookie" not in again[1]


@pytest.mark.parametrize("target", ["//evil.example", "https://evil.example", "/\\evil.example", "open"])
def test_the_entrance_leads_nowhere_else(served: Any, target: str) -> None:
    """What the address says to go to is a page of ours or the first one."""
    token = served.access.token
    assert served.ask("GET", f"/enter?token={token}&to={quote(target)}")[1]["location"] == "/"


def test_every_reply_says_what_a_browser_may_do(served: Any) -> None:
    """No reply may be kept, framed, guessed at, or load anything of others; refusals included."""
    cookie = served.enter()
    for method, path in [*ROUTES, ("GET", "/nothing"), ("DELETE", "/open")]:
        for sent in ({"Cookie": cookie}, {}):
            origin = f"http://{served.host}"
            _, headers, _ = served.ask(method, f"{path}?policy=people.toml", body_of(method), Origin=origin, **sent)
            assert headers["cache-control"] == "no-store", path
            assert headers["x-content-type-options"] == "nosniff"
            policy = headers["content-security-policy"]
            assert policy.startswith(("default-src 'none'", "sandbox; default-src 'none'")), path
            assert "script-src 'self'" in policy or "script-src" not in policy
            assert "server" not in headers


@pytest.mark.parametrize(
    "name",
    [
        "../secret.toml",
        "../clinic/people.toml",
        "/etc/passwd",
        "people.csv",
        "..%2f..%2fetc%2fpasswd",
        "link.toml",
        "linked/secret.toml",
        "people.toml\0.toml",
        "",
        ".",
        "a" * 5000 + ".toml",
    ],
)
def test_no_route_leads_out_of_the_folder(served: Any, name: str) -> None:
    """Dots, absolute paths and links outwards are refused by every route that takes a policy, and write nothing."""
    outside = served.root.parent
    (outside / "secret.toml").write_text('[columns]\nsecret-column = { role = "plain" }\n')
    (served.root / "link.toml").symlink_to(outside / "secret.toml")
    (served.root / "linked").symlink_to(outside)
    cookie, before = served.enter(), sorted(outside.rglob("*"))
    for method, path in POLICY_ROUTES:
        if path in {"/", "/open", "/open/demo", "/open/database"}:
            continue
        if method == "GET":
            status, _, content = served.get(cookie, f"{path}?policy={quote(name)}")
        else:
            status, _, content = served.post(cookie, path, policy=name, version="", table=f"{name}x", name=name)
        assert status in {400, 404, 409, 422}, (method, path, status)
        assert b"secret-column" not in content
        assert b"root:" not in content
    assert sorted(outside.rglob("*")) == before


def test_forms_that_are_none_are_refused(served: Any) -> None:
    """Another type, a body that is too long, and bytes that are no form."""
    cookie, origin = served.enter(), f"http://{served.host}"
    assert served.ask("POST", "/undo", Cookie=cookie, Origin=origin)[0] == 415
    assert served.ask("POST", "/undo", "a=" + "x" * (9 << 20), Cookie=cookie, Origin=origin)[0] == 413
    assert served.ask("POST", "/undo", "a=%ff", Cookie=cookie, Origin=origin)[0] == 400
    assert served.ask("POST", "/undo", "&".join("a=1" for _ in range(60_000)), Cookie=cookie, Origin=origin)[0] == 400


def test_private_files_are_in_no_archive(served: Any) -> None:
    """What can be downloaded is public/ alone; there is no address of any other file."""
    cookie = served.enter()
    for path in ("/people.csv", "/people-release/private/audit.json", "/static/people.csv", "/release/private.zip"):
        assert served.get(cookie, path)[0] == 404


def test_vendored_scripts_are_those_of_npm() -> None:
    """Each has its licence beside it, and the hash that is written down."""
    folder = files("sfumato.app") / "vendor"
    listed = tomllib.loads((folder / "vendored.toml").read_text(encoding="utf-8"))
    scripts = {entry.name for entry in folder.iterdir() if entry.name.endswith(".js")}
    assert scripts == {one["file"] for one in listed.values()}
    for one in listed.values():
        assert hashlib.sha256((folder / one["file"]).read_bytes()).hexdigest() == one["sha256"]
        assert (folder / one["licence"]).read_text(encoding="utf-8").strip()
