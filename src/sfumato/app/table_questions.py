"""What screens ask of a table, in the process that holds it: profile, risk, proposals, and what could be promised.

The server of pages never reads a table. It asks here, and gets counts, names and the bins of histograms. The last table
is kept, and read anew when its file or the way of reading it changes.
"""

import dataclasses
import json
import shutil
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from math import ceil, floor
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.app.tree_edits import checked_text
from sfumato.core.classes import EquivalenceClasses, SensitiveDomain, count_values
from sfumato.core.keys import count_keys, number_tuples, pack_tuples
from sfumato.encode import EncodedTable, encode, encode_column
from sfumato.errors import DataError, OutputError, PolicyError, SfumatoError
from sfumato.hierarchy import File, parse
from sfumato.masking import mask_table
from sfumato.models import Model
from sfumato.policy import Policy, Role
from sfumato.policy.database_url import DatabaseUrl, TablePlace, find_place
from sfumato.policy.policy import plain_tables, read_policy_file
from sfumato.policy.policy_file import hierarchies_folder, hierarchy_file_names
from sfumato.profile.presets import NO_PRESET, PRESETS
from sfumato.profile.proposal import Proposal, choose_column_hierarchy, hierarchy_file_text, propose
from sfumato.profile.proposed_hierarchies import MOST_LINES
from sfumato.profile.proposed_requirements import choose_k
from sfumato.profile.roles import RoleGuess, guess_roles
from sfumato.profile.table_profile import TableProfile, number_values, profile_table
from sfumato.profile.write_proposal import write
from sfumato.recode.algorithms import whole_table
from sfumato.release.folder import clear_leftovers, staged
from sfumato.release.verification import require_passed
from sfumato.report.column_bins import bin_arrow_values
from sfumato.risk import measure_prosecutor_risk
from sfumato.settled_policy import settle_columns, settle_functions
from sfumato.table import read_table
from sfumato.verifier import verify

_BINNED = 200_000
"""Columns with more different values are drawn only where they are numbers or few values are frequent."""


_SHOWN = 12
"""Labels of a level that a preview shows."""


