"""The releases of the sequential-release paper (Wang and Fung, "Anonymizing sequential releases"), its section 6.

Two departments have columns of the same people: immigration has published T2 unmodified, and taxation releases T1
after it, so that (X, Y)-privacy holds on the join of both. Here are the tables, the requirements that are tried, and
what is measured of each release: the error of a decision tree, and the paper's distortion.
"""

import csv
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
from numpy.typing import NDArray

from sfumato.datasets import synthetic_adult, synthetic_adult_policy
from sfumato.datasets.adult import SPECIALIZATION_TREES
from sfumato.errors import DataError, Infeasible, listing
from sfumato.hierarchy.intervals import read_range
from sfumato.papers.experiment import RowSource
from sfumato.release import Release, anonymize
from sfumato.table.table import open_table_file

# The tables of the two departments.

EARLIER, CLASS, SPLIT = "immigration", "salary-class", "split"
SHARED = ("marital-status", "relationship", "sex")
IMMIGRATION = (*SHARED, "native-country", "race")
CATEGORICAL = (*SHARED, "education", "occupation", "workclass")
"""Those of the taxation department, as the paper ranks them by what they say of the class."""
CONTINUOUS: Mapping[str, tuple[int, int]] = {
    "age": (17, 90),
    "capital-gain": (0, 99_999),
    "capital-loss": (0, 4356),
    "education-num": (1, 16),
    "fnlwgt": (13_492, 1_490_400),
    "hours-per-week": (1, 99),
}
"""With the ranges of the paper's Table 2."""
FIVE_LEVELS = ("workclass",)
"""Taxonomies of five levels, which have a file of their own among ours."""
Paths = Mapping[str, tuple[str, ...]]
"""The labels on the way from each label of a taxonomy to its root, both included, each of them once."""


@dataclass(frozen=True)
class DataSet:
    """One of the paper's two: the attributes of T1, and its ranking of them by what they say of the class."""

    name: str
    attributes: tuple[str, ...]
    ranked: tuple[str, ...]


SET_A = DataSet("A", CATEGORICAL, CATEGORICAL)
SET_B = DataSet(
    "B",
    (*CATEGORICAL, *CONTINUOUS),
    ("capital-gain", "age", "marital-status", "education-num", "relationship", "hours-per-week", "sex"),
)
SETS = {data_set.name: data_set for data_set in (SET_A, SET_B)}


