"""The (α, k) experiment on a page: what the paper states, averages, and a plot and a table per figure of the paper."""

from collections.abc import Iterator, Sequence

from sfumato.papers.alpha_k.checks import ALIKE, LARGE, claims, mean
from sfumato.papers.alpha_k.figures import Figure, figures, labels
from sfumato.papers.alpha_k.runs import INCOGNITO, KS
from sfumato.papers.claims import Run
from sfumato.papers.plots import Line, Panel
from sfumato.papers.tables import caveats, picture, setting, statements, table

_NOTES = """\
The experiment of section 5 of the (α, k) paper: {rows:,} rows, the first attributes of its Table 12 as the
quasi-identifier, salary class sensitive with `>50K` the protected value, no row suppressed. Distortion ratio: levels
climbed, of all there are. Seconds: search alone, from the encoded table to a label for every cell, in a warm process,
the median of {repeat}, or of fewer where they take seconds. Every release was verified. Progressive and Top-Down are
the paper's algorithms; "improved" has our improvement pass after them, and no claim is about it. Averages are over all
points of both sweeps, each once."""
_READING = f"""\
Increases and decreases: at every step. Nearly unchanged and similar: at most × {ALIKE} between the largest and the
smallest. A quasi-identifier is large from {LARGE} attributes on. About 3 or 4 times: at least that. The text says that
the figures for k = 10 are similar to those for k = 2, so that what it says of the one is held against both."""


def page(run: Run) -> str:
    """The whole of it as Markdown."""
    said = {"rows": run["cases"][0]["rows"], "repeat": run["repeat"]}
    head = ["# The (α, k) experiment", setting(run), *caveats(run), _NOTES.format(**said)]
    stated = ["## What the paper states", statements(claims(run)), _READING]
    return "\n\n".join([*head, *stated, "## Averages", _averages(run), *_figures(run)]) + "\n"


def plots(run: Run) -> dict[str, list[Panel]]:
    """A plot per k, by the name of its file."""
    return {f"alpha-k-{k}": [one.panel(run) for one in figures(k)] for k in KS}


def _averages(run: Run) -> str:
    """For each k and for both: loss and time of each algorithm, and as shares of extended Incognito's."""
    head = ("k", "algorithm", "distortion ratio", "of Incognito", "seconds", "of Incognito's")
    return table(head, [_average(run, k, label) for k in (*KS, None) for label in labels(run)])


def _average(run: Run, k: int | None, label: str) -> list[str]:
    cells = [str(k or "both"), label]
    for key in ("distortion", "seconds"):
        ours = mean(run, label, key, k)
        cells += [f"{ours:.3f}", f"{ours / mean(run, INCOGNITO.label, key, k):.2f}"]
    return cells


def _figures(run: Run) -> Iterator[str]:
    for k in KS:
        yield f"## k = {k}\n\n{picture(f'Time and distortion ratio, k = {k}', f'alpha-k-{k}')}"
        for figure in figures(k):
            yield f"### {figure.title}\n\n{_table(figure, list(figure.lines(run)))}"


def _table(figure: Figure, lines: Sequence[Line]) -> str:
    head = ("α" if figure.across == "alpha" else "size", *(line.label for line in lines))
    rows = zip(lines[0].across, *(line.up for line in lines), strict=True)
    return table(head, [[f"{x:g}", *(f"{y:.3f}" for y in ys)] for x, *ys in rows])