class HeldTable:
    """A table that questions are asked of, with what was worked out of it already."""

    def __init__(self, policy: Path, profile: TableProfile, proposal: Proposal | None = None) -> None:
        self.place: TablePlace = profile.path
        self.profile = profile
        self._proposal = proposal
        self._coded: dict[str, tuple[Any, int]] = {}
        self._risks: dict[tuple[tuple[str, ...], str], dict[str, Any]] = {}
        self._encoded: tuple[str, Policy, EncodedTable] | None = None
        self._columns: list[dict[str, Any]] | None = None
        self._policy = policy

    def columns(self) -> list[dict[str, Any]]:
        """Describe each column: what it holds, a histogram, and what is proposed for it, with the reason."""
        if self._columns is None:
            proposed: dict[str, dict[str, Any]] = {}
            try:
                proposal = self._proposal or propose(self.profile, policy=self._policy)
            except SfumatoError:  # there is nothing to publish: roles alone
                for name, guess in guess_roles(self.profile.columns).items():
                    proposed[name] = {"role": str(guess.role), "reason": guess.reason, "grade": guess.caution.grade}
            else:
                for column in proposal.draft.columns:
                    again = column.relation.sentence(f"'{column.relation.source}'") if column.relation else ""
                    proposed[column.facts.name] = {
                        "role": str(column.guess.role),
                        "reason": column.guess.reason,
                        "grade": column.caution.grade,
                        "generalized": column.hierarchy.reason if column.hierarchy else "",
                        "again": again,
                    }
            self._columns = [self._describe(facts) | proposed[facts.name] for facts in self.profile.columns]
        return self._columns

    def _describe(self, facts: Any) -> dict[str, Any]:
        values = facts.values
        bins: list[tuple[str, int]] = []
        if facts.readable and 0 < values.distinct <= _BINNED:
            found = bin_arrow_values(values.texts, values.counts)
            counts = np.zeros(len(found), dtype=np.int64)
            np.add.at(counts, found.place, values.counts)
            bins = list(zip(found.names, counts.tolist(), strict=True))
        if bins and values.missing:
            bins.append(("missing", values.missing))
        return {
            "name": facts.name,
            "kind": str(facts.kind),
            "distinct": values.distinct,
            "missing": values.missing,
            "bins": bins,
        }

    def risk(self, quasi: Sequence[str], individual: str) -> dict[str, Any]:
        """Measure how many rows these columns single out as they are; by persons where a column names them."""
        known = [name for name in quasi if name in self.profile.table.arrow.column_names]
        asked = (tuple(sorted(known)), individual)
        if asked not in self._risks:
            found: dict[str, Any] = {"rows": self.profile.rows, "columns": len(known), "unit": "row"}
            if known and self.profile.rows:
                risk = measure_prosecutor_risk(self._classes(known, individual))
                found |= risk.as_json() | {"unit": "person" if individual else "row"}
            self._risks[asked] = found
        return self._risks[asked]

    def singling_out(self, quasi: Sequence[str], individual: str) -> list[dict[str, Any]]:
        """Tell of each column how many rows it singles out by itself, and how many the others would without it."""
        known = [name for name in quasi if name in self.profile.table.arrow.column_names]
        lines = []
        for name in known:
            others = [other for other in known if other != name]
            alone = self.risk([name], individual).get("uniques", 0)
            without = self.risk(others, individual).get("uniques", 0)
            lines.append({"name": name, "alone": alone, "without": without})
        return sorted(lines, key=lambda line: (line["without"], -line["alone"], line["name"]))

    def _classes(self, quasi: Sequence[str], individual: str) -> EquivalenceClasses:
        coded = [self._code(name) for name in quasi]
        packed = pack_tuples([codes for codes, _ in coded], [width for _, width in coded])
        if not individual:
            return EquivalenceClasses(count_keys(packed).counts)
        class_of, classes = number_tuples(packed)
        person, width = self._code(individual)
        totals = np.bincount(person, minlength=width)
        domain = SensitiveDomain(tuple(map(str, range(width))), totals)
        people = count_values(class_of, person, None, domain)
        return EquivalenceClasses(np.bincount(class_of, minlength=classes), individuals=people)

    def _code(self, name: str) -> tuple[Any, int]:
        if name not in self._coded:
            self._coded[name] = number_values(self.profile.table.arrow.column(name))
        return self._coded[name]

    def proposed_entry(self, name: str, role: str) -> tuple[dict[str, Any], str]:
        """Propose what a policy says of a column in a role, and the lines of its hierarchy file if it needs one."""
        facts = next((facts for facts in self.profile.columns if facts.name == name), None)
        if facts is None:
            raise DataError(f"the table has no column '{name}' any more; open the table again")
        guess = RoleGuess(Role(role), "chosen by hand")
        nulls = ("", *self.profile.null)
        k = choose_k(NO_PRESET, self.profile.rows)
        hierarchy = choose_column_hierarchy(facts, guess, NO_PRESET, k, nulls)
        if hierarchy is None:
            return {"role": role}, ""
        lines = hierarchy_file_text(hierarchy) if hierarchy.lines else ""
        least = {"least": hierarchy.least} if hierarchy.least and role == "quasi" else {}
        return {"role": role, "hierarchy": hierarchy.declaration, **least}, lines

    def encoded(self, document: Mapping[str, Any]) -> tuple[Policy, EncodedTable]:
        """Encode the table under a policy; that of the last question again, where columns and files are the same."""
        folder = self._policy.parent
        rules = Policy.read(document, folder=folder)
        key = json.dumps([document.get(part) for part in ("data", "columns", "previous")]) + _files_of(document, folder)
        if self._encoded is None or self._encoded[0] != key:
            rules = settle_columns(rules, self.place)
            masked = mask_table(read_table(self.place, rules), rules)
            rules = settle_functions(rules, partial(encode_column, masked.table))
            self._encoded = (key, rules, encode(masked.table, rules))
        return rules, self._encoded[2]


_held: dict[str, HeldTable] = {}
"""The last table that was asked about, by its place and the way of reading it."""


def hold_table(policy: str) -> HeldTable:
    """Give the table of a policy file: the one that is held, where nothing about it has changed."""
    key, place, options = _place_of(policy)
    if key not in _held:
        _held.clear()
        _held[key] = HeldTable(Path(policy), profile_table(place, options))
    return _held[key]


def _place_of(policy: str) -> tuple[str, TablePlace, dict[str, Any]]:
    """Find the table of a policy file and how it is read, with a key that changes when one of them does."""
    path = Path(policy)
    document = _read_document(path)
    data = document.get("data")
    options = dict(data) if isinstance(data, dict) else {}
    source = options.pop("source", None)
    if not isinstance(source, str):
        raise DataError("the policy does not say where its table is; open the table itself")
    place = find_place(source, folder=path.parent, key="data.source")
    stamp = ""
    if not isinstance(place, DatabaseUrl):
        with suppress(OSError):
            status = place.stat()
            stamp = f"{status.st_mtime_ns} {status.st_size} {status.st_ino}"
    return json.dumps([policy, str(place), stamp, options]), place, options


def _read_document(path: Path) -> dict[str, Any]:
    try:
        return plain_tables(tomllib.loads(read_policy_file(path).decode("utf-8-sig")))
    except ValueError:
        raise PolicyError(f"{path.name} is no TOML; mend it in an editor, or open another") from None


