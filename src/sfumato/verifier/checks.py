"""Each requirement once more, in SQL over the classes of the published table.

Every check gives one line per class with the figure that the requirement is about, and whether it is satisfied. To add
a model, write its definition here in SQL, from the paper, and add it to `CHECKS`.

References are to Wong, Li, Fu and Wang 2006 ((α, k)-anonymity), to the chapter on privacy-preserving data mining
(Definitions 20.3.x), and to the identity-reserved paper. Persons are counted, compared and never named: no pseudonym
gets into a sentence.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sfumato.verifier.class_distances import distance_query
from sfumato.verifier.counts import MOST_NAMED, ClassCounts
from sfumato.verifier.duckdb_tables import TableView
from sfumato.verifier.sql import exact_ratio, is_protected, quote_name, times
from sfumato.verifier.stated_promise import StatedRequirement, is_xy, sensitive_columns, share_bound
from sfumato.verifier.verdict import Finding, Verdict

NO_ROWS = "the table has no rows"
"""What is wrong with a release of nothing."""
_TOLERANCE = 1e-9


def reach_verdict(counts: ClassCounts, earlier: Sequence[TableView] = ()) -> Verdict:
    """Check every requirement, and whether there are classes at all.

    `earlier` are the tables of the earlier releases, where a requirement is about the join with them.
    """
    rows, classes = counts.totals()
    requirements = counts.promise.requirements
    check_join: Callable[[StatedRequirement], Finding] | None = None
    if any(map(is_xy, requirements)):
        from sfumato.verifier.linkage.xy_checks import LinkageChecks  # noqa: PLC0415 - only where there is a join

        check_join = LinkageChecks(counts, earlier).check
    findings = tuple(
        check_join(rule) if check_join is not None and is_xy(rule) else _check_requirement(counts, rule, place)
        for place, rule in enumerate(requirements)
    )
    return Verdict(rows, classes, findings, (*([] if rows else [NO_ROWS]), *counts.problems()))


@dataclass(frozen=True)
class Check:
    """A query over the classes, and words for those that fail.

    `query` selects, per class ``id``, whether it is ``ok``, and its ``figure``; `achieved` maps a key of the model to
    an SQL aggregate over these lines; `complaint` is an SQL text that says what is wrong with a class, and `worst` the
    order in which the worst come first.
    """

    query: str
    achieved: Mapping[str, str]
    complaint: str
    worst: str = "figure DESC"


def _check_requirement(counts: ClassCounts, rule: StatedRequirement, place: int) -> Finding:
    """Run the checks of a model: what all classes reach, and the worst of those that fail, in words."""
    achieved: dict[str, Any] = {}
    failures: list[str] = []
    for part, make in enumerate(CHECKS[rule["model"]]):
        check, table = make(counts, rule), f"figures_{place}_{part}"
        counts.connection.execute(f"CREATE TABLE {table} AS {check.query}")
        figures = ", ".join(f"{aggregate} AS {quote_name(key)}" for key, aggregate in check.achieved.items())
        line = counts.first_line(f"SELECT {figures} FROM {table}")
        for key, value in zip(check.achieved, line, strict=True):
            if value is not None:  # a key without a figure is one that nothing would meet
                achieved[key] = value if isinstance(value, int) else round(float(value), 12)
        worst = counts.connection.execute(
            f"SELECT f.id, {check.complaint} FROM {table} f JOIN classes c ON c.id = f.id WHERE NOT f.ok "
            f"ORDER BY {check.worst}, {counts.order} LIMIT {MOST_NAMED}"
        ).fetchall()
        failures += [f"{counts.describe(identifier)} {complaint}" for identifier, complaint in worst]
        failing = counts.first_line(f"SELECT count(*) FROM {table} WHERE NOT ok")[0]
        failures += [f"{failing - MOST_NAMED:,} more classes fail"] if failing > MOST_NAMED else []
    if rule.get("linked_k") is not None:
        achieved["linked_k"], sentences = check_linked_persons(counts, rule["linked_k"])
        failures += sentences
    failures += counts.join_failures(rule)
    required = {key: value for key, value in rule.items() if key != "model"}
    sentences = [f"{rule['model']}: {failure}" for failure in failures]
    return Finding(rule["model"], required, achieved, not failures, tuple(sentences))


def k_anonymity(counts: ClassCounts, rule: StatedRequirement) -> Check:
    """At least k rows (Definition 3 of Wong et al. 2006), or persons where rows name them (identity-reserved, 2)."""
    unit = "persons" if counts.promise.individual else "rows"
    return Check(
        f"SELECT id, persons >= {rule['k']} AS ok, persons AS figure FROM persons",
        {"k": "coalesce(min(figure), 0)"},
        f"'has ' || figure || ' {unit}, fewer than {rule['k']}'",
        "figure",
    )


def alpha_deassociation(counts: ClassCounts, rule: StatedRequirement) -> Check:
    """The share of each protected value (Definitions 4, 11 and 13 of Wong et al. 2006; refined: Definition 5).

    In whole numbers: r <= a/b n, or r < a/b n + 1 where refined, which is r <= ceil(a/b n).
    """
    over, under = exact_ratio(rule["alpha"])
    count, sign = ("(p.r - 1)", "<") if rule.get("refined") else ("p.r", "<=")
    parts = [
        f"SELECT id, n, v, r FROM {counts.pairs(column)} WHERE {is_protected(rule.get('values'))}"
        for column in sensitive_columns(rule)
    ]
    return Check(
        f"SELECT c.id, coalesce(bool_and({times(under, count)} {sign} {times(over, 'p.n')}), true) AS ok, "
        f"coalesce(max(p.r / p.n), 0) AS figure, arg_max(coalesce(p.v, 'NULL'), p.r) AS worst "
        f"FROM classes c LEFT JOIN ({' UNION ALL '.join(parts)}) p ON p.id = c.id GROUP BY c.id",
        {"alpha": "coalesce(max(figure), 0)"},
        f"'has a share of ' || round(figure, 4) || ' of ' || worst || ', above {rule['alpha']}'",
    )


def distinct_values(counts: ClassCounts, rule: StatedRequirement) -> Check:
    """At least l different values (Definition 20.3.2), and as many persons where rows name them."""
    values = f"(SELECT id, count(*) AS values FROM {counts.pairs(rule['column'])} GROUP BY id)"
    return Check(
        f"SELECT p.id, least(v.values, p.persons) AS figure, figure >= {rule['l']} AS ok "
        f"FROM persons p JOIN {values} v ON v.id = p.id",
        {"l": "coalesce(min(figure), 0)"},
        f"'has ' || figure || ' different sensitive values, fewer than {rule['l']}'",
        "figure",
    )


def value_entropy(counts: ClassCounts, rule: StatedRequirement) -> Check:
    """Entropy at least log l (Definition 20.3.3); that of so many persons at the most, where rows name them."""
    bits = f"(SELECT id, greatest(-sum(r / n * ln(r / n)), 0) AS bits FROM {counts.pairs(rule['column'])} GROUP BY id)"
    return Check(
        f"SELECT b.id, least(b.bits, ln(p.persons)) >= ln({float(rule['l'])!r}) - {_TOLERANCE} AS ok, "
        f"least(exp(b.bits), p.persons) AS figure FROM {bits} b JOIN persons p ON p.id = b.id",
        {"l": "coalesce(min(figure), 0)"},
        f"'has the entropy of ' || round(figure, 4) || ' equally frequent values, fewer than {rule['l']}'",
        "figure",
    )


def recursive_diversity(counts: ClassCounts, rule: StatedRequirement) -> Check:
    """The most frequent value has less than c times the rows of those from the l-th on (Definition 20.3.4).

    No c does where there are fewer than l values, or fewer than l persons where rows name them.
    """
    over, under = exact_ratio(rule["c"])
    ranked = (
        f"SELECT a.*, p.persons, row_number() OVER (PARTITION BY a.id ORDER BY r DESC) AS place "
        f"FROM {counts.pairs(rule['column'])} a JOIN persons p ON p.id = a.id"
    )
    tail = f"coalesce(sum(r) FILTER (place >= {rule['l']} AND persons >= {rule['l']}), 0)"
    poor = "bool_or(figure IS NULL)"
    return Check(
        f"SELECT id, {times(under, 'max(r)')} < {times(over, tail)} AS ok, max(r) / nullif({tail}, 0) AS figure, "
        f"least(count(*), max(persons)) AS values FROM ({ranked}) GROUP BY id",
        {
            "c": f"CASE WHEN NOT {poor} THEN max(figure) END",
            "l": f"coalesce(CASE WHEN {poor} THEN min(values) ELSE {rule['l']} END, 0)",
        },
        f"coalesce('has a most frequent value of ' || round(figure, 4) || ' times those from place {rule['l']} on, "
        f"not below {rule['c']}', 'has ' || values || ' different values, fewer than {rule['l']}')",
        "figure DESC NULLS FIRST",
    )


def t_closeness(counts: ClassCounts, rule: StatedRequirement) -> Check:
    """The distance of each class to the whole input table (Definition 20.3.5).

    A class with a value that the whole table does not have is at no distance, and fails.
    """
    return Check(
        f"SELECT c.id, coalesce(figure <= {float(rule['t'])!r} + {_TOLERANCE}, false) AS ok, figure "
        f"FROM classes c LEFT JOIN ({distance_query(counts, rule)}) d ON d.id = c.id",
        {"t": "CASE WHEN count(*) = count(figure) THEN coalesce(max(figure), 0) END"},
        "coalesce('is at a distance of ' || round(figure, 4) || ' from the whole table, above "
        f"{rule['t']}', 'holds a sensitive value that the input did not have')",
        "figure DESC NULLS FIRST",
    )


def class_values(counts: ClassCounts, rule: StatedRequirement) -> Check:
    """At least l different values, however many persons have them (identity-reserved paper, Definition 3)."""
    return Check(
        f"SELECT c.id, count(p.id) AS figure, figure >= {rule['l']} AS ok "
        f"FROM classes c LEFT JOIN {counts.pairs(rule['column'])} p ON p.id = c.id GROUP BY c.id",
        {"l": "coalesce(min(figure), 0)"},
        f"'has ' || figure || ' different sensitive values, fewer than {rule['l']}'",
        "figure",
    )


def person_share(counts: ClassCounts, rule: StatedRequirement) -> Check:  # noqa: ARG001 - as every check is called
    """No person has more than a share a/b of a class's n rows (identity-reserved paper, Definition 4): r <= a/b n."""
    over, under = exact_ratio(rule["alpha"])
    return Check(
        f"SELECT c.id, {times(under, 'max(p.r)')} <= {times(over, 'max(c.n)')} AS ok, max(p.r) / max(c.n) AS figure "
        "FROM classes c JOIN people p ON p.id = c.id GROUP BY c.id",
        {"alpha": "coalesce(max(figure), 0)"},
        f"'has a person with a share of ' || round(figure, 4) || ' of its rows, above {rule['alpha']}'",
    )


