"""From a file to a policy that runs as it is: its text, with the reason for every line, and its hierarchy files."""

import csv
import io
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import wrap
from typing import Any

from sfumato.errors import DataError, SfumatoError, shorten
from sfumato.hierarchy import parse
from sfumato.hierarchy.hierarchy import refuse_ambiguous_labels
from sfumato.page.wording import percent, plural
from sfumato.policy import Role
from sfumato.policy.database_url import DatabaseUrl, find_place
from sfumato.policy.policy_file import hierarchies_folder, hierarchy_file_names
from sfumato.policy.toml_text import write_key, write_table, write_value
from sfumato.profile.caution import Caution
from sfumato.profile.column_facts import ColumnFacts, ColumnKind
from sfumato.profile.frequency_groups import separate_labels
from sfumato.profile.presets import Preset, find_preset
from sfumato.profile.proposed_hierarchies import (
    MOST_LINES,
    SUPPRESS,
    ProposedHierarchy,
    propose_hierarchy,
    propose_intervals,
)
from sfumato.profile.proposed_requirements import ProposedRequirement, choose_k, count_people, propose_requirements
from sfumato.profile.redundant_columns import ColumnRelation, find_redundant_columns
from sfumato.profile.roles import RoleGuess, guess_roles
from sfumato.profile.table_profile import TableProfile, profile_table


def propose(
    path: str | os.PathLike[str] | TableProfile,
    preset: str | None = None,
    *,
    policy: str | os.PathLike[str] = "policy.toml",
    chosen: Mapping[str, str] | None = None,
) -> "Proposal":
    """Profile a table and propose a policy for it; `policy` is where it is to stand, which its paths start from.

    `path` may be the URL of a database, too; `chosen` has the `query` or `table` that is read of it, or the `sheet` of
    a workbook. A table that is in no file is given as its profile, and the policy then names no source.

    Raises a DataError where the file cannot be read or has nothing to publish, and Infeasible where the preset asks for
    more people than the table has.
    """
    rule, target = find_preset(preset), Path(policy)
    if isinstance(path, TableProfile):
        place, profile = None, path
    else:
        place = find_place(path if isinstance(path, str) else Path(path))
        profile = profile_table(place, chosen)
    guesses, relations = _decide_roles(profile, rule)
    k, nulls = choose_k(rule, count_people(profile, guesses)[1]), ("", *profile.null)
    hierarchies = {
        facts.name: choose_column_hierarchy(facts, guesses[facts.name], rule, k, nulls) for facts in profile.columns
    }
    listed = [name for name, hierarchy in hierarchies.items() if hierarchy and hierarchy.lines]
    files = hierarchy_file_names(listed, hierarchies_folder(target).name)
    columns = tuple(
        ProposedColumn(
            facts,
            guesses[facts.name],
            hierarchies[facts.name],
            files.get(facts.name, ""),
            relations.get(facts.name) if guesses[facts.name].role is not Role.IDENTIFIER else None,
        )
        for facts in profile.columns
    )
    quasi = [name for name, guess in guesses.items() if guess.role is Role.QUASI]
    source = ""
    if place is not None:
        folder = target.resolve().parent
        source = place.text if isinstance(place, DatabaseUrl) else os.path.relpath(place.resolve(), folder)
    requirements = propose_requirements(profile, guesses, rule)
    draft = PolicyDraft(profile, rule, columns, requirements, source, profile.count_unique(quasi))
    contents = {
        column.file: hierarchy_file_text(column.hierarchy) for column in columns if column.hierarchy and column.file
    }
    return Proposal(draft, draft.text(), contents)


@dataclass(frozen=True, eq=False, repr=False)
class Proposal:
    """A policy to start from: its text, its hierarchy files by name, and what it was made of."""

    draft: "PolicyDraft"
    text: str
    files: dict[str, str]

    @property
    def document(self) -> dict[str, Any]:
        """The policy as tables."""
        return self.draft.document

    @property
    def decisions(self) -> int:
        """How many lines somebody should look at."""
        return self.draft.decisions

    def as_json(self) -> dict[str, Any]:
        """For ``--json``: the profile and the decisions, and no value of any column."""
        return {
            "source": self.draft.source,
            "rows": self.draft.profile.rows,
            "preset": self.draft.preset.name or None,
            "columns": [column.as_json() for column in self.draft.columns],
            "privacy": [requirement.content for requirement in self.draft.requirements],
            "unique_rows": self.draft.unique,
            "decisions": self.decisions,
            "dangers": self.draft.dangers,
            "look_first": self.draft.look_first,
            "warnings": list(self.draft.profile.table.warnings),
        }