@dataclass(frozen=True)
class Departments:
    """Every column of everybody, and the taxonomy of each categorical one of T1: a file, or ``"suppress"``.

    `hierarchies` are those of the paper, `own` such as were made before those were found.
    """

    frame: Any
    hierarchies: Mapping[str, str]
    own: Mapping[str, str]

    @classmethod
    def from_source(cls, source: RowSource) -> "Departments":
        """Read the real people from their file, or make people up."""
        trees = {name: str(SPECIALIZATION_TREES / f"{name}.csv") for name in CATEGORICAL}
        if source.folder is None:
            columns = synthetic_adult_policy()["columns"]
            own = {name: columns[name]["hierarchy"] if name in columns else "suppress" for name in CATEGORICAL}
            return cls(make_up_people(source.made_up), trees, own)
        own = {name: _taxonomy_file(source.folder / "hierarchies", name) for name in CATEGORICAL}
        return cls(_read_people(source.folder / "adult.csv"), trees, own)

    @property
    def lower_taxonomies(self) -> list[str]:
        """The columns whose taxonomy, of ours, has fewer levels than the paper's."""
        wanted = {name: f"{name}-5.csv" if name in FIVE_LEVELS else f"{name}.csv" for name in self.own}
        return [name for name, path in self.own.items() if Path(path).name != wanted[name]]

    def taxation(self, data_set: DataSet) -> Any:
        """Select T1: the attributes of a set, the class, and which half of the data a row is of."""
        return self.frame.select([*data_set.attributes, CLASS, SPLIT])

    @property
    def immigration(self) -> Any:
        """T2, as it was published: unmodified."""
        return self.frame.select(IMMIGRATION)

    @cached_property
    def paths(self) -> dict[str, Paths]:
        """The way of every label to the root, by column."""
        return self._all_paths(self.hierarchies)

    @cached_property
    def own_paths(self) -> dict[str, Paths]:
        """The same by our taxonomies."""
        return self._all_paths(self.own)

    def _all_paths(self, trees: Mapping[str, str]) -> dict[str, Paths]:
        return {column: dict(self._read_paths(column, tree)) for column, tree in trees.items()}

    def _read_paths(self, column: str, tree: str) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Read the way of each label; one that stands on several levels, so that lines are equally long, counts once.

        So the steps of a way are those of the taxonomy, and not those of its file.
        """
        if tree == "suppress":
            yield from ((value, (value, "*")) for value in self.frame[column].unique().to_pylist())
            yield "*", ("*",)
            return
        with Path(tree).open(encoding="utf-8", newline="") as file:
            for line in csv.reader(file):
                yield from ((label, tuple(dict.fromkeys(line[level:]))) for level, label in enumerate(line))


def _read_people(path: Path) -> Any:
    """Read the rows of the Adult census, with their types."""
    needed = {*CATEGORICAL, *IMMIGRATION, *CONTINUOUS, CLASS, SPLIT}
    try:
        with open_table_file(path) as file:
            people = pyarrow.csv.read_csv(file)
    except (pa.ArrowInvalid, UnicodeDecodeError):
        raise DataError(f"{path.name} cannot be read as CSV; make adult makes another") from None
    if not needed <= set(people.column_names):
        raise DataError(f"{path.name} lacks columns: {listing(sorted(needed - {*people.column_names}))}; make adult")
    return people


def _taxonomy_file(folder: Path, name: str) -> str:
    """Find the file of a column, that of five levels first; what ``make adult`` makes has not all of them."""
    files = (f"{name}-5.csv", f"{name}.csv") if name in FIVE_LEVELS else (f"{name}.csv",)
    return next((str(folder / file) for file in files if (folder / file).is_file()), "suppress")


def make_up_people(rows: int, seed: int = 1) -> Any:
    """Make up people, a row each: the relationship follows marital status and sex, the other columns are drawn alone.

    >>> make_up_people(3).num_columns
    16
    """
    draw = np.random.default_rng(seed)
    frame = _without_dictionaries(synthetic_adult(rows, seed=seed))
    statuses, sexes = (frame[name].to_pylist() for name in ("marital-status", "sex"))
    others = draw.choice(["Own-child", "Unmarried", "Not-in-family", "Other-relative"], rows).tolist()
    spouse = {"Male": "Husband", "Female": "Wife"}
    relationships = [
        spouse[sex] if status == "Married-civ-spouse" else other
        for status, sex, other in zip(statuses, sexes, others, strict=True)
    ]
    more = {
        "relationship": pa.array(relationships),
        "capital-gain": pa.array(np.where(draw.random(rows) < 0.1, draw.integers(1, 99_999, rows), 0)),
        "capital-loss": pa.array(np.where(draw.random(rows) < 0.05, draw.integers(1, 4356, rows), 0)),
        "education-num": pa.array(draw.integers(1, 17, rows)),
        "fnlwgt": pa.array(draw.integers(13_492, 1_490_400, rows)),
        "hours-per-week": pa.array(np.clip(draw.normal(40, 10, rows), 1, 99).astype(np.int64)),
        SPLIT: pa.array(np.where(draw.random(rows) < 2 / 3, "train", "test")),
    }
    for name, column in more.items():
        frame = frame.append_column(name, column)
    return frame


def write_csv(frame: Any, path: Path) -> Path:
    """Write the frame as a CSV file, as anybody would publish it."""
    pyarrow.csv.write_csv(_without_dictionaries(frame), path)
    return path


def _without_dictionaries(frame: Any) -> Any:
    """Give dictionary columns as plain ones, since CSV has no word for them."""
    fields = [pa.field(field.name, getattr(field.type, "value_type", field.type)) for field in frame.schema]
    return frame.cast(pa.schema(fields))


# The points: set, requirement and reading of every release that is made.

LITERAL, CONDITIONAL, NEXT_CUT, OUR_TREES = "the paper's", "conditional score", "next cut", "our trees"
EVERY_STEP = "every step"
"""How `tds` is run. The paper's: its score to the letter (equation 2), its trees, the best cut of a range alone; for
k-anonymity, which is top-down specialization of one table, only steps that gain something. Of the others each differs
in one thing: the score, the cuts that are tried, the trees, and for k-anonymity the steps of no gain that are taken."""
XY, ROW, KA, LINK = "XY", "XY(row)", "KA", "link"
"""(X, Y)-anonymity with Y = K1 and with Y = {K1, K2}, k-anonymity on all of T1, and (X, Y)-linkability."""
_KEYS = {XY: ["$row"], ROW: ["$row", f"{EARLIER}.$row"]}
"""The Y of (X, Y)-anonymity."""


@dataclass(frozen=True)
class SequentialPoint:
    """One release: the set, the kind of requirement, the N of TopN (0 where there is none), k, and the reading."""

    data: str
    method: str
    top: int
    k: float
    reading: str = LITERAL

    @property
    def data_set(self) -> DataSet:
        """The set itself."""
        return SETS[self.data]

    @property
    def y(self) -> tuple[str, ...]:
        """The columns of T1 whose values linkability protects."""
        return CATEGORICAL[: self.top] if self.method == LINK else ()

    @property
    def quasi(self) -> tuple[str, ...]:
        """The columns of T1 that may be generalized: those of X, or all for k-anonymity."""
        attributes = self.data_set.attributes
        if self.method in {KA, LINK}:
            return tuple(name for name in attributes if name not in self.y)
        in_x = {*self.data_set.ranked[: self.top], *SHARED}
        return tuple(name for name in attributes if name in in_x)

    @property
    def x(self) -> list[str]:
        """X: of T1 what may be generalized, of T2 everything for anonymity, the same shared columns for linkability."""
        theirs = [name for name in IMMIGRATION if name in self.quasi] if self.method == LINK else IMMIGRATION
        return [*self.quasi, *(f"{EARLIER}.{name}" for name in theirs)]

    def privacy(self, frame: Any) -> list[dict[str, Any]]:
        """Give the requirements as a policy has them; `frame` says which values are rare."""
        if self.method == KA:
            return [{"model": "k-anonymity", "k": self.k}]
        if self.method == LINK:
            requirement = {"model": "xy-linkability", "x": self.x, "k": self.k}
            return [requirement | {"y": [name], "values": rarest(frame[name].to_pylist())} for name in self.y]
        return [{"model": "xy-anonymity", "x": self.x, "y": _KEYS[self.method], "k": self.k}]

    @property
    def search(self) -> dict[str, Any]:
        """The algorithm as a policy has it."""
        score = "conditional" if self.reading == CONDITIONAL else "classification"
        options = {"next_cut": self.reading == NEXT_CUT, "beneficial": self.method == KA and self.reading != EVERY_STEP}
        return {"name": "tds", "score": score, "class": CLASS} | {key: True for key, value in options.items() if value}

    def as_json(self) -> dict[str, Any]:
        """Plain data: a case begins with it."""
        return {"data": self.data, "method": self.method, "top": self.top, "k": self.k, "reading": self.reading}


def rarest(values: Sequence[str]) -> list[str]:
    """Find the less frequent half of the values; of an odd number the smaller half, in the order of the alphabet.

    >>> rarest(["a", "a", "a", "b", "c", "c"]), rarest(["m", "f", "m"])
    (['b'], ['f'])
    """
    counts = sorted(Counter(values).items(), key=lambda pair: (pair[1], pair[0]))
    return sorted(value for value, _ in counts[: len(counts) // 2])


@dataclass(frozen=True)
class SequentialGrid:
    """The values that are run: TopN of anonymity by set, its thresholds, TopN of linkability and its thresholds.

    Then the rows of enlarged tables, and how often a command on them is timed.
    """

    tops_a: Sequence[int] = (3, 4, 5, 6)
    tops_b: Sequence[int] = (3, 4, 5, 6, 7)
    ks: Sequence[int] = (40, 80, 120, 160, 200)
    links: Sequence[int] = (1, 2, 3, 4)
    shares: Sequence[float] = (0.1, 0.3, 0.5, 0.7, 0.9)
    sizes: Sequence[int] = (200_000, 400_000, 600_000, 800_000, 1_000_000, 2_000_000, 5_000_000)
    repeat: int = 3

    def anonymity(self, data: str) -> Iterator[SequentialPoint]:
        """Give the releases of Figures 1 and 2 (Set A), or 3 and 4 (Set B)."""
        ranges = (NEXT_CUT,) if data == SET_B.name else ()  # Set A has nothing that is cut
        for top, k in product(self.tops_a if data == SET_A.name else self.tops_b, self.ks):
            for reading in (LITERAL, CONDITIONAL, *ranges, OUR_TREES):
                yield SequentialPoint(data, XY, top, k, reading)
            yield SequentialPoint(data, ROW, top, k)
        for k, reading in product(self.ks, (LITERAL, CONDITIONAL, *ranges, OUR_TREES, EVERY_STEP)):
            yield SequentialPoint(data, KA, 0, k, reading)

    def linkability(self, data: str) -> Iterator[SequentialPoint]:
        """Give the releases of Figure 6 (Set A) or 7 (Set B)."""
        for reading, top, share in product((LITERAL, CONDITIONAL, OUR_TREES), self.links, self.shares):
            yield SequentialPoint(data, LINK, top, share, reading)

    def points(self, part: str) -> list[SequentialPoint]:
        """Give the releases of a part of the experiment: ``A`` or ``B`` (anonymity), ``links-A`` or ``links-B``."""
        data = part[-1]
        return list(self.anonymity(data) if part == data else self.linkability(data))


FULL, QUICK = SequentialGrid(), SequentialGrid((3, 6), (3, 7), (40, 200), (1, 4), (0.1, 0.9), (200_000, 1_000_000), 1)


# What is measured of a release.

BASE, NO_JOIN, NO_Y = "BL", "RJ", "RS"
"""Unmodified, without the join attributes, without the attributes of Y."""
LEAST = 50
"""The fewest training rows of a leaf; chosen once, since errors of unmodified data came near the paper's with it."""


