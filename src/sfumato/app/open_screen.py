"""Open: tables and policies of the folder that the server was started in, the demo, databases of the environment.

A table is profiled, and a policy for it is written beside it. A policy that is there already is opened, never replaced.
"""

import os
from datetime import UTC, datetime
from pathlib import Path

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from sfumato.app.page_frame import Screen, address, empty_state, form, labelled, message, screen_page, select, submit
from sfumato.app.policy_desk import PolicyDesk
from sfumato.app.work_folder import MOST_FILES, TABLE_ENDINGS, FoundFile
from sfumato.app.workbench import Workbench, read_form
from sfumato.errors import PolicyError
from sfumato.page.html import Markup, name, note, section, tag
from sfumato.policy.database_url import DatabaseUrl
from sfumato.serving.refused_request import Refused

DATABASE_PREFIX = "SFUMATO_DATABASE"
"""Environment variables whose names begin so may hold the URL of a database."""


class OpenScreen:
    """The screen, and what its forms do."""

    key, title = "open", "Open"

    def __init__(self, bench: Workbench) -> None:
        self.bench = bench

    async def show(self, request: Request) -> Response:
        """List what can be opened; a table that the command was given comes first."""
        given = request.query_params.get("table", "")
        screen = Screen(self.key, self.title)
        policies, tables = self.bench.folder.find_files()
        tables.sort(key=lambda found: found.path != given)
        parts: list[object] = [tag("h1", "What do you want to publish?")]
        where = tag("p", "Files of ", tag("code", str(self.bench.folder.root)), ". Nothing is uploaded.", class_="note")
        parts.append(where)
        if policies:
            listed = [_policy_line(found) for found in policies[:MOST_FILES]]
            parts.append(section("Go on with a policy", tag("ul", *listed, class_="files"), _more(policies)))
        if tables:
            lines = [self._table_line(screen, found, policies) for found in tables[:MOST_FILES]]
            how = note("A policy is proposed for the table, with a reason for every column, and written beside it.")
            parts.append(section("Begin with a table", how, tag("ul", *lines, class_="files"), _more(tables)))
        else:
            parts.append(
                empty_state(
                    "There is no table here",
                    tag(
                        "p",
                        "Put one into this folder (CSV, Parquet, Excel, SPSS, Stata, SAS, SQLite, DuckDB and more), or "
                        "start sfumato serve in the folder where it is. To look around first, try the demo below.",
                    ),
                )
            )
        databases = find_databases()
        if databases:
            parts.append(self._databases(screen, databases))
        parts.append(
            section(
                "Try it",
                tag(
                    "p",
                    "A made-up hospital of 4,000 patients, with a policy that is finished. Its two files are written ",
                    "into this folder.",
                ),
                form(screen, "/open/demo", submit("Open the demo"), leaves=True),
            )
        )
        return HTMLResponse(screen_page(screen, *parts))

    def _table_line(self, screen: Screen, found: FoundFile, policies: list[FoundFile]) -> Markup:
        target = policy_name(found.path)
        there = any(one.path == target for one in policies)
        what = "Open its policy" if there else "Begin"
        begin = form(
            screen,
            "/open/table",
            tag("input", type="hidden", name="table", value=found.path),
            submit(what, aria_label=f"{what}: {found.path}", class_="" if there else "main"),
            leaves=True,
        )
        return tag("li", tag("span", name(found.path), tag("small", _facts(found))), begin)

    def _databases(self, screen: Screen, databases: dict[str, DatabaseUrl]) -> Markup:
        choices = [(variable, f"{url.name} ({variable})") for variable, url in databases.items()]
        return section(
            "Begin with a database",
            note("Passwords stay in the environment; neither the policy nor an address has one."),
            form(
                screen,
                "/open/database",
                labelled("Database", select("variable", choices, "")),
                labelled("Table", tag("input", name="table", autocomplete="off", spellcheck="false", required="")),
                labelled("Policy to write", tag("input", name="target", value="database.toml", required="")),
                submit("Begin", class_="main"),
                leaves=True,
                class_="fields",
            ),
        )

    async def open_table(self, request: Request) -> Response:
        """Propose a policy for a table and open it; or open the one that is there."""
        fields = await read_form(request)
        path = self.bench.folder.find(fields["table"])
        if not path.name.lower().endswith(TABLE_ENDINGS) or not path.exists():
            raise Refused("there is no such table in the folder; choose one", 404)
        return await self.begin(str(path), self.bench.folder.name_of(path))

    async def begin(self, source: str, table: str, chosen: dict[str, str] | None = None, target: str = "") -> Response:
        """Write a policy for a source under the name of its table, unless there is one, and go to its columns."""
        policy = target or policy_name(table)
        path = self.bench.folder.find(policy)
        if not path.exists():
            await self.bench.ask("begin_policy", source, str(path), None, chosen or {})
            PolicyDesk(path).begin(f"proposed for {Path(table).name}")
        elif path.suffix != ".toml":
            raise PolicyError(f"{path.name} is no policy; choose a name that ends with .toml")
        return RedirectResponse(address("/columns", policy=policy), 303)

    async def open_demo(self, request: Request) -> Response:
        """Write the demo and open it."""
        await read_form(request)
        policy = Path(await self.bench.ask("begin_demo", str(self.bench.folder.root)))
        return RedirectResponse(address("/columns", policy=self.bench.folder.name_of(policy)), 303)

    async def open_database(self, request: Request) -> Response:
        """Propose a policy for a table of a database that the environment names."""
        fields = await read_form(request)
        databases = find_databases()
        url = databases.get(fields["variable"])
        if url is None:
            raise Refused("the environment has no such database; set the variable and start sfumato serve again", 404)
        target = fields["target"]
        if not target.endswith(".toml"):
            raise PolicyError("a policy is a file whose name ends with .toml; name it so")
        if self.bench.folder.find(target).exists():
            raise PolicyError(f"{target} exists already; open it above, or choose another name")
        return await self.begin(url.text, url.name, {"table": fields["table"]}, target)