def _decide_roles(profile: TableProfile, rule: Preset) -> tuple[dict[str, RoleGuess], dict[str, ColumnRelation]]:
    """Guess the roles and let the preset change them; some column has to be a quasi-identifier.

    Also returns the columns that say what another says.
    """
    guesses = guess_roles(profile.columns)
    published = [facts for facts in profile.columns if guesses[facts.name].role in {Role.QUASI, Role.SENSITIVE}]
    relations = find_redundant_columns(profile, published)
    guesses = {
        name: _guard_secret(guess, name, guesses, relations) if guess.role is Role.QUASI else guess
        for name, guess in guesses.items()
    }
    guesses = {facts.name: rule.decide_role(facts, guesses[facts.name]) for facts in profile.columns}
    if any(guess.role is Role.QUASI for guess in guesses.values()):
        return guesses, relations
    sensitive = [facts for facts in profile.columns if guesses[facts.name].role is Role.SENSITIVE]
    if not sensitive:
        raise DataError(
            f"{profile.path.name} has nothing to publish: every column names a person, is empty or is free text; "
            "write a policy by hand if some of it is to be published"
        )
    first = min(sensitive, key=lambda facts: facts.values.distinct).name
    reason = f"{guesses[first].reason}; a policy needs a quasi-identifier, and there is no other column"
    return guesses | {first: replace(guesses[first], role=Role.QUASI, reason=reason, caution=Caution.DANGER)}, relations


def _guard_secret(
    guess: RoleGuess, name: str, guesses: dict[str, RoleGuess], relations: dict[str, ColumnRelation]
) -> RoleGuess:
    """Look for a sensitive column that a quasi-identifier tells; where nothing else is known of it, it is one too."""
    own = relations.get(name)
    same = [own.source] if own is not None and own.same else []
    tells = [other for other, relation in relations.items() if name in relation.told_by]
    secrets = [other for other in (*same, *tells) if guesses[other].role is Role.SENSITIVE]
    if not secrets:
        return guess
    told = f"each of its values goes with one of '{shorten(secrets[0])}', which is sensitive"
    both_ways = secrets[0] in same or (relations[secrets[0]].same and relations[secrets[0]].source == name)
    if guess.is_unknown and both_ways:
        return RoleGuess(Role.SENSITIVE, f"{told}, and so is this", Caution.CHECK)
    return replace(guess, reason=f"{guess.reason}; {told}: an exact value tells it", caution=Caution.DANGER)


def choose_column_hierarchy(
    facts: ColumnFacts, guess: RoleGuess, rule: Preset, k: int, nulls: tuple[str, ...]
) -> ProposedHierarchy | None:
    """Choose the hierarchy of a column, if it is to have one; it is tried on the values that it is for."""
    numbers = facts.type.numbers
    if guess.role is Role.SENSITIVE and numbers is not None:
        # Distances between numbers need an order where there is none by itself: with missing values or decimal commas.
        if numbers.style == "point" and not facts.values.missing:
            return None
        hierarchy = replace(propose_intervals(facts, nulls), reason="the order that distances are measured in")
        return None if hierarchy.declaration == "suppress" else hierarchy
    if guess.role is not Role.QUASI:
        return None
    hierarchy = rule.propose_hierarchy(facts) or propose_hierarchy(facts, k, nulls)
    hierarchy = replace(hierarchy, lines=separate_labels(hierarchy.lines, hierarchy.least))
    if _binds(hierarchy, facts, nulls):
        return hierarchy
    # what must not be told exactly is then not told at all
    return replace(SUPPRESS, caution=Caution.NOTE, least=1) if hierarchy.least else SUPPRESS


def _binds(hierarchy: ProposedHierarchy, facts: ColumnFacts, nulls: tuple[str, ...]) -> bool:
    """Tell whether the hierarchy takes every value of the column, and no label stands for different values.

    Of very many values some are tried.
    """
    values = facts.values
    texts = [
        *(values.to_list() if values.distinct <= MOST_LINES else values.sample),
        *([None] if values.missing else []),
    ]
    with TemporaryDirectory() as folder:
        declaration = hierarchy.declaration
        if hierarchy.lines:
            declaration = "hierarchy.csv"
            Path(folder, declaration).write_bytes(hierarchy_file_text(hierarchy).encode())
        try:
            spec = parse(declaration, folder=Path(folder), key="hierarchy")
            bound = spec.bind(texts, column=facts.name, nulls=nulls)
            refuse_ambiguous_labels(bound.upward(hierarchy.least)[0], column=facts.name)
        except SfumatoError:
            return False
    return True


# The text of the policy.