@dataclass(frozen=True)
class SequentialExperiment:
    """The tables of both departments, and the file of the earlier release."""

    departments: Departments
    earlier: Path

    @classmethod
    @contextmanager
    def prepare(cls, departments: Departments) -> Iterator["SequentialExperiment"]:
        """Write T2 into a folder that is gone afterwards."""
        with tempfile.TemporaryDirectory(prefix="sfumato-") as folder:
            yield cls(departments, write_csv(departments.immigration, Path(folder, f"{EARLIER}.csv")))

    def policy(self, point: SequentialPoint) -> dict[str, Any]:
        """Write the policy of a release of T1."""
        previous = {} if point.method == KA else {"previous": [{"name": EARLIER, "table": str(self.earlier)}]}
        table = self.departments.taxation(point.data_set)
        return {
            "columns": {name: self._column(name, point) for name in table.column_names},
            **previous,
            "privacy": point.privacy(table),
            "algorithm": point.search,
        }

    def _column(self, name: str, point: SequentialPoint) -> dict[str, Any]:
        """Write the policy of a column; what is not in X is published as it is."""
        if name not in point.quasi:
            return {"role": "sensitive" if name in point.y else "plain"}
        if name in CONTINUOUS:
            return {"role": "quasi", "hierarchy": {"ranges": True, "domain": list(CONTINUOUS[name])}}
        trees = self.departments.own if point.reading == OUR_TREES else self.departments.hierarchies
        return {"role": "quasi", "hierarchy": trees[name]}

    def measure_point(self, point: SequentialPoint) -> dict[str, Any]:
        """Measure a point's verified release, or give the sentence that says why there is none.

        ``join`` counts the shared columns that are fully generalized. Of (X, Y)-anonymity, ``short`` of the ``x``
        values have fewer than k rows of T1.
        """
        people = self.departments
        start = time.perf_counter()
        try:
            release = anonymize(people.taxation(point.data_set), self.policy(point))
        except Infeasible as reason:
            return {**point.as_json(), "infeasible": str(reason)}
        seconds = time.perf_counter() - start
        table, paths = release.table, people.own_paths if point.reading == OUR_TREES else people.paths
        shared = [name for name in point.quasi if name in SHARED]
        figures = {
            **point.as_json(),
            "error": tree_error(table, point.data_set.attributes),
            **distortion(count_generalizations(release), paths),
            "join": sum(table[name].unique().to_pylist() == ["*"] for name in shared),
            "achieved": [finding["achieved"] for finding in release.privacy],
            "seconds": seconds,
        }
        if point.method in {KA, LINK}:
            return figures
        ours = count_groups(table, [*SHARED, *(name for name in point.quasi if name not in SHARED)])
        theirs = count_groups(people.immigration, IMMIGRATION)
        short, every = count_short_of_keys(ours, theirs, paths, k=int(point.k))
        return figures | {"classes": len(ours), "short": short, "x": every}

    def measure_removals(self, data: str, grid: SequentialGrid) -> Iterator[dict[str, Any]]:
        """Measure the error of unmodified data, and of what is left without some attributes."""
        attributes, table = SETS[data].attributes, self.departments.taxation(SETS[data])
        removals: list[tuple[str, int, tuple[str, ...]]] = [(BASE, 0, ()), (NO_JOIN, 0, SHARED)]
        removals += [(NO_Y, top, CATEGORICAL[:top]) for top in grid.links]
        for method, top, removed in removals:
            error = tree_error(table, [name for name in attributes if name not in removed])
            yield {"data": data, "method": method, "top": top, "error": error}


