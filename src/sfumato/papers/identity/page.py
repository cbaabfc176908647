"""The identity-reserved experiment on a page: statements and verdicts, a plot and a table per figure of the paper."""

from collections.abc import Iterator

from sfumato.papers.claims import Run
from sfumato.papers.identity.checks import MUCH, REST, SLIGHT, SLOW, STEADY, claims
from sfumato.papers.identity.figures import AXES, Figure, figures
from sfumato.papers.identity.points import COMMON, COMMONLY, FIXED_K, FIXED_RPI, IMPROVED, LOCAL, RESERVED
from sfumato.papers.plots import Panel
from sfumato.papers.tables import caveats, picture, setting, statements, table

_INTRO = """\
The experiments of section 5 of the identity-reserved paper: {people:,} rows of Adult, drawn at random, are people; by
its Table 6 some of them get a second row and some a third, with the same quasi-identifiers and another occupation
(`datasets.repeated`). The eight quasi-identifiers are those of the lossy-join paper, the salary class among them;
occupation is sensitive, since a person with three rows needs three values and the salary class has two. Distortion
ratio: levels climbed, of all there are. Local recoding is the paper's bottom-up algorithm (`bottom-up`, without our
improvement pass), global recoding the full-domain optimum by distortion (`optimal`). A vulnerable group has at least k
rows and fewer than k people, a single value group the rows of one person. Every release was verified."""
_NOTES = f"""\
The text has words where a check needs numbers. Slight and a bit: at most {SLIGHT} of distortion ratio. Slowly: never
lower, and at most {SLOW} higher for each 1 of k or l, which is about a level of one attribute. Steady: at most ×
{STEADY} between the largest and the smallest, and for β at most {REST:.0%} of the whole decrease. Much lower and
remarkably: at most half (× {MUCH}), and so for l beside k, of the increase from end to end (the text adds that values
are to be distributed uniformly, which occupations are not). Decreases: lower at every step, or none left. The text
does not say which rpi Figures 5 to 8 have, nor the k of Figure 6; here they are {FIXED_RPI} and {FIXED_K}. Nor does it
say how many rows may be suppressed, or whether suppressed ones count in the ratio; plots and verdicts count them as
lost. β begins where it does because no class can be below the share of the most frequent occupation in the table. A
person's rows with equal quasi-identifiers stay in one class wherever the individual is known (`keep_together`, the
default)."""
_SIZES = """\
Figure 1 depends on how common k-anonymity is reached, which the text does not say. It argues that groups have more
people as k increases. But what counts is how many more than k: a group of exactly k rows is vulnerable as soon as two
of them are one person's, which should be the likelier the more rows there are. On average classes have {sizes}.
Global recoding was added here after local recoding had not shown the trend; in single runs top-down, progressive and
mondrian did not show it either, and global recoding without suppression left next to no vulnerable groups."""


def page(run: Run) -> str:
    """The whole of it as Markdown."""
    parts = ["# Several rows per person: the identity-reserved experiment", setting(run)]
    parts += [*caveats(run), _INTRO.format(people=run["people"]), "## What the paper states", statements(claims(run))]
    parts += [*_figures(run), *_improved(run), "## Notes", _NOTES, _sizes(run)]
    return "\n\n".join(parts) + "\n"


def plots(run: Run) -> dict[str, list[Panel]]:
    """The paper's figures, two to a file, by its name."""
    return {name: [one.panel(run) for one in members] for name, members in figures(run).items()}


def _sizes(run: Run) -> str:
    """How much larger than k classes are, which Figure 1 depends on."""
    said = []
    for method in COMMONLY:
        found = [one for one in run["cases"] if (one["model"], one["method"]) == (COMMON, method.label)]
        rows = [(one["rows"] - one["suppressed"]) / one["classes"] / one["k"] for one in found]
        said.append(f"{min(rows):.1f} to {max(rows):.1f} × k rows ({method.label})")
    return _SIZES.format(sizes=" and ".join(said))


def _figures(run: Run) -> Iterator[str]:
    for name, members in figures(run).items():
        title = " and ".join(dict.fromkeys(one.name for one in members))
        yield f"## {title}\n\n{picture(title, name)}"
        yield from (f"### {one.title}\n\n{_table(one, one.panel(run))}" for one in members)


def _table(figure: Figure, panel: Panel) -> str:
    """A line per value, a column per line of the plot; ratios of groups as percentages."""
    shown = "{:.2%}" if figure.up.endswith("ratio") else "{:.3f}"
    head = (AXES[figure.across], *(line.label for line in panel.lines))
    rows = zip(panel.lines[0].across, *(line.up for line in panel.lines), strict=True)
    return table(head, [[f"{x:g}", *(shown.format(y) for y in ys)] for x, *ys in rows])


def _improved(run: Run) -> Iterator[str]:
    """What the improvement pass changes, where it was run."""
    found = [one for one in run["cases"] if one["method"] == IMPROVED.label]
    if not found:
        return
    head = ("model", "rpi", "k", "distortion", "improved", "vulnerable", "improved", "single", "improved")
    yield "## With the improvement pass"
    yield table(head, [_pair(run, one) for one in found])


def _pair(run: Run, better: Run) -> list[str]:
    keys = {key: better[key] for key in ("model", "rpi", "k")}
    alone = next(one for one in run["cases"] if (keys | {"method": LOCAL.label}).items() <= one.items())
    both = (alone, better)
    losses = [f"{one['distortion']:.3f}" for one in both]
    shares = [f"{one[up] / one['classes']:.2%}" for up in ("vulnerable", "single") for one in both]
    words = {COMMON: "common", RESERVED: "identity-reserved"}
    return [words[keys["model"]], f"{keys['rpi']}", f"{keys['k']}", *losses, *shares]