def _files_of(document: Mapping[str, Any], folder: Path) -> str:
    """Say when the hierarchy files of a policy were changed."""
    stamps = []
    columns: Any = document.get("columns", {})
    for entry in columns.values():
        name = entry.get("hierarchy") if isinstance(entry, Mapping) else None
        if isinstance(name, str):
            with suppress(OSError):
                stamps.append(f"{name} {(folder / name).stat().st_mtime_ns}")
    return " ".join(stamps)


# The questions. Each takes the path of a policy file and gives what can be sent.


def begin_policy(source: str, target: str, preset: str | None, chosen: dict[str, str]) -> list[str]:
    """Propose a policy for a table and write it with its hierarchies; gives the files, and holds the table."""
    proposal = propose(source, preset, policy=Path(target), chosen=chosen)
    files = [str(path) for path in write(proposal, Path(target))]
    _held.clear()
    _held[_place_of(target)[0]] = HeldTable(Path(target), proposal.draft.profile, None if preset else proposal)
    return files


def begin_demo(folder: str) -> str:
    """Write the made-up hospital's table, policy and hierarchy into a folder, and give the path of the policy."""
    import pyarrow.csv  # noqa: PLC0415 - for the demo alone

    from sfumato.datasets import hospital, hospital_policy  # noqa: PLC0415 - same

    place, example = Path(folder), hospital_policy()
    policy = place / "hospital.toml"
    if policy.exists():
        return str(policy)
    table = place / "hospital.csv"
    if not table.exists():
        pyarrow.csv.write_csv(hospital(), table)
    trees = hierarchies_folder(policy)
    trees.mkdir(mode=0o700, exist_ok=True)
    (trees / "job.csv").write_bytes((example.parent / "job.csv").read_bytes())
    text = example.read_text(encoding="utf-8").replace('"job.csv"', f'"{trees.name}/job.csv"')
    policy.write_text(text.replace("[columns]", '[data]\nsource = "hospital.csv"\n\n[columns]', 1), encoding="utf-8")
    return str(policy)


def clear_stopped(target: str) -> None:
    """Remove what a stopped run left beside its target."""
    clear_leftovers(Path(target).resolve())


def save_copy(folder: str, target: str) -> None:
    """Copy a release, which appears under its new name whole or not at all; the verifier reads the copy first."""
    source, place = Path(folder), Path(target)
    if not (source / "public" / "manifest.json").is_file():
        raise OutputError("there is no release of this policy; run it first")
    with staged(place) as stage:
        for part in ("public", "private"):
            if (source / part).is_dir():
                shutil.copytree(source / part, stage.path / part)
        require_passed(verify(stage.path))


def describe_table(policy: str) -> dict[str, Any]:
    """Describe the table of a policy and its columns."""
    held = hold_table(policy)
    return {"rows": held.profile.rows, "columns": held.columns(), "warnings": list(held.profile.table.warnings)}


def measure_risks(policy: str, asked: list[tuple[list[str], str]]) -> list[dict[str, Any]]:
    """Measure the risk of sets of quasi-identifiers, each with the column that names persons or none."""
    held = hold_table(policy)
    return [held.risk(quasi, individual) for quasi, individual in asked]


def find_singling_columns(policy: str, quasi: list[str], individual: str) -> list[dict[str, Any]]:
    """Find the columns that single rows out, those first without which fewest rows would be alone."""
    return hold_table(policy).singling_out(quasi, individual)


def propose_entry(policy: str, name: str, role: str) -> tuple[dict[str, Any], str]:
    """Propose a column's entry in a role, and the lines of its hierarchy file; the entry names the file, then."""
    entry, lines = hold_table(policy).proposed_entry(name, role)
    if lines:
        document = _read_document(Path(policy))
        columns = document.get("columns")
        others = [
            one.get("hierarchy")
            for other, one in (columns.items() if isinstance(columns, dict) else ())
            if other != name and isinstance(one, dict)
        ]
        folder = hierarchies_folder(Path(policy)).name
        # as many namesakes as are needed for a file that no other column has
        for namesakes in range(len(others) + 1):
            file = list(hierarchy_file_names([*[name.upper()] * namesakes, name], folder).values())[-1]
            if file not in others:
                entry["hierarchy"] = file
                break
    return entry, lines