def tree_error(table: Any, columns: Sequence[str]) -> float:
    """Find the share of testing rows whose class a decision tree gets wrong.

    It sees the labels of some columns as they are published. Every table gets the same tree: nothing is chosen per
    method.
    """
    from sklearn.tree import DecisionTreeClassifier  # noqa: PLC0415 - heavy, and tables do without it

    features = np.concatenate([tree_features(table, name) for name in columns], axis=1)
    classes, _ = encode_texts(table[CLASS])
    halves, names = encode_texts(table[SPLIT])
    train = halves == names.index("train")
    tree = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=LEAST, random_state=1)
    tree.fit(features[train], classes[train])
    return float((tree.predict(features[~train]) != classes[~train]).mean())


def tree_features(table: Any, column: str) -> NDArray[np.float32]:
    """Give a column as the tree sees it, float[rows, features]: a range by its middle, else a flag for each label.

    >>> table = pa.table({"age": ["20-29", "45"], "sex": ["f", "*"]})
    >>> tree_features(table, "age").tolist(), tree_features(table, "sex").tolist()
    ([[24.5], [45.0]], [[0.0, 1.0], [1.0, 0.0]])
    """
    codes, texts = encode_texts(table[column])
    if column not in CONTINUOUS:
        return np.eye(len(texts), dtype=np.float32)[codes]
    spans = [range_ends(text, CONTINUOUS[column]) for text in texts]
    return np.array([(low + end - 1) / 2 for low, end in spans], dtype=np.float32)[codes][:, None]


