"""How strongly columns go together, before and after."""

from sfumato.page.charts import grid
from sfumato.page.markup import Markup, join, name, note, paragraph, section, tag
from sfumato.release.seen.association import MOST, ROWS, Association
from sfumato.release.seen.figures import Figures

HOW = (
    "Cramér's V of each pair of columns over the bins above, corrected for chance: 0 where they have nothing to do "
    "with each other, 1 where one tells the other. After is what a reader can expect from what is published; numbers "
    "above the columns are those of the rows."
)


def together(figures: Figures) -> Markup:
    """Two squares side by side, and what changed."""
    title = "Correlation, before and after"
    found = figures.together
    if found is None:
        return section(title, paragraph("One column is published, so that there is no pair of columns to look at."))
    grids = [_square("Before", found, found.before), _square("After", found, found.after)]
    charts = tag("div", *grids, class_="charts")
    return section(title, note(HOW), charts, paragraph(_change(found)), *_cut(found, len(figures.columns)))


def _square(title: str, found: Association, cells: list[list[float | None]]) -> Markup:
    return tag("figure", tag("h3", title), grid(found.names, cells, title=f"{title}: association of columns"))


def _change(found: Association) -> Markup:
    """The mean change, and the pair that changed most."""
    if found.change is None:
        return join(["No pair of columns has two values each before and after, so that nothing can be compared."])
    pairs = [
        (new - old, a, b)
        for a, (olds, news) in enumerate(zip(found.before, found.after, strict=True))
        for b, (old, new) in enumerate(zip(olds, news, strict=True))
        if b < a and old is not None and new is not None
    ]
    most, a, b = max(pairs, key=lambda pair: abs(pair[0]))
    said = f"On average a pair changed by {found.change:.3f}"
    if abs(most) < 0.0005:
        return join([f"{said}: what columns have to do with each other is as it was."])
    old, new = found.before[a][b], found.after[a][b]
    return join(
        [f"{said}; most of all ", name(found.names[b]), " with ", name(found.names[a]), f": {old:.2f} → {new:.2f}."]
    )


def _cut(found: Association, every: int) -> list[Markup]:
    said = []
    if every > len(found.names):
        said.append(f"The first {MOST} columns are shown, of {every:,} above.")
    if found.sampled:
        said.append(f"Worked out from {ROWS:,} rows, drawn at random.")
    return [note(" ".join(said))] if said else []
