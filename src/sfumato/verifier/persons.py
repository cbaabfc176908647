"""What is asked of the persons of a release, in SQL: of each class, and of all the classes of a person together.

Persons are counted, compared and never named: no pseudonym gets into a sentence.
"""

from sfumato.verifier.check import Check, Rule
from sfumato.verifier.counts import Counts
from sfumato.verifier.sql import exact, times


def person_share(counts: Counts, rule: Rule) -> Check:  # noqa: ARG001 - as every check is asked
    """No person has more than a share a/b of a class's n rows, in whole numbers: r <= a/b n."""
    over, under = exact(rule["alpha"])
    return Check(
        f"SELECT c.id, {times(under, 'max(p.r)')} <= {times(over, 'max(c.n)')} AS ok, max(p.r) / max(c.n) AS figure "
        "FROM classes c JOIN people p ON p.id = c.id GROUP BY c.id",
        {"alpha": "coalesce(max(figure), 0)"},
        f"'has a person with a share of ' || round(figure, 4) || ' of its rows, above {rule['alpha']}'",
    )


def values(counts: Counts, rule: Rule) -> Check:
    """At least l different values, however many persons have them."""
    return Check(
        f"SELECT c.id, count(p.id) AS figure, figure >= {rule['l']} AS ok "
        f"FROM classes c LEFT JOIN {counts.pairs(rule['column'])} p ON p.id = c.id GROUP BY c.id",
        {"l": "coalesce(min(figure), 0)"},
        f"'has ' || figure || ' different sensitive values, fewer than {rule['l']}'",
        "figure",
    )


def linked(counts: Counts, k: int) -> tuple[int, list[str]]:
    """The fewest persons who share the set of classes of one of them, and how many share theirs with fewer than k.

    A pseudonym ties a person's rows together, so whoever knows in which classes these stand looks for a pseudonym
    that stands in the same ones: everybody whose rows do is as good a guess, and nobody else is.
    """
    counts.connection.execute(
        "CREATE TABLE IF NOT EXISTS sharing AS SELECT count(*) AS persons FROM "
        "(SELECT list_sort(list(id)) AS classes FROM people GROUP BY who) GROUP BY classes"
    )
    fewest, below = counts.one(
        f"SELECT coalesce(min(persons), 0), coalesce(sum(persons) FILTER (persons < {k}), 0) FROM sharing"
    )
    who = "1 person stands" if below == 1 else f"{below:,} persons stand"
    return fewest, [f"{who} in a set of classes that fewer than {k} persons share"] if below else []
