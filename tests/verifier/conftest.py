"""Published tables and releases to look at, and ways to change what was written."""

import hashlib
import json
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

from sfumato import anonymize

COLUMNS: dict[str, Any] = {
    "sex": {"role": "quasi", "hierarchy": "suppress"},
    "zip": {"role": "quasi", "hierarchy": {"mask": "right", "length": 3}},
    "illness": {"role": "sensitive"},
    "visits": {"role": "plain"},
}
PRIVACY: list[dict[str, Any]] = [
    {"model": "k-anonymity", "k": 4},
    {"model": "distinct-l-diversity", "column": "illness", "l": 2},
    {"model": "t-closeness", "column": "illness", "t": 0.9, "distance": "variational"},
]


Lines = list[dict[str, Any]]


class Written:
    """A release on disk, and ways to change it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.public = folder, folder / "public"

    @property
    def manifest(self) -> dict[str, Any]:
        """The manifest as it stands."""
        found: dict[str, Any] = json.loads((self.public / "manifest.json").read_text())
        return found

    @property
    def table(self) -> Path:
        """The published table."""
        return next(path for path in self.public.iterdir() if path.stem == "table")

    def rewrite(self, account: str = "public/manifest.json", **change: Any) -> None:
        """Change top-level keys of an account."""
        path = self.folder / account
        path.write_text(json.dumps(json.loads(path.read_text()) | change))

    def sign(self) -> None:
        """Write the hashes of tables and manifest as they are now, as somebody who holds the whole folder could."""
        tables = sorted(path for path in self.public.iterdir() if path.name != "manifest.json")
        self.rewrite(files={path.name: _known(path.read_bytes()) for path in tables})
        manifest = hashlib.sha256((self.public / "manifest.json").read_bytes()).hexdigest()
        self.rewrite("private/audit.json", manifest_sha256=manifest)

    def load(self) -> list[dict[str, Any]]:
        """The rows of the published table."""
        if self.table.suffix == ".parquet":
            return list(pq.read_table(self.table).to_pylist())
        texts = dict.fromkeys(["sex", "zip", "illness"], pa.string())
        options = pc.ConvertOptions(column_types=texts, strings_can_be_null=True, quoted_strings_can_be_null=False)
        return list(pc.read_csv(self.table, convert_options=options).to_pylist())

    def store(self, rows: list[dict[str, Any]]) -> None:
        """Write rows in place of the published table; the manifest stays as it is."""
        write = pq.write_table if self.table.suffix == ".parquet" else pc.write_csv
        write(pa.Table.from_pylist(rows), self.table)


class Split:
    """A release of two tables, written by hand, and ways to change it; `tables` are its lines by the stem of the file.

    `roles` are the columns of NSS; all others are sensitive. What is not given of the manifest is as it should be.
    """

    def __init__(self, folder: Path, tables: Mapping[str, Lines], roles: Mapping[str, str], **manifest: Any) -> None:
        self.written, self.folder, self.public = Written(folder), folder, folder / "public"
        self.tables, self.kind = dict(tables), manifest.pop("kind", "csv")
        (folder / "private").mkdir(parents=True)
        self.public.mkdir()
        (folder / "private" / "audit.json").write_text(json.dumps(manifest.pop("audit", {})))
        for stem in self.tables:
            self.store(stem)
        account = self._account(roles, manifest.get("class_id", "class_id"))
        (self.public / "manifest.json").write_text(json.dumps(account | manifest))
        self.written.sign()

    def file(self, stem: str) -> str:
        """The name of a file."""
        return f"{stem}.{self.kind}"

    def store(self, stem: str) -> None:
        """Write the lines of a table as they are now."""
        path, lines = self.public / self.file(stem), self.tables[stem]
        if self.kind == "parquet":
            pq.write_table(pa.table({name: pa.array([line[name] for line in lines]) for name in lines[0]}), path)
            return
        rows = [list(lines[0]), *(list(line.values()) for line in lines)]
        path.write_text("".join(",".join(map(_cell, row)) + "\n" for row in rows), encoding="utf-8")

    def change(self, stem: str, how: Callable[[Lines], Lines]) -> None:
        """Write changed lines in place of a table, with the hash renewed."""
        self.tables[stem] = how([dict(line) for line in self.tables[stem]])
        self.store(stem)
        self.written.sign()

    def _account(self, roles: Mapping[str, str], class_id: str) -> dict[str, Any]:
        first, *others = self.tables
        entries = [self._entry(name, roles.get(name, "plain"), first) for name in self.tables[first][0]]
        entries += [self._entry(name, "sensitive", stem) for stem in others for name in self.tables[stem][0]]
        return {
            "form": "lossy-join",
            "nss": self.file(first),
            "ss": [self.file(stem) for stem in others],
            "class_id": class_id,
            "columns": [entry for entry in entries if entry["name"] != class_id],
            "rows": len(self.tables[first]),
            "classes": len({line[class_id] for line in self.tables[first]}),
            "files": {},
            "suppression_limit": 0.0,
            **({"csv": {"null": ""}} if self.kind == "csv" else {}),
        }

    def _entry(self, name: str, role: str, stem: str) -> dict[str, Any]:
        labels = list(dict.fromkeys(line[name] for line in self.tables[stem]))
        entry = {"name": name, "role": role, "type": "string", "table": self.file(stem)}
        return entry | ({"labels": labels} if role == "quasi" else {})


class Joined:
    """A release that was made with earlier ones, written by hand, and ways to change it.

    `promise` are its requirements; all columns but those of `roles` are quasi-identifiers. Earlier tables are CSV files
    of somebody else, joined on all columns that they share with it. What is given of the manifest stands in it.
    """

    def __init__(self, folder: Path, current: Lines, previous: Mapping[str, Lines], **manifest: Any) -> None:
        self.written, self.folder, self.public = Written(folder), folder, folder / "public"
        self.earlier = {name: folder.parent / f"{name}.csv" for name in previous}
        (folder / "private").mkdir(parents=True)
        self.public.mkdir()
        roles, audit = manifest.pop("roles", {}), manifest.pop("audit", {})
        (self.public / "table.csv").write_text(_csv(current), encoding="utf-8")
        for name, lines in previous.items():
            self.earlier[name].write_text(_csv(lines), encoding="utf-8")
        entries = [self._entry(name, previous[name], {*current[0]}) for name in previous]
        account = self._account(current, roles) | ({"previous": entries} if entries else {})
        (self.public / "manifest.json").write_text(json.dumps(account | manifest))
        paths = [{"name": name, "path": str(path)} for name, path in self.earlier.items()]
        (folder / "private" / "audit.json").write_text(json.dumps({"previous": paths} | audit))
        self.written.sign()

    def change(self, **change: Any) -> None:
        """Change keys of the manifest, with its hash renewed."""
        self.written.rewrite(**change)
        self.written.sign()

    def change_previous(self, **change: Any) -> None:
        """The same for the first of the earlier releases."""
        first, *others = self.written.manifest["previous"]
        self.change(previous=[first | change, *others])

    def _entry(self, name: str, lines: Lines, current: set[str]) -> dict[str, Any]:
        return {
            "name": name,
            "table": f"{name}.csv",
            "sha256": hashlib.sha256(self.earlier[name].read_bytes()).hexdigest(),
            "rows": len(lines),
            "csv": {"separator": ",", "null": [""], "guarded": False},
            "join": [column for column in lines[0] if column in current],
            "inconsistent": [],
        }

    def _account(self, current: Lines, roles: Mapping[str, str]) -> dict[str, Any]:
        quasi = [name for name in current[0] if name not in roles]
        return {
            "form": "generalized",
            "table": "table.csv",
            "columns": [{"name": name, "role": roles.get(name, "quasi"), "type": "string"} for name in current[0]],
            "rows": len(current),
            "classes": len({tuple(line[name] for name in quasi) for line in current}),
            "files": {},
            "suppression_limit": 0.0,
            "csv": {"null": ""},
        }


def _csv(lines: Lines) -> str:
    rows = [list(lines[0]), *(list(line.values()) for line in lines)]
    return "".join(",".join(map(_cell, row)) + "\n" for row in rows)


def _known(content: bytes) -> dict[str, Any]:
    return {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}


def _cell(value: Any) -> str:
    """A cell of a CSV: NULL is empty, texts that a spreadsheet would run get an apostrophe, odd ones are quoted."""
    if not isinstance(value, str):
        return "" if value is None else str(value)
    text = f"'{value}" if value.lstrip("'")[:1] in {*"=+-@\t\r\0"} else value
    return '"' + text.replace('"', '""') + '"' if text == "" or any(sign in text for sign in ',"\n\r') else text


@pytest.fixture
def split(tmp_path: Path) -> Callable[..., Split]:
    """A function that writes a release of two tables from their lines."""

    def make(nss: Lines, *ss: Lines, folder: str = "release", roles: Mapping[str, str], **manifest: Any) -> Split:
        stems: Sequence[str] = ["ss"] if len(ss) == 1 else [f"ss-{i}" for i in range(1, len(ss) + 1)]
        return Split(tmp_path / folder, {"nss": nss, **dict(zip(stems, ss, strict=True))}, roles, **manifest)

    return make


@pytest.fixture
def joined(tmp_path: Path) -> Callable[..., Joined]:
    """A function that writes a release and the earlier ones that it was made with."""

    def make(current: Lines, previous: Mapping[str, Lines], *, folder: str = "release", **manifest: Any) -> Joined:
        return Joined(tmp_path / folder, current, previous, **manifest)

    return make


def hospital(rows: int = 200, seed: int = 1) -> pa.Table:
    """Made-up patients."""
    draw = random.Random(seed)
    return pa.table(
        {
            "sex": [draw.choice("fm") for _ in range(rows)],
            "zip": [draw.choice(["431", "432", "433", "501"]) for _ in range(rows)],
            "illness": [draw.choice(["flu", "cold", "ulcer", None]) for _ in range(rows)],
            "visits": pa.array([draw.randrange(9) for _ in range(rows)], pa.int64()),
        }
    )


@pytest.fixture
def patients() -> tuple[pa.Table, dict[str, Any]]:
    """Two hundred made-up patients, and the roles of their columns."""
    return hospital(), COLUMNS


@pytest.fixture
def made(tmp_path: Path) -> Callable[..., Written]:
    """A function that makes a release of a table, the patients if none is given."""

    def make(table: Any = None, *, kind: str = "csv", folder: str = "release", **policy: Any) -> Written:
        rules: dict[str, Any] = {
            "columns": COLUMNS,
            "privacy": PRIVACY,
            "algorithm": {"name": "optimal", "seed": 1},
            "publish": {"format": kind},
            **policy,
        }
        return Written(anonymize(hospital() if table is None else table, rules).save(tmp_path / folder))

    return make
