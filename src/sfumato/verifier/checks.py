"""Each requirement once more, in SQL over the classes of the published table.

Every check gives one line per class with the figure that the requirement is about, and whether it is satisfied.
"""

from collections.abc import Callable
from dataclasses import replace

from sfumato.verifier import distances
from sfumato.verifier.check import Check, Rule
from sfumato.verifier.counts import Counts
from sfumato.verifier.persons import person_share, values
from sfumato.verifier.rules import looked_at, shares
from sfumato.verifier.sql import exact, protected, times

_TOLERANCE = 1e-9


def k_anonymity(counts: Counts, rule: Rule) -> Check:
    """At least k rows, or persons where rows name them."""
    unit = "persons" if counts.promise.individual else "rows"
    return Check(
        f"SELECT id, persons >= {rule['k']} AS ok, persons AS figure FROM persons",
        {"k": "coalesce(min(figure), 0)"},
        f"'has ' || figure || ' {unit}, fewer than {rule['k']}'",
        "figure",
    )


def alpha(counts: Counts, rule: Rule) -> Check:
    """The share of each protected value, in whole numbers: r <= a/b n, or r < a/b n + 1 where refined."""
    over, under = exact(rule["alpha"])
    count, sign = ("(p.r - 1)", "<") if rule.get("refined") else ("p.r", "<=")
    parts = [
        f"SELECT id, n, v, r FROM {counts.pairs(column)} WHERE {protected(rule.get('values'))}"
        for column in looked_at(rule)
    ]
    return Check(
        f"SELECT c.id, coalesce(bool_and({times(under, count)} {sign} {times(over, 'p.n')}), true) AS ok, "
        f"coalesce(max(p.r / p.n), 0) AS figure, arg_max(coalesce(p.v, 'NULL'), p.r) AS worst "
        f"FROM classes c LEFT JOIN ({' UNION ALL '.join(parts)}) p ON p.id = c.id GROUP BY c.id",
        {"alpha": "coalesce(max(figure), 0)"},
        f"'has a share of ' || round(figure, 4) || ' of ' || worst || ', above {rule['alpha']}'",
    )


def beta(counts: Counts, rule: Rule) -> Check:
    """The share of each value, whoever's it is, as alpha bounds that of a protected one."""
    return replace(alpha(counts, shares(rule)), achieved={"beta": "coalesce(max(figure), 0)"})


def distinct(counts: Counts, rule: Rule) -> Check:
    """At least l different values, and as many persons where rows name them."""
    values = f"(SELECT id, count(*) AS values FROM {counts.pairs(rule['column'])} GROUP BY id)"
    return Check(
        f"SELECT p.id, least(v.values, p.persons) AS figure, figure >= {rule['l']} AS ok "
        f"FROM persons p JOIN {values} v ON v.id = p.id",
        {"l": "coalesce(min(figure), 0)"},
        f"'has ' || figure || ' different sensitive values, fewer than {rule['l']}'",
        "figure",
    )


def entropy(counts: Counts, rule: Rule) -> Check:
    """Entropy at least log l; that of so many persons at the most, where rows name them."""
    bits = f"(SELECT id, greatest(-sum(r / n * ln(r / n)), 0) AS bits FROM {counts.pairs(rule['column'])} GROUP BY id)"
    return Check(
        f"SELECT b.id, least(b.bits, ln(p.persons)) >= ln({float(rule['l'])!r}) - {_TOLERANCE} AS ok, "
        f"least(exp(b.bits), p.persons) AS figure FROM {bits} b JOIN persons p ON p.id = b.id",
        {"l": "coalesce(min(figure), 0)"},
        f"'has the entropy of ' || round(figure, 4) || ' equally frequent values, fewer than {rule['l']}'",
        "figure",
    )


def recursive(counts: Counts, rule: Rule) -> Check:
    """The most frequent value less than c times those from the l-th on.

    No c does where there are fewer than l values, or fewer than l persons where rows name them.
    """
    over, under = exact(rule["c"])
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


def t_closeness(counts: Counts, rule: Rule) -> Check:
    """The distance of each class to the whole input table; a class with a value from nowhere has none."""
    return Check(
        f"SELECT c.id, coalesce(figure <= {float(rule['t'])!r} + {_TOLERANCE}, false) AS ok, figure "
        f"FROM classes c LEFT JOIN ({distances.query(counts, rule)}) d ON d.id = c.id",
        {"t": "CASE WHEN count(*) = count(figure) THEN coalesce(max(figure), 0) END"},
        "coalesce('is at a distance of ' || round(figure, 4) || ' from the whole table, above "
        f"{rule['t']}', 'holds a sensitive value that the input did not have')",
        "figure DESC NULLS FIRST",
    )


CHECKS: dict[str, tuple[Callable[[Counts, Rule], Check], ...]] = {
    "k-anonymity": (k_anonymity,),
    "alpha-deassociation": (alpha,),
    "alpha-k-anonymity": (alpha, k_anonymity),
    "distinct-l-diversity": (distinct,),
    "entropy-l-diversity": (entropy,),
    "recursive-l-diversity": (recursive,),
    "t-closeness": (t_closeness,),
    "identity-k-anonymity": (k_anonymity,),
    "identity-kl-diversity": (k_anonymity, values),
    "identity-alpha-beta": (person_share, beta),
}