Generalizations = Mapping[str, Mapping[tuple[str, str], int]]
"""How many records have each value under each label, by column."""


def count_generalizations(release: Release) -> Generalizations:
    """Count the values of each quasi-identifier under the labels that they are published under."""
    counts = {}
    for attribute in release.encoded.quasi:
        values, labels = attribute.hierarchy.labels[0], release.recoding.labels[attribute.name]
        pairs, rows = np.unique(np.stack([attribute.column.codes, labels.codes]), axis=1, return_counts=True)
        named = ((str(values[value]), str(labels.texts[label])) for value, label in pairs.T.tolist())
        counts[attribute.name] = dict(zip(named, rows.tolist(), strict=True))
    return counts


def distortion(counts: Generalizations, paths: Mapping[str, Paths]) -> dict[str, float]:
    """Measure the paper's distortion a record, of categorical (`cat`) and continuous attributes (`cont`) apart.

    A categorical value counts one for each step up its taxonomy to its label, a range the share of the full range that
    it covers; a single number is no range.

    >>> paths = {"job": {"cook": ("cook", "service", "*"), "clerk": ("clerk", "*")}}
    >>> jobs = {("cook", "service"): 2, ("clerk", "*"): 1, ("clerk", "clerk"): 1}
    >>> distortion({"job": jobs, "age": {("30", "17-90"): 1, ("31", "17-53"): 2, ("32", "32"): 1}}, paths)
    {'cat': 0.75, 'cont': 0.5}
    """
    units = {"cat": 0.0, "cont": 0.0}
    for name, pairs in counts.items():
        records = sum(pairs.values())
        if name in CONTINUOUS:
            units["cont"] += sum(_range_share(name, label) * rows for (_, label), rows in pairs.items()) / records
        else:
            units["cat"] += (
                sum(paths[name][value].index(label) * rows for (value, label), rows in pairs.items()) / records
            )
    return units