@dataclass(frozen=True, eq=False, repr=False)
class ProposedColumn:
    """A column with its role, its hierarchy if it has one, the name of that one's file, and what it says again."""

    facts: ColumnFacts
    guess: RoleGuess
    hierarchy: ProposedHierarchy | None = None
    file: str = ""
    relation: ColumnRelation | None = None

    @property
    def caution(self) -> Caution:
        """How closely somebody should look at it."""
        return max(self.guess.caution, Caution.NONE if self.hierarchy is None else self.hierarchy.caution)

    @property
    def entry(self) -> dict[str, Any]:
        """What [columns] has of it."""
        if self.hierarchy is None:
            return {"role": str(self.guess.role)}
        least = {"least": self.hierarchy.least} if self.hierarchy.least and self.guess.role is Role.QUASI else {}
        return {"role": str(self.guess.role), "hierarchy": self.file or self.hierarchy.declaration, **least}

    @property
    def remark(self) -> str:
        """Why the column is what it is: counts and reasons, and never a value."""
        values, kind, hierarchy = self.facts.values, self.facts.kind, self.hierarchy
        what = plural(values.distinct, f"{kind} value", f"different {kind} values")
        if kind is ColumnKind.EMPTY:
            what = "no values"
        missing = f", {percent(values.missing / max(values.rows, 1))} missing" if values.missing else ""
        mixed = "; most are numbers, but not all" if self.facts.type.mixed else ""
        generalized = f"; {hierarchy.reason}" if hierarchy and hierarchy.reason else ""
        again = f"; {self.relation.sentence(_quoted(self.relation.source))}" if self.relation else ""
        return f"{self.caution.mark}{self.guess.reason} ({what}{missing}{mixed}){generalized}{again}"

    def as_json(self) -> dict[str, Any]:
        """For ``--json``: what was found and decided, and no value."""
        values = self.facts.values
        return {
            "name": self.facts.name,
            "type": str(self.facts.kind),
            "distinct": values.distinct,
            "missing": values.missing,
            "separation": round(values.separation, 6),
            **self.entry,
            "reason": self.guess.reason,
            "check": self.caution.needs_decision,
            "grade": self.caution.grade,
            "follows_from": self.relation.source if self.relation else None,
        }


