"""What the sequential-release paper states of time, held against ours; its machine was of 2006."""

from collections.abc import Iterator, Mapping
from typing import Any

from sfumato.papers.claims import NOT_MEASURED, Claim, Run, judged

LINEAR = 1.25
"""How many times as long a row may take in the largest table as in the smallest."""
MILLION = 1_000_000
PAPER = {"anonymity": 885, "linkability": 83}
"""Seconds that a million rows took."""
FIGURES = {"anonymity": "5", "linkability": "8"}
_LIMITS = {"A": 30, "B": 30, "links-A": 20, "links-B": 450}
_LONGEST = "links-B"


def seconds(run: Run) -> list[Claim]:
    """Seconds of single releases, and of enlarged tables."""
    return [*_releases(run), *(line for kind in FIGURES for line in _enlarged(run, kind)), *_parts(run)]


def of_kind(run: Run, kind: str) -> list[Mapping[str, Any]]:
    """The runs on enlarged tables that ended well, by size."""
    found = [one for one in run["scale"] if one["kind"] == kind and one["code"] == 0]
    return sorted(found, key=lambda one: one["rows"])


def _releases(run: Run) -> Iterator[Claim]:
    """The slowest release of each part."""
    slowest = {part: _slowest(run, part) for part in _LIMITS}
    for part, limit in _LIMITS.items():
        ours = f"at most {slowest[part]:.2f} s", judged(slowest[part] < limit)
        yield Claim(
            _section(part), "every release takes less than so many seconds", _words(part), f"< {limit} s", *ours
        )
    longest = max(slowest, key=lambda part: slowest[part])
    found = f"{_words(longest)}: {slowest[longest]:.2f} s", judged(longest == _LONGEST)
    yield Claim(_section(_LONGEST), "the release that takes longest", "all releases", _words(_LONGEST), *found)


def _section(part: str) -> str:
    return "section 6.2" if part.startswith("links") else "section 6.1"


def _words(part: str) -> str:
    return f"Set {part[-1]}, linkability" if part.startswith("links") else f"Set {part[-1]}"


def _slowest(run: Run, part: str) -> float:
    return max((one["seconds"] for one in run["cases"] if one["part"] == part and "seconds" in one), default=0.0)


def _enlarged(run: Run, kind: str) -> Iterator[Claim]:
    """The million rows of the text, and how time grows."""
    figure, of, members = FIGURES[kind], f"Set A, {kind}", of_kind(run, kind)
    words, theirs = "seconds of a million rows", f"{PAPER[kind]} s"
    found = [one["seconds"] for one in members if one["rows"] == MILLION]
    known = (f"{found[0]:.2f} s", judged(found[0] <= PAPER[kind])) if found else ("", NOT_MEASURED)
    yield Claim(figure, words, of, theirs, *known)
    words = "highly scalable: time is at most linear in the rows"
    yield Claim(figure, words, of, f"≤ × {LINEAR} a row", *_growth(members))


def _growth(members: list[Mapping[str, Any]]) -> tuple[str, str]:
    if len(members) < 2:
        return "", NOT_MEASURED
    less, more = (one["seconds"] / one["rows"] for one in (members[0], members[-1]))
    sizes = " → ".join(f"{one['rows']:,}" for one in (members[0], members[-1]))
    return f"a row takes × {more / less:.2f}, {sizes} rows", judged(more / less <= LINEAR)


def _parts(run: Run) -> Iterator[Claim]:
    """What of the time goes where; our search does what the paper counts as preprocessing as well."""
    first, second = (_search(run, kind) for kind in FIGURES)
    of = "a million rows, {}"
    both = f"both together {first[1]:.0%}" if first else ""
    words = "80 % of the time is preprocessing, less than 4 % generalizing"
    yield Claim("5", words, of.format("anonymity"), "80 % and < 4 %", both, NOT_MEASURED)
    both = f"{second[0]:.2f} s with generalizing" if second else ""
    yield Claim("8", "preprocessing takes less than 1 second", of.format("linkability"), "< 1 s", both, NOT_MEASURED)
    known = (f"{second[0]:.2f} s with preprocessing", judged(second[0] <= 25)) if second else ("", NOT_MEASURED)
    yield Claim("8", "generalizing takes 25 seconds", of.format("linkability"), "25 s", *known)


def _search(run: Run, kind: str) -> tuple[float, float] | None:
    """The seconds of search and recoding at a million rows, and their share of all."""
    for one in of_kind(run, kind):
        if one["rows"] == MILLION:
            taken = float(one["phases"]["search"] + one["phases"].get("recode", 0.0))
            return taken, taken / one["seconds"]
    return None