def preview_hierarchy(policy: str, name: str, declaration: Any) -> dict[str, Any]:
    """Try a hierarchy on the values of a column: labels of each level with their rows, and values without a place.

    A fault is told as a sentence, in place of an error: somebody may be in the middle of typing.
    """
    held = hold_table(policy)
    facts = next((facts for facts in held.profile.columns if facts.name == name), None)
    if facts is None:
        raise DataError(f"the table has no column '{name}' any more; open the table again")
    texts, counts = facts.values.to_list(), facts.values.counts.tolist()
    found: dict[str, Any] = {"fault": "", "levels": [], "missing": [], "distinct": len(texts)}
    try:
        spec = parse(declaration, folder=Path(policy).parent, key="hierarchy")
        known = list(zip(texts, counts, strict=True))
        if isinstance(spec, File):
            leaves = {line[0] for line in spec.lines}
            found["missing"] = sorted(((text, rows) for text, rows in known if text not in leaves), key=_by_rows)
            known = [(text, rows) for text, rows in known if text in leaves]
        if spec.levelled and known:
            bound = spec.bind([text for text, _ in known], column=name, nulls=("", *held.profile.null))
            rows = np.array([rows for _, rows in known])
            for level, labels in enumerate(bound.labels):
                sums = np.bincount(bound.matrix[:, level], weights=rows, minlength=len(labels)).astype(int).tolist()
                listed = sorted(zip(labels, sums, strict=True), key=_by_rows)
                found["levels"].append({"labels": len(labels), "shown": listed[:_SHOWN], "fewest": min(sums)})
    except SfumatoError as error:
        found["fault"] = str(error)
    return found


def _by_rows(pair: tuple[str | None, int]) -> tuple[int, str]:
    return -pair[1], pair[0] or ""


def lines_of_column(policy: str, name: str, declaration: Any) -> str:
    """Write the labels that a hierarchy gives the values of a column as a file of groups; each by itself without."""
    facts = next((facts for facts in hold_table(policy).profile.columns if facts.name == name), None)
    if facts is None:
        raise DataError(f"the table has no column '{name}' any more; open the table again")
    if facts.values.distinct > MOST_LINES:
        raise DataError(
            f"column '{name}' has {facts.values.distinct:,} values, too many to be put into groups by hand; use "
            "intervals, a mask or dates"
        )
    texts = facts.values.to_list()
    spec = parse(declaration, folder=Path(policy).parent, key="hierarchy")
    if not spec.levelled:
        return checked_text([(text, "*") for text in texts])
    bound = spec.bind(texts, column=name)
    columns = [[labels[code] for code in bound.matrix[:, level]] for level, labels in enumerate(bound.labels)]
    return checked_text(list(zip(*columns, strict=True)))


def list_presets() -> list[dict[str, Any]]:
    """List the presets with their source."""
    return [
        {"name": one.name, "title": one.title, "source": one.source, "k": one.k, "suppression": one.suppression}
        for one in PRESETS.values()
    ]


def propose_by_preset(policy: str, preset: str) -> dict[str, Any]:
    """Propose a policy after a preset for the table of a policy: its text, its tables, and its hierarchy files."""
    path = Path(policy)
    held = hold_table(policy)
    proposal: Proposal = propose(held.profile, preset, policy=path)
    data: Any = _read_document(path).get("data", {})
    draft = dataclasses.replace(proposal.draft, source=data["source"])
    return {"document": draft.document, "text": draft.text(), "files": proposal.files}


def judge_requirements(policy: str) -> list[dict[str, Any]]:
    """Tell of each requirement on classes whether the table can meet it at all, and the nearest that it can.

    The table as one class is the most general release there is; what that fails, every release without suppressed rows
    fails.
    """
    document = _read_document(Path(policy))
    rules, encoded = hold_table(policy).encoded(document)
    if rules.publish.drawn:
        return [{"known": False} for _ in rules.requirements]
    whole = whole_table(encoded)
    found: list[dict[str, Any]] = []
    for entry in rules.requirements:
        if not isinstance(entry, Model):
            found.append({"known": False})
            continue
        try:
            entry.check(whole)
        except PolicyError as error:
            found.append({"known": True, "holds": False, "hint": str(error), "nearest": {}})
            continue
        holds = bool(entry.holds(whole).all())
        nearest = {} if holds else _nearest(entry, whole)
        found.append({"known": True, "holds": holds, "hint": entry.hint(whole), "nearest": nearest})
    return found


def _nearest(model: Any, whole: EquivalenceClasses) -> dict[str, float | int]:
    """Find for each key of a failing requirement the nearest value with which it would hold, the others as they are."""
    nearest: dict[str, float | int] = {}
    for key, reached in model.achieved(whole).items():
        asked = getattr(model, key, None)
        if not isinstance(asked, int | float) or isinstance(asked, bool) or asked == reached:
            continue
        tried: list[float | int] = [reached]
        if isinstance(asked, float) or not float(reached).is_integer():
            # four digits, to the side on which it holds; recursive c has to be above what is found
            scale = 10.0**4
            below, above = floor(reached * scale), ceil(reached * scale)
            tried = [below / scale, above / scale, (below + 1) / scale]
        for value in tried:
            with suppress(PolicyError):
                if dataclasses.replace(model, **{key: value}).holds(whole).all():
                    nearest[key] = value
                    break
    return nearest