@dataclass(frozen=True, eq=False, repr=False)
class PolicyDraft:
    """All that the text of a policy is made of."""

    profile: TableProfile
    preset: Preset
    columns: tuple[ProposedColumn, ...]
    requirements: list[ProposedRequirement]
    source: str
    unique: int

    @property
    def document(self) -> dict[str, Any]:
        """The policy as tables."""
        return {
            "data": ({"source": self.source} if self.source else {}) | self.profile.data_options,
            "columns": {column.facts.name: column.entry for column in self.columns},
            "privacy": [requirement.content for requirement in self.requirements],
            "algorithm": {"name": "auto", "suppression": self.preset.suppression},
            "publish": {"format": "csv"},
        }

    @property
    def decisions(self) -> int:
        """How many lines somebody should look at."""
        of_the_file = bool(self.profile.encoding) + bool(self.profile.null)
        return of_the_file + sum(caution.needs_decision for caution in self._cautions())

    @property
    def dangers(self) -> int:
        """How many of them publish what they must not, where they are wrong."""
        return sum(caution is Caution.DANGER for caution in self._cautions())

    def _cautions(self) -> list[Caution]:
        return [*(column.caution for column in self.columns), *(entry.caution for entry in self.requirements)]

    @property
    def look_first(self) -> list[str]:
        """The names of the columns to look at first, the most dangerous before the others."""
        marked = [column for column in self.columns if column.caution.needs_decision]
        return [column.facts.name for column in sorted(marked, key=lambda column: -column.caution)]

    @property
    def unknown(self) -> list[str]:
        """The names of the columns of which nothing is known, those first that tell most rows apart."""
        columns = [column for column in self.columns if column.guess.is_unknown]
        return [column.facts.name for column in sorted(columns, key=lambda column: -column.facts.values.separation)]

    def text(self) -> str:
        """Write the policy file; read as TOML it is the document, exactly."""
        document = self.document
        parts = [
            self._opening(),
            [*self._data_remarks(), *write_table("[data]", document["data"])],
            self._columns(),
            *self._requirements(),
            [*self._algorithm_remarks(), *write_table("[algorithm]", document["algorithm"])],
            write_table("[publish]", document["publish"]),
        ]
        text = "\n\n".join("\n".join(part) for part in parts) + "\n"
        assert tomllib.loads(text) == document  # noqa: S101 - the text says what is meant
        return text

    def _opening(self) -> list[str]:
        quasi = sum(column.guess.role is Role.QUASI for column in self.columns)
        size = f"{plural(self.profile.rows, 'row')}, {plural(len(self.columns), 'column')}"
        lines = comment(f"A policy to start from, written by sfumato init for {self.profile.path.name} ({size}).")
        lines += comment(
            f"{plural(self.decisions, 'decision needs', 'decisions need')} a human eye, marked 'check:'. Nothing here "
            "was decided by somebody who knows the people."
        )
        lines += [line for sentence in self.sentences() for line in comment(sentence)]
        if quasi:
            share = percent(self.unique / self.profile.rows)
            alike = f"{plural(quasi, 'quasi-identifier')} single out {share} of the rows as the table stands."
            lines += comment(f"{alike} Each one costs precision in all others: leave out what nobody needs.")
        if self.preset.name:
            lines += ["#", *comment(f"Preset {self.preset.name}: {self.preset.title}.")]
            lines += comment(f"Source: {self.preset.source}.")
            lines += [line for remark in self.preset.remarks for line in comment(remark)]
            lines += comment("What this policy does not do:")
            lines += [line for remark in self.preset.not_done for line in comment(f"- {remark}", indent="  ")]
        return lines

    def sentences(self) -> list[str]:
        """Say what to look at first, what nothing is known of, and what is there twice; each in one sentence."""
        sentences = []
        if self.look_first:
            dangers = (
                f"; {plural(self.dangers, 'decision tells', 'decisions tell')} who somebody is or what nobody may "
                "learn if wrong, marked 'danger:'"
            )
            sentences.append(f"Look first at {_some(self.look_first)}{dangers if self.dangers else ''}.")
        elif self.unknown:
            sentences.append("Look first at the columns of which nothing is known.")
        else:
            sentences.append("Look first at the role of each column, since none stands out.")
        if self.unknown:
            sentences.append(
                f"Nothing says what {_some(self.unknown)} {'is' if len(self.unknown) == 1 else 'are'}: told less "
                'exactly, and nothing more is promised. What nobody may learn needs role = "sensitive" and a bound.'
            )
        again = [
            f"{_quoted(column.facts.name)} follows from {_quoted(column.relation.source)}"
            for column in self.columns
            if column.relation is not None
        ]
        if again:
            sentences.append(f"Redundant: {', '.join(again[:_NAMED])}{_more(len(again) - _NAMED)}.")
        return sentences

    def _data_remarks(self) -> list[str]:
        lines, encoding = [], self.profile.encoding
        if encoding:
            lines += comment(f"check: the file is not UTF-8 and was read as {encoding}; look at its accents.")
        if self.profile.null:
            lines += comment("check: these texts are read as missing.")
        return lines

    def _columns(self) -> list[str]:
        lines = ["[columns]"]
        for column in self.columns:
            lines += comment(column.remark, indent="  ")
            lines.append(f"{write_key(column.facts.name)} = {write_value(column.entry)}")
        return lines

    def _requirements(self) -> list[list[str]]:
        tables = []
        for requirement in self.requirements:
            remark = f"{requirement.caution.mark}{requirement.reason}"
            tables.append([*comment(remark), *write_table("[[privacy]]", requirement.content)])
        has_sensitive = any(column.guess.role is Role.SENSITIVE for column in self.columns)
        if not has_sensitive and self.preset.allows_sensitive:
            remark = "No column looks sensitive. If one is, give it the role, and a requirement of its own."
            tables[-1] += comment(remark)
        return tables

    def _algorithm_remarks(self) -> list[str]:
        share = percent(self.preset.suppression)
        drop = f"at most {share} of the rows may be dropped" if self.preset.suppression else "no row may be dropped"
        return comment(f"auto takes the best of the local algorithms; {drop}.")


_WIDTH = 112
_NAMED = 5


def _quoted(name: str) -> str:
    return f"'{shorten(name)}'"


def _some(names: list[str]) -> str:
    """Name some columns, and count the others."""
    return ", ".join(map(_quoted, names[:_NAMED])) + _more(len(names) - _NAMED)


def _more(number: int) -> str:
    return f" and {number:,} more" if number > 0 else ""


def comment(text: str, *, indent: str = "") -> list[str]:
    r"""Write a comment in lines of a readable width; a sign that would end it, or that TOML forbids, becomes a blank.

    >>> comment("two\nlines")
    ['# two lines']
    """
    plain = "".join(character if character.isprintable() else " " for character in text)
    return [f"# {line}" for line in wrap(plain, _WIDTH, subsequent_indent=indent, break_on_hyphens=False)]


def hierarchy_file_text(hierarchy: ProposedHierarchy) -> str:
    """Write the file of a hierarchy, a line per value."""
    out = io.StringIO(newline="")
    csv.writer(out).writerows(hierarchy.lines)
    return out.getvalue()