def policy_name(table: str) -> str:
    """Name the policy of a table, beside it.

    >>> policy_name("clinic/visits.csv.gz"), policy_name("adult.data.parquet")
    ('clinic/visits.toml', 'adult.data.toml')
    """
    ending = max((end for end in TABLE_ENDINGS if table.lower().endswith(end)), key=len, default="")
    return table[: len(table) - len(ending)] + ".toml"


def find_databases() -> dict[str, DatabaseUrl]:
    """Find the databases that the environment names, by their variable; what is no URL, or has a password, is not."""
    found = {}
    for variable, text in sorted(os.environ.items()):
        if variable.startswith(DATABASE_PREFIX):
            try:
                found[variable] = DatabaseUrl.read(text)
            except PolicyError:
                continue
    return found


def _policy_line(found: FoundFile) -> Markup:
    link = tag("a", name(found.path), href=address("/columns", policy=found.path))
    return tag("li", tag("span", link, tag("small", _facts(found))))


def _facts(found: FoundFile) -> str:
    when = datetime.fromtimestamp(found.changed, tz=UTC).astimezone()
    return f" {_size(found.size)}, changed {when:%Y-%m-%d %H:%M}"


def _size(number: int) -> str:
    """Write a size in bytes.

    >>> _size(512), _size(3_400_000)
    ('512 bytes', '3.4 MB')
    """
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if number >= factor:
            return f"{number / factor:.1f} {unit}"
    return f"{number:,} bytes"


def _more(files: list[FoundFile]) -> Markup | str:
    left = len(files) - MOST_FILES
    return (
        message("note", f"{left:,} more files are not listed; start sfumato serve in their folder.") if left > 0 else ""
    )