def beta_share(counts: ClassCounts, rule: StatedRequirement) -> Check:
    """The share of each value, whoever's it is (identity-reserved paper, Definition 4), as alpha bounds a value's."""
    check = alpha_deassociation(counts, share_bound(rule))
    return replace(check, achieved={"beta": "coalesce(max(figure), 0)"})


CHECKS: dict[str, tuple[Callable[[ClassCounts, StatedRequirement], Check], ...]] = {
    "k-anonymity": (k_anonymity,),
    "alpha-deassociation": (alpha_deassociation,),
    "alpha-k-anonymity": (alpha_deassociation, k_anonymity),
    "distinct-l-diversity": (distinct_values,),
    "entropy-l-diversity": (value_entropy,),
    "recursive-l-diversity": (recursive_diversity,),
    "t-closeness": (t_closeness,),
    "identity-k-anonymity": (k_anonymity,),
    "identity-kl-diversity": (k_anonymity, class_values),
    "identity-alpha-beta": (person_share, beta_share),
}


def check_linked_persons(counts: ClassCounts, k: int) -> tuple[int, list[str]]:
    """Find the fewest persons who share the set of classes of one of them, and say how many share theirs with too few.

    A pseudonym links a person's rows, so whoever knows in which classes these are looks for a pseudonym that is in the
    same ones: everybody whose rows are is as good a guess, and nobody else is. This goes beyond the papers.
    """
    if not counts.connection.execute("SELECT 1 FROM duckdb_tables() WHERE table_name = 'sharing'").fetchall():
        _count_sharing(counts)
    fewest, below = counts.first_line(
        f"SELECT coalesce(min(persons), 0), coalesce(sum(persons) FILTER (persons < {k}), 0) FROM sharing"
    )
    who = "1 person stands" if below == 1 else f"{below:,} persons stand"
    return fewest, [f"{who} in a set of classes that fewer than {k} persons share"] if below else []


_LISTED_AT_ONCE = 10_000_000
"""So many classes of persons are in lists at once: DuckDB moves no list that it is making to disk."""


def _count_sharing(counts: ClassCounts) -> None:
    """Make the table ``sharing``: how many persons have each set of classes."""
    lines = int(counts.first_line("SELECT count(*) FROM people")[0])
    parts = 1 + lines // _LISTED_AT_ONCE
    counts.connection.execute("CREATE TABLE sets (classes BIGINT[], persons BIGINT)")
    for part in range(parts):
        counts.connection.execute(
            "INSERT INTO sets SELECT classes, count(*) FROM (SELECT list_sort(list(CAST(id AS BIGINT))) AS classes "
            f"FROM people WHERE hash(who) % {parts} = {part} GROUP BY who) GROUP BY classes"
        )
    counts.connection.execute(
        "CREATE TABLE sharing AS SELECT CAST(sum(persons) AS BIGINT) AS persons FROM sets GROUP BY classes"
    )
    counts.connection.execute("DROP TABLE sets")
