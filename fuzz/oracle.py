"""What is wrong with a release, or with there being none: by the definitions, from the public files and the case."""

import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from fuzz.case import UNUSED, FuzzCase, Row, Text, policy_texts
from fuzz.definitions import Context, achieved, broken_links, broken_rules
from fuzz.generalizations import ROOT, is_mean, range_covers, set_covers
from fuzz.policies import FULL_DOMAIN
from fuzz.published import PublishedFiles

_NODES, _LATTICE_ROWS, _MATCHED_ROWS = 150, 60, 60
"""Lattices and tables up to these sizes are searched exhaustively."""
_CANARY = 7
"""Texts of so many characters are not found in a file by chance."""


@dataclass(frozen=True)
class Finding:
    """Something that is wrong: its kind, which is the same whenever the same is wrong, and what it is here."""

    kind: str
    detail: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.detail}"


@dataclass(frozen=True)
class Oracle:
    """What must hold of a case."""

    case: FuzzCase

    @cached_property
    def context(self) -> Context:
        """What the definitions look at."""
        return Context(self.case, self.case.person)

    @property
    def limit(self) -> int:
        """The most rows that may be suppressed: a share of them, and never all."""
        share = Fraction(str(self.case.algorithm.get("suppression", 0)))
        return min(int(share * len(self.case.rows)), len(self.case.rows) - 1)

    # Where there is no release

    def judge_infeasible(self, sentence: str) -> list[Finding]:
        """Object where the requirements can be met: by the table as one class, or by a node of the lattice."""
        case = self.case
        leaks = self._leaks(sentence.encode(), [*case.names("identifier"), *case.names("individual")], "the sentence")
        if case.form == "anatomy":
            return leaks
        whole = [{**row, **dict.fromkeys(case.names("quasi"), ROOT)} for row in case.rows]
        if not broken_rules([case.rows], self.context, case.rules) and not broken_links(
            whole, self.context, case.rules
        ):
            return [*leaks, Finding("infeasible, but the table as one class passes", sentence)]
        if case.algorithm.get("name") in FULL_DOMAIN and self._has_small_lattice():
            node = next((node for node, _, passes in self._nodes() if passes), None)
            if node is not None:
                return [*leaks, Finding("infeasible, but a node passes", f"{node}: {sentence}")]
        return leaks

    def judge_refusal(self, sentence: str) -> list[Finding]:
        """Object to a refusal of what the guide allows: a table without rows is all that may be refused."""
        case = self.case
        leaks = self._leaks(sentence.encode(), [*case.names("identifier"), *case.names("individual")], "the sentence")
        return leaks if not case.rows else [*leaks, Finding("refused", sentence)]

    # Where there is one

    def judge_release(self, files: PublishedFiles) -> list[Finding]:
        """Hold a release against the table and every requirement."""
        try:
            rows = files.first
        except (ValueError, KeyError) as error:
            return [Finding("unreadable", repr(error))]
        found = [*self._judge_shape(files)]
        if found:
            return found
        found += [Finding("formula", repr(text)) for text in files.formulas()[:1]]
        found += [Finding("requirement broken", text) for text in self.broken(files.classes, rows)]
        found += self._judge_figures(files)
        found += self._judge_rows(files)
        found += self._judge_canaries(files)
        if self.case.algorithm.get("name") in FULL_DOMAIN and self.case.form == "generalized":
            found += self._judge_levels(files)
        return found

    def broken(self, classes: list[list[Row]], rows: list[Row]) -> list[str]:
        """Name the requirements that published classes break."""
        return [
            *broken_rules(classes, self.context, self.case.rules),
            *broken_links(rows, self.context, self.case.rules),
        ]

    def _judge_shape(self, files: PublishedFiles) -> Iterator[Finding]:
        """The number of rows, and the columns."""
        case, rows = self.case, len(files.first)
        if not 0 < rows <= len(case.rows):
            yield Finding("number of rows", f"{rows} of {len(case.rows)}")
        elif len(case.rows) - rows > self.limit:
            yield Finding("too many rows suppressed", f"{len(case.rows) - rows}, and {self.limit} may be")
        hidden = set(case.names("identifier"))
        for name, table in files.tables.items():
            if len(table) != rows:
                yield Finding("tables of different length", name)
        columns = [name for table in files.tables.values() for name in table[0]] if rows else []
        if set(columns) - {files.class_id} != set(case.columns) - hidden:
            yield Finding("columns", f"{columns}")
        if files.class_id is not None:
            counts = [Counter(row[files.class_id] for row in table) for table in files.tables.values()]
            if any(count != counts[0] for count in counts):
                yield Finding("tables disagree on classes", str(counts))

    def _judge_figures(self, files: PublishedFiles) -> list[Finding]:
        """What the manifest says to be achieved is what the classes have."""
        stated = files.manifest["privacy"]
        if [each["model"] for each in stated] != [rule["model"] for rule in self.case.rules]:
            return [Finding("other requirements are stated", str(stated))]
        for rule, each in zip(self.case.rules, stated, strict=True):
            figures = achieved(rule, files.classes, self.context)
            for key, figure in each.get("achieved", {}).items():
                if key in figures and abs(figure - figures[key]) > 1e-9:
                    return [Finding("another figure is stated", f"{rule}: {key} is {figures[key]}, not {figure}")]
        return []

    # Rows

    def _judge_rows(self, files: PublishedFiles) -> list[Finding]:
        """Every published row is an original one told less exactly: which, is known or there must be a matching."""
        case = self.case
        exact = [*case.names("plain"), *case.names("sensitive")]
        for table in files.tables.values():
            names = [name for name in exact if name in table[0]]
            spare = Counter(tuple(row[name] for name in names) for row in case.rows)
            spare.subtract(Counter(tuple(row[name] for name in names) for row in table))
            if any(count < 0 for count in spare.values()):
                return [Finding("invented values", f"{names}: {[k for k, n in spare.items() if n < 0][:3]}")]
        if case.identity:
            original = {row[case.identity]: row for row in case.rows}
            return self._judge_known_rows(files, [(row, original[row[case.identity]]) for row in files.first])
        means = case.document.get("publish", {}).get("ranges") == "means"
        if len(case.rows) > _MATCHED_ROWS or means:
            return []
        apart = files.class_id is not None
        names = [*case.names("plain"), *([] if apart else case.names("sensitive"))]
        fits = [
            [
                i
                for i, source in enumerate(case.rows)
                if all(row[name] == source[name] for name in names)
                and all(self._covers(name, row[name], source[name], exact=apart) for name in case.names("quasi"))
            ]
            for row in files.first
        ]
        alone = next((row for row, sources in zip(files.first, fits, strict=True) if not sources), None)
        if alone is not None:
            return [Finding("a row that covers no original", str(alone))]
        return [] if _can_match(fits) else [Finding("rows match no originals together", "")]

    def _judge_known_rows(self, files: PublishedFiles, pairs: list[tuple[Row, Row]]) -> list[Finding]:
        case, apart = self.case, files.class_id is not None
        means = case.document.get("publish", {}).get("ranges") == "means"
        for row, source in pairs:
            for name in case.names("quasi"):
                mean = means and self._is_ranges(name) and not apart
                if not mean and not self._covers(name, row[name], source[name], exact=apart):
                    return [Finding("a label does not cover its value", f"{name}: {source[name]!r} is {row[name]!r}")]
        if case.person is not None:
            both = {(row[case.person], source[case.person]) for row, source in pairs}
            if not len(both) == len({a for a, _ in both}) == len({b for _, b in both}):
                return [Finding("pseudonyms are not one to one", "")]
        return self._judge_known_classes(files, pairs)

    def _judge_known_classes(self, files: PublishedFiles, pairs: list[tuple[Row, Row]]) -> list[Finding]:
        """Means are those of their class, and the bag of a class in a second table is that of its rows."""
        case = self.case
        by_class: dict[Any, list[tuple[Row, Row]]] = {}
        for row, source in pairs:
            key = row[files.class_id] if files.class_id else tuple(row[name] for name in case.names("quasi"))
            by_class.setdefault(key, []).append((row, source))
        if files.class_id is None and case.document.get("publish", {}).get("ranges") == "means":
            for members in by_class.values():
                for name in filter(self._is_ranges, case.names("quasi")):
                    if not is_mean(members[0][0][name], [source[name] for _, source in members]):
                        return [Finding("not the mean", f"{name}: {members[0][0][name]!r}")]
        for table in list(files.tables.values())[1:]:
            class_id = str(files.class_id)
            columns = [name for name in table[0] if name != class_id]
            for key, members in by_class.items():
                bag = Counter(tuple(row[name] for name in columns) for row in table if row[class_id] == key)
                if bag != Counter(tuple(source[name] for name in columns) for _, source in members):
                    return [Finding("a bag is not that of its class", str(columns))]
        return []

    def _is_ranges(self, name: str) -> bool:
        hierarchy = self.case.document["columns"][name].get("hierarchy")
        return isinstance(hierarchy, dict) and "ranges" in hierarchy

    def _covers(self, name: str, label: Text, value: Text, *, exact: bool) -> bool:
        """Tell whether a label may be published of a value."""
        if exact:
            return label == value
        entry, tree = self.case.document["columns"][name], self.context.trees[name]
        if tree is not None:
            return tree.covers(label, value, entry.get("least", 0))
        return range_covers(label, value) if self._is_ranges(name) else set_covers(label, value)

    # Canaries

    def _judge_canaries(self, files: PublishedFiles) -> list[Finding]:
        """Values of columns and rows that are not published stand in no public file."""
        case = self.case
        hidden = [*case.names("identifier"), *case.names("individual")]
        found = self._leaks(files.everything, hidden, "a public file")
        found += self._judge_key(files.everything, "a public file")
        if UNUSED.encode() in files.everything:
            found.append(Finding("a category of no row is public", UNUSED))
        published = {text for table in files.tables.values() for row in table for text in row.values() if text}
        allowed = policy_texts(case.document)
        allowed |= {case.files[release["table"]] for release in case.document.get("previous", [])}
        for name in [*case.names("sensitive"), *case.names("plain"), *(case.names("quasi") if case.identity else [])]:
            gone = self._suppressed_values(files, name)
            for value in gone:
                if len(value) < _CANARY or any(value in text for text in published) or any(value in t for t in allowed):
                    continue
                if value.encode() in files.everything:
                    role = case.document["columns"][name]["role"]
                    found.append(Finding(f"a {role} value of suppressed rows alone is public", f"{name}: {value!r}"))
                    break
        return found

    def judge_private(self, private: Path) -> list[Finding]:
        """What names persons stands in no file at all, and neither does the key of pseudonyms."""
        case = self.case
        hidden = [*case.names("identifier"), *case.names("individual")]
        content = b"".join(path.read_bytes() for path in sorted(private.iterdir()))
        return [*self._leaks(content, hidden, "a private file"), *self._judge_key(content, "a private file")]

    def _judge_key(self, content: bytes, where: str) -> list[Finding]:
        key = self.case.files.get("person.key", "")
        return [Finding(f"the key is in {where}", "")] if key and key.encode() in content else []

    def _suppressed_values(self, files: PublishedFiles, name: str) -> list[str]:
        """Values of a column that no published row holds, as it came in."""
        case = self.case
        if case.identity:
            tags = {row[case.identity] for row in files.first}
            kept = {row[name] for row in case.rows if row[case.identity] in tags}
        else:
            kept = {row[name] for table in files.tables.values() for row in table if name in row}
        return [value for value in dict.fromkeys(case.columns[name]) if value is not None and value not in kept]

    def _leaks(self, text: bytes, names: list[str], where: str) -> list[Finding]:
        """Values of columns in a text."""
        for name in names:
            for value in dict.fromkeys(self.case.columns[name]):
                if value is not None and len(value) >= _CANARY and value.encode() in text:
                    role = self.case.document["columns"][name]["role"]
                    return [Finding(f"an {role} value is in {where}", f"{name}: {value!r}")]
        return []

    # Full domain

    def _judge_levels(self, files: PublishedFiles) -> list[Finding]:
        """One level per column, of least loss where the algorithm is the optimal one."""
        case = self.case
        node = {entry["name"]: entry.get("level") for entry in files.manifest["columns"] if entry["role"] == "quasi"}
        for name in case.names("quasi"):
            tree = self.context.trees[name]
            assert tree is not None  # noqa: S101 - full domain takes columns with levels alone
            level, least = node[name], case.document["columns"][name].get("least", 0)
            if not isinstance(level, int) or not least <= level <= tree.height:
                return [Finding("no such level", f"{name}: {level}")]
            labels = {path[level] for path in tree.paths.values()}
            strange = {row[name] for row in files.first} - labels
            if strange:
                return [Finding("labels of another level", f"{name}: {sorted(map(str, strange))[:3]}")]
        if not self._has_small_lattice():
            return []
        chosen = tuple(int(node[name] or 0) for name in case.names("quasi"))
        nodes = {levels: (loss, passes) for levels, loss, passes in self._nodes()}
        if not nodes[chosen][1]:
            return [Finding("the node does not pass", str(chosen))]
        passing = {levels: loss for levels, (loss, passes) in nodes.items() if passes}
        algorithm = case.algorithm["name"]
        if algorithm == "samarati" and sum(chosen) > min(map(sum, passing)):
            return [Finding("samarati is not lowest", f"{chosen}, and {min(passing, key=sum)} passes")]
        best = min(passing, key=lambda levels: passing[levels] or 0)
        loss, least_loss = passing[chosen], passing[best]
        if algorithm == "optimal" and loss is not None and least_loss is not None and loss > least_loss + 1e-9:
            return [Finding("optimal is not optimal", f"{chosen} loses {loss}, and {best} loses {least_loss}")]
        return []

    def _has_small_lattice(self) -> bool:
        trees = [self.context.trees[name] for name in self.case.names("quasi")]
        if any(tree is None for tree in trees) or len(self.case.rows) > _LATTICE_ROWS:
            return False
        nodes = 1
        for tree in trees:
            nodes *= tree.height + 1 if tree is not None else 1
        return nodes <= _NODES

    def _nodes(self) -> Iterator[tuple[tuple[int, ...], float | None, bool]]:
        """Every node of the lattice: its levels, its loss where the metric is one that we know, whether it passes."""
        case, names = self.case, self.case.names("quasi")
        trees = {name: tree for name in names if (tree := self.context.trees[name]) is not None}
        least = [case.document["columns"][name].get("least", 0) for name in names]
        for node in itertools.product(
            *(range(low, trees[name].height + 1) for low, name in zip(least, names, strict=True))
        ):
            groups: dict[tuple[Text, ...], list[Row]] = {}
            for row in case.rows:
                key = tuple(trees[name].paths[row[name]][level] for name, level in zip(names, node, strict=True))
                groups.setdefault(key, []).append(row)
            kept = {key: rows for key, rows in groups.items() if not broken_rules([rows], self.context, case.rules)}
            suppressed = len(case.rows) - sum(map(len, kept.values()))
            passes = bool(kept) and suppressed <= self.limit
            if passes and any(rule.get("linked_k", 1) > 1 for rule in case.rules):
                passes = not broken_rules(kept.values(), self.context, case.rules)
            yield node, self._loss(node, kept, suppressed), passes

    def _loss(self, node: tuple[int, ...], kept: dict[tuple[Text, ...], list[Row]], suppressed: int) -> float | None:
        """The loss of a node by the policy's metric; a suppressed row loses all."""
        case, names, rows = self.case, self.case.names("quasi"), len(self.case.rows)
        metric = case.algorithm.get("metric", "ncp")
        if metric == "discernibility":
            return (sum(len(members) ** 2 for members in kept.values()) + suppressed * rows) / rows**2
        if metric == "average-class-size":
            return 1 / len(kept) if kept else float("inf")
        if metric == "entropy":
            return None
        trees = [tree for name in names if (tree := self.context.trees[name]) is not None]
        weights = [Fraction(str(case.document["columns"][name].get("weight", 1))) for name in names]
        if metric == "height":
            weights = [Fraction(tree.height) for tree in trees]
        elif metric == "distortion":
            weights = [weight * tree.height for weight, tree in zip(weights, trees, strict=True)]
        total = Fraction(suppressed) * sum(weights)
        for key, members in kept.items():
            for label, level, weight, tree in zip(key, node, weights, trees, strict=True):
                cell = tree.losses[level][label] if metric == "ncp" else Fraction(level, tree.height)
                total += weight * cell * len(members)
        return float(total / (rows * sum(weights)))


def _can_match(fits: list[list[int]]) -> bool:
    """Tell whether each published row can have an original of its own (augmenting paths).

    >>> _can_match([[0, 1], [0]]), _can_match([[0], [0]])
    (True, False)
    """
    taken: dict[int, int] = {}

    def place(row: int, tried: set[int]) -> bool:
        for source in fits[row]:
            if source not in tried:
                tried.add(source)
                if source not in taken or place(taken[source], tried):
                    taken[source] = row
                    return True
        return False

    return all(place(row, set()) for row in range(len(fits)))
