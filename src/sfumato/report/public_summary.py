"""The public summary: the page that whoever gets a release may read first.

It is made of the manifest and of the columns as they are published. No row that is not published, no original value, no
seed and no loss can be in it, because none of them is handed in; whoever has the public files can make it again.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.core.arrays import IntArray, count_codes
from sfumato.core.classes import EquivalenceClasses, SensitiveDomain, count_values
from sfumato.core.keys import count_keys, number_tuples, pack_tuples
from sfumato.labels.data_dictionary import is_aggregate
from sfumato.models import DENSITY, LINKAGE, MODELS
from sfumato.page.charts import bar
from sfumato.page.html import (
    Markup,
    document,
    facts,
    join,
    name,
    names,
    note,
    paragraph,
    section,
    some_names,
    table,
    tag,
)
from sfumato.page.wording import found_keys, keys, percent, plural
from sfumato.publish.published_column import PublishedColumn
from sfumato.report.column_bins import (
    MISSING,
    bin_arrow_values,
    bin_class_sizes,
    bin_column,
    bin_values,
    name_size_bins,
)
from sfumato.report.threats import (
    ALGORITHM,
    APART,
    BESIDE,
    DOWNCODING,
    DRAWN,
    DRAWN_BY_WEIGHT,
    DRAWN_THREATS,
    EXACT,
    HOMOGENEOUS,
    KNOWLEDGE,
    LEARNER,
    MEMBERSHIP,
    PATTERNS,
    PEOPLE,
    PERTURBED,
    SHOWN,
    UNCERTAIN_THREATS,
)

Manifest = Mapping[str, Any]
Columns = Mapping[str, PublishedColumn | Any]

TITLE = "About this release"
_DRAWN_FORMS = ("synthetic", "uncertain")
_ABOUT = {"purpose": "Purpose", "contact": "Contact"}
PUBLIC = "Made from manifest.json and the published tables alone; whoever has these files can work it out again."


def public_summary(manifest: Manifest, tables: Mapping[str, Columns]) -> str:
    """The page of a release with this manifest; `tables` are its columns, by the names of the tables."""
    groups = None if _is_drawn(manifest) else _count_groups(manifest, tables)
    return document(
        manifest.get("about", {}).get("title", TITLE),
        _opening(manifest, groups),
        _promise(manifest),
        _contents(manifest, groups),
        *([] if groups is None else [_class_sizes(groups)]),
        _columns(manifest, tables),
        _data_dictionary(manifest),
        _limits(manifest),
        tag("footer", f"sfumato {manifest['sfumato']}. {PUBLIC}"),
    )


def _is_uncertain(manifest: Manifest) -> bool:
    """Whether records are densities."""
    return bool(manifest["form"] == "uncertain")


def _is_drawn(manifest: Manifest) -> bool:
    """Whether rows are drawn, so that no class can be counted in them."""
    return manifest["form"] in _DRAWN_FORMS


@dataclass(frozen=True, eq=False)
class _PublishedGroups:
    """Classes as anybody can count them in what is published, and people in all, where rows carry pseudonyms."""

    classes: EquivalenceClasses
    people: int | None


def _count_groups(manifest: Manifest, tables: Mapping[str, Columns]) -> _PublishedGroups:
    """Count the classes of the first table, which has the quasi-identifiers: equal labels, or one class number.

    class_of: int[rows], the class of each published row.
    """
    first = next(iter(tables.values()))
    keyed = [manifest["class_id"]] if "class_id" in manifest else _columns_of_role(manifest, "quasi")
    columns = [first[column] for column in keyed]
    packed = pack_tuples([column.codes for column in columns], [len(column.values) for column in columns])
    persons = _columns_of_role(manifest, "individual")
    if not persons:
        sizes = count_keys(packed, columns[0].counts).counts
        return _PublishedGroups(EquivalenceClasses(sizes[sizes > 0]), None)
    pseudonyms = first[persons[0]]
    counts, people = pseudonyms.counts, len(pseudonyms.values)
    published = None if counts is None else counts > 0
    class_of, classes = number_tuples(packed, published)
    codes = pseudonyms.codes
    if counts is not None and published is not None:
        class_of, codes, counts = class_of[published], codes[published], counts[published]
    domain = SensitiveDomain(("",) * people, pseudonyms.rows_of_values)
    individuals = count_values(class_of, codes, counts, domain)
    sizes = count_codes(class_of, classes, counts)
    return _PublishedGroups(EquivalenceClasses(sizes, individuals=individuals), people)


def _columns_of_role(manifest: Manifest, role: str) -> list[str]:
    return [entry["name"] for entry in manifest["columns"] if entry["role"] == role]


def _opening(manifest: Manifest, groups: _PublishedGroups | None) -> Markup:
    about = manifest.get("about", {})
    by = f" by {about['publisher']}" if "publisher" in about else ""
    title = tag("h1", about.get("title", TITLE), tag("small", f"Published {manifest['published']}{by}"))
    told = [(word, about[key]) for key, word in _ABOUT.items() if key in about]
    kept = all(finding["satisfied"] for finding in manifest["privacy"])
    figures = [("✓ kept" if kept else "✗ not kept", "promise, as verified"), (f"{manifest['rows']:,}", "rows")]
    if _is_uncertain(manifest):
        least = min(finding["required"]["k"] for finding in manifest["privacy"])
        figures += [(f"{least:,}", "records fit each density as well, on average"), (manifest["density"], "densities")]
    elif groups is None:
        smallest = min(finding["achieved"]["k"] for finding in manifest["privacy"])
        figures += [
            (f"{manifest['classes']:,}", "groups they were drawn from"),
            (f"{smallest:,}", "in the smallest group"),
        ]
    else:
        smallest = int(groups.classes.persons.min())
        fewest = plural(smallest, "row") if groups.people is None else plural(smallest, "person", "people")
        figures += [(f"{manifest['classes']:,}", "classes"), (fewest, "in the smallest class")]
    items = [tag("li", tag("b", figure), tag("span", meaning)) for figure, meaning in figures]
    return tag("header", title, *([facts(told)] if told else []), note(PUBLIC), tag("ul", *items, class_="glance"))


# ---------------------------------------------------------------------------------------------------------------------
# Promise and verdict

VERIFIED = (
    "Found in the published files by a second implementation, which shares no code with the one that made them; "
    "sfumato verify does it again. Figures that would compare with rows that are not published are left out."
)
VERIFIED_BY_TRUTH = (
    "Found by a second implementation, which shares no code with the one that made the densities, from the published "
    "files and the true values, which the data holder keeps: without these nobody can check it. No more than what was "
    "promised is stated as found, since more would tell of the true values."
)
_THREATS: dict[str, Any] = {model: vars(kind)["threat"] for model, kind in {**MODELS, **LINKAGE, **DENSITY}.items()}


def _promise(manifest: Manifest) -> Markup:
    """Whom the release is protected against, requirement by requirement."""
    articles = []
    for finding in manifest["privacy"]:
        mark = tag("span", "✓ holds" if finding["satisfied"] else "✗ does not hold", class_="mark")
        lines: list[tuple[object, object]] = [
            ("Threat", _THREATS[finding["model"]]),
            ("Promised", keys(finding["required"])),
            *([("Found", found_keys(finding["model"], finding["achieved"]))] if finding.get("achieved") else []),
        ]
        articles.append(tag("article", tag("h3", finding["model"], " ", mark), facts(lines)))
    verified = VERIFIED_BY_TRUTH if _is_uncertain(manifest) else VERIFIED
    return section("Promise and verdict", paragraph(_whom_it_protects(manifest)), *articles, note(verified))


ONE_TABLE = (
    "Each published row shares its quasi-identifier values with the other rows of its class, and each class meets "
    "every requirement below."
)
TWO_TABLES = (
    "Each line of the first table has a person's quasi-identifiers as they were, and the number of a class; each line "
    "of the other has sensitive values and the number of a class. Within a class nothing tells which lines belong "
    "together, and each class meets every requirement below."
)
KNOWS = (
    " The adversary is assumed to know that a person is in the table, and that person's quasi-identifiers. What is not "
    "covered is listed at the end of this page."
)
OVERLAPPING = (
    " Labels of one column are of different levels here and may overlap: a class is the rows that agree in all their "
    "labels, letter by letter, and a person's values may fit the labels of several classes."
)
ONE_LABEL = (
    " Labels of one column may be of different levels here, but never one above another: each value of the column has "
    "exactly one label."
)
ON_THE_JOIN = (
    "The requirements below are about the join of this table with earlier releases, which are named below: each value "
    "on x is linked to as many values on y, or to none with more confidence, as they say. The adversary is assumed to "
    "have all these tables, and to match records by the columns that they share. Nothing is promised of this table by "
    "itself. What is not covered is listed at the end of this page."
)


def _whom_it_protects(manifest: Manifest) -> str:
    """Say what is promised of this release, and against whom: what it has not is not spoken of."""
    if _is_drawn(manifest):
        return str(manifest["protects"])
    models = {rule["model"] for rule in manifest["promise"]}
    labels = OVERLAPPING if "improved" in manifest else ONE_LABEL if manifest["algorithm"] == "tds" else ""
    if "class_id" in manifest:
        return TWO_TABLES + KNOWS
    if models and models <= LINKAGE.keys():
        return ON_THE_JOIN + labels
    return ONE_TABLE + KNOWS + labels


# ---------------------------------------------------------------------------------------------------------------------
# What is published, and class sizes

ROWS = "A class is the rows that nothing in their quasi-identifiers tells apart, or that have one class number."
BY_PSEUDONYM = " Its size is the number of people in it, by pseudonym."


def _name_files(files: Sequence[str]) -> str:
    """List files, those between the first and the last of a folder left out.

    >>> _name_files(["nss.csv", "ss/part-00000.csv", "ss/part-00001.csv", "ss/part-00002.csv"])
    'nss.csv, ss/part-00000.csv to part-00002.csv (3 files)'
    """
    folders: dict[str, list[str]] = {}
    for file in files:
        folder, _, name = file.rpartition("/")
        folders.setdefault(folder or file, []).append(name)
    return ", ".join(
        f"{folder}/{names[0]} to {names[-1]} ({len(names):,} files)"
        if len(names) > 1
        else next(file for file in files if file == folder or file.startswith(f"{folder}/"))
        for folder, names in folders.items()
    )


def _contents(manifest: Manifest, groups: _PublishedGroups | None) -> Markup:
    """Files, rows and how they came about."""
    limit = float(manifest.get("suppression_limit", 0))
    within = "" if groups is None else f", in {plural(manifest['classes'], 'class', 'classes')}"
    people = None if groups is None else groups.people
    lines: list[tuple[object, object]] = [
        ("Files", _name_files(list(manifest["files"]))),
        ("Rows", f"{manifest['rows']:,}{within}"),
        *([("People", f"{people:,}, each under a pseudonym")] if people is not None else []),
        ("Form", manifest["form"]),
        ("Algorithm", manifest["algorithm"]),
        ("Left out", f"up to {percent(limit)} of the rows may have been" if limit else "no row"),
    ]
    if _is_uncertain(manifest):
        spread = "of each record" if manifest["spread"] == "record" else "the same for all records"
        lines += [
            ("Densities", f"{manifest['density']}; spreads are {spread}"),
            *([("Matched within", names(manifest["strata"]))] if "strata" in manifest else []),
        ]
    elif groups is None:
        lines += [
            ("Drawn", f"{plural(manifest['multiple'], 'row')} for each, from groups made by {manifest['clustering']}"),
            ("Noise", f"{manifest['noise']:g} standard deviations" if manifest["noise"] else "none besides"),
            *([("Groups within", names(manifest["strata"]))] if "strata" in manifest else []),
        ]
    if "previous" in manifest:
        lines.append(("Earlier", ", ".join(earlier["name"] for earlier in manifest["previous"])))
    if "extends" in manifest:
        extended = manifest["extends"]["releases"]
        before = f"{plural(len(extended), 'release')} of {sum(one['rows'] for one in extended):,} rows"
        lines.append(("Further rows", f"added to {before}, under the same labels"))
    remark = [paragraph(manifest["remark"])] if "remark" in manifest else []
    return section("What is published", facts(lines), *remark)


def _class_sizes(groups: _PublishedGroups) -> Markup:
    """How many rows are in classes of which size, over bins."""
    sizes = bin_class_sizes(groups.classes)
    full = float(sizes.shares.max())
    lines = [
        (label, percent(share), bar(share / full))
        for label, share in zip(name_size_bins(), sizes.shares.tolist(), strict=True)
    ][: sizes.used]
    counted = "rows" if groups.people is None else "people"
    how = note(ROWS + (BY_PSEUDONYM if groups.people is not None else ""))
    return section("Class sizes", how, table((f"Size, in {counted}", "Share of rows", ""), lines, "shares"))


# ---------------------------------------------------------------------------------------------------------------------
# Each column as it is published

MOST_SHOWN = 40
HOW_SHOWN = (
    "Shares of the published rows. Labels and values are those of the files; of columns with many of them the most "
    "frequent are shown, and numbers go to steps of a round width."
)
HOW_CENTERS_ARE_SHOWN = (
    " Of densities, centres are counted: they were drawn around true values, so that they are spread wider than these, "
    "and some lie where no true value does."
)
_Bars = list[tuple[str, int]]
"""Names of bars, and the rows (or people) of each."""


def _columns(manifest: Manifest, tables: Mapping[str, Columns]) -> Markup:
    """A part for each column, as many as a page can take: which labels or values are in how many rows."""
    published = {key: column for columns in tables.values() for key, column in columns.items()}
    entries = [entry for entry in manifest["columns"] if entry["role"] != "bound"]  # the labels show as much
    parts = []
    for entry in entries[:MOST_SHOWN]:
        column, role = published[entry["name"]], entry["role"]
        bars = _rows_per_person(column) if role == "individual" else _bars(entry, column)
        kind = "rows for each person" if role == "individual" else _ROLES.get(role, role)
        whole = sum(rows for _, rows in bars)
        full = max((rows for _, rows in bars), default=1)
        lines = [(label, percent(rows / whole), bar(rows / full)) for label, rows in bars]
        chart = table(("", "", ""), lines, "shares") if lines else paragraph("Not told in a chart.")
        parts.append(tag("figure", tag("h3", name(entry["name"]), tag("small", kind)), chart))
    left = [entry["name"] for entry in entries[MOST_SHOWN:]]
    more = [paragraph("Not shown, so that the page has an end: ", some_names(left), ".")] if left else []
    shown = HOW_SHOWN + (HOW_CENTERS_ARE_SHOWN if _is_uncertain(manifest) else "")
    return section("Columns as published", note(shown), tag("div", *parts, class_="charts"), *more)


def _bars(entry: Mapping[str, Any], column: Any) -> _Bars:
    """Labels of a quasi-identifier as they are; other columns in bins."""
    if not isinstance(column, PublishedColumn):
        binned = bin_column(column)
        return [] if binned is None else _count_bins(binned.bins.names, binned.bins.place, binned.counts)
    counts = column.rows_of_values
    if entry["role"] != "quasi":
        bins = bin_arrow_values(column.values, counts)
        return _count_bins(bins.names, bins.place, counts)
    labels: list[str | None] = column.values.cast("string").to_pylist()
    bins = bin_values(labels, counts)
    return _order_ranges(_count_bins(bins.names, bins.place, counts))


def _count_bins(labels: Sequence[str], place: IntArray, counts: IntArray) -> _Bars:
    rows = np.bincount(place, weights=counts, minlength=len(labels)).astype(np.int64)
    return list(zip(labels, rows.tolist(), strict=True))


def _order_ranges(bars: _Bars) -> _Bars:
    """Ranges in the order of numbers, where every label is one; a star and what is missing stay at the end."""
    starts = [(_range_start(label), place) for place, (label, _) in enumerate(bars)]
    if any(start is None for start, _ in starts):
        return bars
    return [bars[place] for _, place in sorted((start or (0, 0.0), place) for start, place in starts)]


def _range_start(label: str) -> tuple[int, float] | None:
    """Where a label is in the order of numbers.

    >>> _range_start("35-39"), _range_start("*"), _range_start("Bern")
    ((0, 35.0), (1, 0.0), None)
    """
    if label in {"*", MISSING} or re.fullmatch(r"\d+ others?", label):
        return (1, 0.0)
    match = re.match(r"(<|\[)?(-?\d+(?:\.\d+)?)", label)
    return match and (0 if match[1] != "<" else -1, float(match[2]))


def _rows_per_person(column: PublishedColumn) -> _Bars:
    """How many people have so many rows."""
    rows, people = np.unique(column.rows_of_values, return_counts=True)
    bins = bin_values([str(number) for number in rows.tolist()], people)
    return [(label, count) for label, count in _count_bins(bins.names, bins.place, people) if count]


# ---------------------------------------------------------------------------------------------------------------------
# The data dictionary, and how labels are to be read

MOST_LISTED = 200
_ROLES = {"quasi": "quasi-identifier", "individual": "person (pseudonym)", "weight": "sampling weight"}
_NAMED = 8

TYPES = "Types are those of Apache Arrow; a CSV file holds all of them as text."
STAR = "* stands for any value of its column, missing ones included."
RARE = "* stands for a value that too few hold to be told; so may a label that is no value stand for several."
WHOLE = "35-39 is a whole number from 35 to 39, 65+ one of 65 or more, <20 one below 20."
BROKEN = "[1.5, 2) is a number from 1.5 up to, but not with, 2; with ] the end is one of them."
MASKED = "A star in place of a character stands for any character there: 43** is 4300 to 4399."
DATED = "2024-03 is a day of that month, 2024 one of that year, 2020-2029 one of these ten years."
SETS = "{Bern, Thun} is one of the values in braces."
CENTER = (
    "the centre of a density, which was drawn: the value is about that, give or take the spread beside it; a spread "
    "of 0 says that it is the value. Spreads of dates are in days."
)
BOUNDS = {"spread": "spread", "low": "lowest number", "high": "highest number", "mid": "middle"}
MEANS = "A number may be the mean of a class, and the value of no row."
MEDIANS = "A value is the median of its class, the one in the middle: some rows of the class have more, and some less."
MODES = "A value is the most frequent one of its class: other rows of the class may have other values."
COVERED = "What a label of a hierarchy stands for is listed in manifest.json, with its column."


def _data_dictionary(manifest: Manifest) -> Markup:
    """Every column with its role and type, and what its labels mean."""
    entries, lines = manifest["columns"], []
    for entry in entries[:MOST_LISTED]:
        labels, role = _describe_labels(entry), entry["role"]
        title = join([name(entry["name"]), tag("small", labels)]) if labels else name(entry["name"])
        kind = _ROLES.get(role, role)
        if role == "bound":
            kind = join([BOUNDS[entry["bound"]], " of ", name(entry["of"])])
        lines.append((title, kind, entry["type"]))
    left = len(entries) - MOST_LISTED
    more = f" {plural(left, 'column')} more: see manifest.json." if left > 0 else ""
    reading = tag("ul", *[tag("li", sentence) for sentence in _how_to_read(manifest)], class_="limits")
    columns = table(("Column", "Role", "Type"), lines, "figures words")
    how = "How to read values" if _is_drawn(manifest) else "How to read labels"
    return section("Data dictionary", columns, note(TYPES + more), tag("h3", how), reading)


def _describe_labels(entry: Mapping[str, Any]) -> str:
    """How many labels there are, and from where to where they may go."""
    number = len(entry["labels"]) if "labels" in entry else entry.get("different_labels")
    drawn = entry.get("kind")
    parts = [
        *(
            [plural(number, "category" if drawn else "label", "categories" if drawn else "labels")]
            if number is not None
            else []
        ),
        *([f"drawn {drawn}s"] if drawn in {"number", "date"} and "density" not in entry else []),
        *([f"{entry['density']} densities of {drawn}s"] if "density" in entry else []),
        *([f"and as they are: {', '.join(f'{one:g}' for one in entry['exact'])}"] if "exact" in entry else []),
        *([f"and as they are: {', '.join(entry['atoms'])}"] if "atoms" in entry else []),
        *([f"level {entry['level']} of its hierarchy"] if entry.get("level") else []),
        *([f"never told below level {entry['least']}"] if "least" in entry else []),
        *(["declared from {} to {}".format(*entry["domain"])] if "domain" in entry else []),
        *([f"in table {entry['table']}"] if "table" in entry else []),
    ]
    return ", ".join(parts)


def _describe_method(method: Mapping[str, Any]) -> str:
    """Write a mask with its parameters.

    >>> _describe_method({"method": "noise", "share": 0.1, "correlated": True})
    'noise (share = 0.1, correlated = yes)'
    """
    return f"{method['method']} ({keys({key: value for key, value in method.items() if key != 'method'})})"


def _how_to_read(manifest: Manifest) -> Iterator[object]:
    """A line for each kind of label that there is."""
    entries = [entry for entry in manifest["columns"] if entry["role"] == "quasi"]
    labelled = [entry for entry in entries if not is_aggregate(entry)]
    kinds = {
        WHOLE: [entry["name"] for entry in labelled if entry.get("integers")],
        BROKEN: [entry["name"] for entry in labelled if entry.get("integers") is False],
        MASKED: [entry["name"] for entry in labelled if "mask" in entry],
        DATED: [entry["name"] for entry in labelled if "dates" in entry],
        SETS: [entry["name"] for entry in entries if entry.get("form") == "sets"],
        MEANS: [entry["name"] for entry in entries if entry.get("form") == "means"],
        MEDIANS: [entry["name"] for entry in entries if entry.get("form") == "medians"],
        MODES: [entry["name"] for entry in entries if entry.get("form") == "modes"],
        COVERED: [entry["name"] for entry in entries if "covers" in entry or "different_leaves" in entry],
    }
    for sentence, columns in kinds.items():
        if columns:
            yield join([some_names(columns, _NAMED), ": ", sentence])
    if _is_uncertain(manifest):
        centers = [entry["name"] for entry in manifest["columns"] if "density" in entry]
        yield join([some_names(centers, _NAMED), ": ", CENTER])
    else:
        yield RARE if _is_drawn(manifest) else STAR
    for entry in manifest["columns"]:
        if entry["role"] == "weight":
            rounded = f", rounded to {entry['round']:g}" if "round" in entry else ""
            yield join([name(entry["name"]), f": how many people of the population a row stands for{rounded}."])
    for entry in manifest["columns"]:
        if "masked" in entry:
            yield join([name(entry["name"]), f": masked by {', '.join(map(_describe_method, entry['masked']))}."])
    if "csv" in manifest:
        null = manifest["csv"]["null"]
        yield f"A missing value is {'an empty cell' if not null else f'written as {null}'}; empty text has quotes."
        yield manifest["csv"]["guard"]


# ---------------------------------------------------------------------------------------------------------------------
# What the release does not protect against, as far as its manifest tells which of it applies

LIMITS = (
    "The release is protected against the adversary of the promise, as far as that goes, and against nobody else. Call "
    "it anonymous only together with what it is anonymous against. What remains:"
)
OTHERS = (
    "Other releases about the same people may tell more together with this one than each by itself. None was taken "
    "into account."
)
SAME_KEY = (
    " Pseudonyms are made under a key: in every release under the same key a person has the same one, so that such "
    "releases can be joined person by person."
)
EARLIER = "Taken into account, as far as the requirements on their join go: {}. Others were not."


def _limits(manifest: Manifest) -> Markup:
    """A list of threats that remain."""
    items = [tag("li", tag("strong", title, ". "), text) for title, text in _remaining_threats(manifest)]
    return section("What it does not protect against", paragraph(LIMITS), tag("ul", *items, class_="limits"))


def _remaining_threats(manifest: Manifest) -> Iterator[tuple[str, object]]:
    if _is_drawn(manifest):
        yield from UNCERTAIN_THREATS if _is_uncertain(manifest) else DRAWN_THREATS
        yield "Other releases", OTHERS
        return
    split = "class_id" in manifest
    masked = [entry["name"] for entry in manifest["columns"] if "masked" in entry]
    plain = _columns_of_role(manifest, "plain")
    if plain:
        how = "Published as they are, or masked: " if {*masked} & {*plain} else "Published as they are: "
        yield "Plain columns", join([how, some_names(plain), ".", BESIDE if split else APART])
    if masked:
        yield "Masked columns", join([some_names(masked), PERTURBED])
    weights = _columns_of_role(manifest, "weight")
    if weights:
        yield "Sampling weights", join([names(weights), DRAWN_BY_WEIGHT])
    required = {
        column
        for rule in manifest["promise"]
        for column in (rule.get("column"), *rule.get("columns", ()), *rule.get("y", ()))
    }
    unlimited = [column for column in _columns_of_role(manifest, "sensitive") if column not in required]
    if unlimited:
        yield (
            "Sensitive columns without a requirement",
            join(["No requirement limits ", some_names(unlimited), HOMOGENEOUS]),
        )
    if _columns_of_role(manifest, "individual"):
        keyed = any(entry.get("pseudonyms") == "keyed" for entry in manifest["columns"])
        yield "Rows tied by a pseudonym", PEOPLE + (SAME_KEY if keyed else "")
    earlier = [release["name"] for release in manifest.get("previous", ())]
    yield "Other releases", EARLIER.format(", ".join(earlier)) if earlier else OTHERS
    yield "Knowing the algorithm", DRAWN if manifest["algorithm"] == "anatomy" else ALGORITHM + (EXACT if split else "")
    yield "Knowing more", KNOWLEDGE
    yield "Patterns across classes", LEARNER if split else PATTERNS
    if not split:
        yield "Downcoding", DOWNCODING
    for chosen in manifest.get("chosen_labels", ()):
        yield "Chosen labels", join([names(chosen["columns"]), ". ", chosen["reveals"]])
    if "together" in manifest:
        yield "Sensitive columns together", manifest["together"]
    yield "Being in the table", SHOWN if split else MEMBERSHIP
