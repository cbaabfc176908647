"""The lossy-join experiment on a page: statements and verdicts, a table per figure of the paper, and timings."""

from collections.abc import Iterator, Mapping
from typing import Any

from sfumato.papers.claims import Run
from sfumato.papers.lossy_join.checks import (
    ESTIMATES,
    FIGURES,
    FLAT,
    LITTLE,
    MEASURES,
    at,
    claims,
    errors,
    order,
    orders,
    points,
)
from sfumato.papers.lossy_join.points import ALPHA_LOSSY, ANATOMIES, METHODS
from sfumato.papers.plots import Line, Panel
from sfumato.papers.tables import caveats, picture, setting, statements, table

ACROSS = {
    "attributes": "quasi-identifiers (d)",
    "dimensions": "query dimensionality (qd)",
    "selectivity": "selectivity (s)",
    "rows": "rows (n)",
}
PICTURES = {
    "lossy-join-expected": ("expected", "average"),
    "lossy-join-paper": ("paper", "average"),
    "lossy-join-paper-median": ("paper", "median"),
}
_INTRO = """\
The experiment of section 7 of the lossy-join paper: Adult, the eight quasi-identifiers of its Table 8, occupation
sensitive, k = 2, α = 0.33, {queries:,} queries a point. By default all {rows:,} rows, d = 8, qd = 4, s = 0.05; each
figure varies one of them. Alpha is the generalized table of the paper's top-down algorithm, Alpha(Lossy) the same
classes as two tables, Anatomy two tables of buckets of ℓ different values. α = 0.33 asks for ℓ = 4, since a third is
more; the paper does not say what it took, and ℓ = 3 is the nearest. Top-down is the paper's plain algorithm, without
our improvement pass; "improved" is with it."""
_ESTIMATES = """\
Expected value: of the wanted sensitive values of a class, the share of its people who match; of a generalized cell,
the share of the values it is declared to cover that are wanted. The paper's estimate: all wanted sensitive values of
every class in which somebody matches; in a generalized table, all rows with wanted values whose every cell may match
(the text does not say when a generalized cell matches). So the paper's estimate counts those who share a class with
somebody who matches, and is the further off the larger the classes are: {lossy:.1f} rows on average by top-down,
{buckets:.1f} by Anatomy with ℓ = 3. The expected value does not, and shows what the paper argues for: in Alpha(Lossy)
those whose quasi-identifiers are alike stand together, and no value is generalized."""
_NOTES = f"""\
Claims are held against the paper's estimate, since that is how the text counts; beside stands what the expected value
shows. Errors are |actual − estimate| / actual; all methods are asked the same queries, and queries that no row matches
are drawn again ({{zero:,}} of {{draws:,}} at the point where it was most frequent). Samples of fewer rows are random.
Every release was verified. "Unchanged" is read as at most × {FLAT} between the largest and the smallest error of a
line, "little effect" as at most × {LITTLE:g}, "decreases" and "decreases slightly" as lower at every step."""
_ORDERS = """\
From the smallest error to the largest, at each point. The order of the text is Alpha(Lossy), Anatomy, Alpha."""


def page(run: Run) -> str:
    """The whole of it as Markdown."""
    most = max(run["cases"], key=lambda one: one["zero"])
    default = run["default"]
    said = {"rows": default["rows"], "queries": run["queries"]}
    found = at(run, default)
    said |= {"lossy": _size(found[ALPHA_LOSSY.label]), "buckets": _size(found[ANATOMIES[0].label])}
    said |= {"zero": most["zero"], "draws": most["zero"] + most["answered"]}
    parts = ["# Query error: lossy join, Anatomy and generalization", setting(run)]
    parts += [*caveats(run), _INTRO, _ESTIMATES, "## What the paper states", statements(claims(run))]
    parts += ["## At the default point", _default(run), *_figures(run)]
    parts += [f"## Orders\n\n{_ORDERS}", _held(run), _orders(run), "## Notes", _NOTES]
    return "\n\n".join(part.format(**said) if "{" in part else part for part in parts) + "\n"


def plots(run: Run) -> dict[str, list[Panel]]:
    """The paper's four figures for each estimate, by the name of the file."""
    return {name: [_panel(run, sweep, of=of) for sweep in run["sweeps"]] for name, of in PICTURES.items()}


def _size(one: Mapping[str, Any]) -> float:
    return float(one["rows"] / one["classes"])


def _held(run: Run) -> str:
    """How often that order is there, by each estimate and measure."""
    head = ("order", "estimate", "of", "ours")
    return table(head, [[one[key] for key in head] for one in orders(run)])


def _default(run: Run) -> str:
    """Every method, the improved ones as well."""
    head = ("method", "classes", *(f"{words}, {one}" for words in ESTIMATES.values() for one in (*MEASURES, "9 in 10")))
    measures = (*MEASURES, "ninth_decile")
    found = at(run, run["default"])
    return table(
        head,
        [
            [label, f"{one['classes']:,}", *(f"{one[name][key]:.3f}" for name in ESTIMATES for key in measures)]
            for label, one in found.items()
        ],
    )


def _figures(run: Run) -> Iterator[str]:
    for name, of in PICTURES.items():
        title = f"{of[1].capitalize()} relative error, {ESTIMATES[of[0]]}{' estimate' if of[0] == 'paper' else ''}"
        yield f"## {title}\n\n{picture(title, name)}"
        for sweep, values in run["sweeps"].items():
            lines = [errors(run, sweep, one.label, of=of) for one in METHODS]
            head = (ACROSS[sweep], *(one.label for one in METHODS))
            rows = [[f"{value:,}", *(f"{y:.3f}" for y in ys)] for value, *ys in zip(values, *lines, strict=True)]
            yield f"### Figure {FIGURES[sweep]}: {ACROSS[sweep]}\n\n{table(head, rows)}"


def _orders(run: Run) -> str:
    head = ("d", "qd", "s", "rows", *(f"{words}, {one}" for words in ESTIMATES.values() for one in MEASURES))
    keys = ("attributes", "dimensions", "selectivity")
    return table(
        head,
        [
            [
                *(f"{point[key]:g}" for key in keys),
                f"{point['rows']:,}",
                *(order(at(run, point), name, one) for name in ESTIMATES for one in MEASURES),
            ]
            for point in points(run)
        ],
    )


def _panel(run: Run, sweep: str, *, of: tuple[str, str]) -> Panel:
    values = run["sweeps"][sweep]
    lines = [Line(one.label, values, errors(run, sweep, one.label, of=of)) for one in METHODS]
    across = ACROSS[sweep]
    return Panel(f"Figure {FIGURES[sweep]}: {across}", across, f"{of[1]} relative error", lines, "y")