def _range_share(column: str, label: str) -> float:
    """Give the share of the full range of a column that a label covers; nothing for a single number."""
    first, last = CONTINUOUS[column]
    low, end = range_ends(label, (first, last))
    return 0.0 if end - low == 1 else (end - low) / (last + 1 - first)


def range_ends(label: str, domain: tuple[int, int]) -> tuple[float, float]:
    """Give the first of the whole numbers that a label covers, and the one after the last.

    >>> [range_ends(label, (17, 90)) for label in ("17-38", "<20", "*", "30")]
    [(17.0, 39.0), (17.0, 20.0), (17.0, 91.0), (30.0, 31.0)]
    """
    covered = read_range(label)
    high = covered.high + 1 if covered.closed else covered.high
    return float(max(covered.low, domain[0])), float(min(high, domain[1] + 1))


def encode_texts(column: Any) -> tuple[NDArray[np.int64], list[str]]:
    """Give a column as codes and the texts that they stand for, sorted, so that the order of rows changes nothing.

    >>> encode_texts(pa.chunked_array([["b", "a", "b"]]))
    (array([1, 0, 1]), ['a', 'b'])
    """
    whole = column.combine_chunks().cast("string").dictionary_encode()
    texts = np.array(whole.dictionary.to_pylist(), dtype=object)
    order = np.argsort(texts)
    return np.argsort(order)[whole.indices.to_numpy()], texts[order].tolist()


def count_groups(table: Any, columns: Sequence[str]) -> dict[tuple[str, ...], int]:
    """Count the rows of each combination of labels.

    >>> count_groups(pa.table({"sex": ["f", "m", "f"]}), ["sex"])
    {('f',): 2, ('m',): 1}
    """
    texts = table.select(list(columns)).cast(pa.schema([pa.field(name, pa.string()) for name in columns]))
    groups = texts.group_by(list(columns), use_threads=False).aggregate([([], "count_all")]).to_pydict()
    return dict(zip(zip(*(groups[name] for name in columns), strict=True), groups["count_all"], strict=True))


def count_short_of_keys(
    ours: Mapping[tuple[str, ...], int],
    theirs: Mapping[tuple[str, ...], int],
    paths: Mapping[str, Paths],
    *,
    k: int,
) -> tuple[int, int]:
    """Count the x values of the join that have fewer than `k` rows of T1, and all x values.

    Both tables are given as groups with the shared columns first. A pair of groups that matches is an x value, since X
    has all columns by which the join is made; labels match where one is on the other's path to the root.
    """

    def match(labels: tuple[str, ...], others: tuple[str, ...]) -> bool:
        return all(
            label in paths[name].get(other, ()) or other in paths[name].get(label, ())
            for name, label, other in zip(SHARED, labels, others, strict=False)
        )

    matches: dict[tuple[str, ...], int] = {}
    short = total = 0
    for labels, rows in ours.items():
        key = labels[: len(SHARED)]
        if key not in matches:
            matches[key] = sum(match(key, other) for other in theirs)
        total += matches[key]
        short += matches[key] if rows < k else 0
    return short, total
