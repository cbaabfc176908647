"""Making a release for the screens, in a process of its own: as ``sfumato anonymize`` does it, and what screens show.

What is shown of a release is worked out from the very release that is saved: its columns before and after, what it
cost, and some of its classes row by row. It is kept beside the policy, where its history is, and holds rows of the
table: for the data holder alone.
"""

import hashlib
import json
import os
import secrets
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.core.memory import keep_freed_memory
from sfumato.engines.choice import EngineOptions, choose_engine
from sfumato.policy import load
from sfumato.publish.pseudonyms import check_key_apart
from sfumato.publish.publication import Publication
from sfumato.publish.signing_key import check_signing_key_apart, choose_signing_key
from sfumato.release import Release, prepare
from sfumato.release.folder import check_target, scratch_folder
from sfumato.report.before_after import raw_classes
from sfumato.risk import measure_prosecutor_risk
from sfumato.settled_policy import settle_columns

_CLASSES, _ROWS, _COLUMNS = 8, 12, 24
"""So many classes are shown, so many rows of each, and so many columns."""
VIEW = "sfumato-view/1"


def make_release(policy: str, target: str, view: str, *, tell: Callable[[str, int, int], None]) -> dict[str, Any]:
    """Make the release of a policy and save it at `target`; what screens show of it goes into the file `view`."""
    keep_freed_memory()
    out = Path(target)
    rules = load(Path(policy))
    rules = settle_columns(rules, rules.source.path)
    check_key_apart(rules, out)
    key = choose_signing_key(rules, None)
    check_signing_key_apart(key, rules, out, rules.source.path)
    check_target(out, force=True)
    if rules.publish.to is not None:
        from sfumato.publish.database_tables import check_target_tables  # noqa: PLC0415 - only for databases

        check_target_tables(rules, force=True)
    options = EngineOptions("auto")
    chosen = choose_engine(options, rules.source.place, rules)
    scratch = nullcontext() if chosen == "memory" else scratch_folder(out)
    tell("reading the table", 0, 0)
    with scratch as folder:
        release = prepare(
            None,
            rules,
            progress=lambda done, every: tell("looking for the best recoding", done, every),
            engine=replace(options, name=chosen, scratch=folder),
            note=lambda rows: tell("reading the table", rows, 0),
        )
        tell("writing, and letting the verifier read it", 0, 0)
        release.save(out, force=True, sign=key)
    tell("looking at what came of it", 0, 0)
    content = describe_release(release, out)
    _write_private(Path(view), json.dumps(content))
    return {"warnings": [*release.warnings, *release.mishaps], "rows": release.rows}


def manifest_digest(folder: Path) -> str:
    """Name a release by its manifest, which names all of its files."""
    return hashlib.sha256((folder / "public" / "manifest.json").read_bytes()).hexdigest()


def describe_release(release: Any, folder: Path) -> dict[str, Any]:
    """Work out what screens show of a release, fit for JSON."""
    content: dict[str, Any] = {
        "format": VIEW,
        "manifest": manifest_digest(folder),
        "warnings": [*release.warnings, *release.mishaps],
        "seconds": dict(release.seconds),
    }
    if not isinstance(release, Release):  # drawn rows are nobody's: their report says how like the original they are
        return content
    publication = release.publication
    before = measure_prosecutor_risk(raw_classes(publication.encoded))
    figures = release.figures
    rows = publication.encoded.rows
    content |= {
        "risk": {"before": before.as_json(), "after": release.risk.as_json()},
        "columns": [
            {
                "name": column.name,
                "role": str(publication.policy.columns[column.name].role),
                "bins": list(column.bins.names),
                "before": (column.rows_before / rows).tolist(),
                "after": (column.rows_after / rows).tolist(),
            }
            for column in figures.columns
        ],
        "classes": [] if publication.encoded.counts is not None else sample_classes(publication),
    }
    if not publication.split:
        content["costs"] = [
            {"name": name, "ncp": part.ncp, "labels": part.labels, "values": _width(publication, name)}
            for name, part in release.utility.attributes.items()
        ]
    if figures.association is not None:
        content["pairs"] = {
            "names": list(figures.association.names),
            "before": figures.association.before,
            "after": figures.association.after,
            "change": figures.association.change,
        }
    return content


def _width(publication: Publication, name: str) -> int:
    return next(one.column.width for one in publication.encoded.quasi if one.name == name)


def sample_classes(publication: Publication) -> list[dict[str, Any]]:
    """Draw some classes, the smallest among them: the labels that are published, beside the rows as they came."""
    encoded, recoding = publication.encoded, publication.recoding
    class_of = recoding.class_of
    number = int(class_of.max(initial=-1)) + 1
    if not number:
        return []
    sizes = np.bincount(class_of[class_of >= 0], minlength=number)
    smallest = int(sizes.argmin())
    drawn = secrets.SystemRandom().sample(range(number), min(_CLASSES, number))
    chosen = list(dict.fromkeys([smallest, *drawn]))[:_CLASSES]
    quasi = {one.name: one.column for one in encoded.quasi[:_COLUMNS]}
    shown = []
    for place in chosen:
        members = np.flatnonzero(class_of == place)
        some = members[:_ROWS]
        labels = {
            name: [recoding.labels[name].texts[code] for code in recoding.labels[name].codes[some].tolist()]
            for name in quasi
        }
        values = {name: [column.texts[code] for code in column.codes[some].tolist()] for name, column in quasi.items()}
        secret = {
            name: [column.texts[code] for code in column.codes[some].tolist()]
            for name, column in list(encoded.sensitive.items())[:_COLUMNS]
        }
        shown.append({"rows": len(members), "labels": labels, "values": values, "sensitive": secret})
    return shown


def _write_private(path: Path, text: str) -> None:
    path.parent.mkdir(mode=0o700, exist_ok=True)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    draft.replace(path)
