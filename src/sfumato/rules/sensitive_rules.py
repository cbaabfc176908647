"""Sensitive rules: what nobody is to find by mining. They stand in a file, or follow from a policy.

A file, ``rules.toml``, has a table for each::

    [[sensitive]]
    if = ["bread"]
    then = ["milk"]

    [[sensitive]]
    items = ["beer", "nappies"]

A rule is hidden where its support or its confidence is below the thresholds; `items` are hidden where their support is.
Of a policy, every rule is sensitive that leads from values of quasi-identifiers to values of a sensitive column.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.core.regular_file import read_regular_file
from sfumato.errors import InputError, did_you_mean, quote
from sfumato.policy import Policy
from sfumato.rules.association_rules import MinedRules, QuasiToSensitive
from sfumato.rules.baskets import Baskets

_LARGEST_FILE = 1 << 24
_KEYS = ("if", "then", "items")


@dataclass(frozen=True, order=True)
class SensitiveRule:
    """A rule that is to be hidden; without an antecedent, a set of items.

    >>> print(SensitiveRule(("bread",), ("milk",)), SensitiveRule((), ("beer", "nappies")), sep="; ")
    bread ⇒ milk; beer, nappies
    """

    antecedent: tuple[str, ...]
    consequent: tuple[str, ...]

    def __str__(self) -> str:
        consequent = ", ".join(self.consequent)
        return f"{', '.join(self.antecedent)} ⇒ {consequent}" if self.antecedent else consequent


def read_sensitive_rules(source: Any) -> tuple[SensitiveRule, ...]:
    """Read sensitive rules from a file, from its tables, or from a list of such tables, each rule once.

    >>> read_sensitive_rules([{"if": ["a"], "then": ["b"]}, {"items": [7, 3]}])
    (SensitiveRule(antecedent=('a',), consequent=('b',)), SensitiveRule(antecedent=(), consequent=('3', '7')))
    """
    if isinstance(source, str | Path):
        path = Path(source)
        content = read_regular_file(path, most=_LARGEST_FILE, what="a file of rules")
        try:
            source = tomllib.loads(content.decode("utf-8-sig"))
        except UnicodeDecodeError:
            raise InputError(f"{path.name} is not UTF-8; save it as UTF-8") from None
        except tomllib.TOMLDecodeError as error:
            raise InputError(f"{path.name} is not TOML: {error}; see the guide on rules") from None
    if isinstance(source, Mapping):
        other = [key for key in source if key != "sensitive"]
        if other:
            raise InputError(f"{other[0]}: is not a key of a file of rules; write [[sensitive]] tables")
        source = source.get("sensitive", [])
    if isinstance(source, str | bytes) or not isinstance(source, Sequence):
        raise InputError("sensitive: must be a list of tables; write [[sensitive]] before each rule")
    rules = [
        rule if isinstance(rule, SensitiveRule) else _read_rule(rule, f"sensitive[{place}]")
        for place, rule in enumerate(source)
    ]
    if not rules:
        raise InputError("sensitive: there is no rule to hide; write a [[sensitive]] table for each")
    return tuple(dict.fromkeys(rules))


def _read_rule(table: Any, key: str) -> SensitiveRule:
    if not isinstance(table, Mapping):
        raise InputError(f"{key}: must be a table with if and then, or with items, not {quote(table)}")
    for name in table:
        if name not in _KEYS:
            hint = did_you_mean(str(name), _KEYS) or "; choose if and then, or items"
            raise InputError(f"{key}.{name}: is not a key of a sensitive rule{hint}")
    if "items" in table:
        if len(table) > 1:
            raise InputError(f"{key}: has items beside if or then; write two tables, one for each")
        return SensitiveRule((), _read_items(table["items"], f"{key}.items"))
    if set(table) != {"if", "then"}:
        raise InputError(f"{key}: must have both if and then, or items")
    antecedent = _read_items(table["if"], f"{key}.if")
    consequent = _read_items(table["then"], f"{key}.then")
    both = set(antecedent) & set(consequent)
    if both:
        raise InputError(f"{key}: {quote(min(both))} stands in if and in then; leave it out of one of them")
    return SensitiveRule(antecedent, consequent)


def _read_items(value: Any, key: str) -> tuple[str, ...]:
    if not isinstance(value, list | tuple | set | frozenset) or not value:
        raise InputError(f'{key}: must be a list of items such as ["bread", "milk"], not {quote(value)}')
    for item in value:
        if isinstance(item, bool) or not isinstance(item, str | int):
            raise InputError(f"{key}: an item must be a text or a whole number, not {quote(item)}")
    return tuple(sorted({str(item) for item in value}))


def code_rule(rule: SensitiveRule, baskets: Baskets) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Give a rule's antecedent and consequent as numbers of items, ascending."""
    antecedent = sorted(baskets.find_item(item) for item in rule.antecedent)
    return tuple(antecedent), tuple(sorted(baskets.find_item(item) for item in rule.consequent))


def find_quasi_to_sensitive(policy: Policy, columns: Sequence[str], column_of: Sequence[int]) -> QuasiToSensitive:
    """Tell which items of a table are of quasi-identifiers and which of sensitive columns, by a policy.

    `column_of` has the place of each item's column in `columns`.
    """
    settled = policy.for_table(list(columns), whole=False)
    quasi = {column.name for column in settled.quasi}
    sensitive = {column.name for column in settled.sensitive}
    if not sensitive & set(columns) or not quasi & set(columns):
        what = "sensitive column" if not sensitive & set(columns) else "quasi-identifier"
        raise InputError(f"the table has no {what} of the policy, so that no rule is sensitive by it; name another")
    return QuasiToSensitive(
        frozenset(item for item, column in enumerate(column_of) if columns[column] in quasi),
        frozenset(item for item, column in enumerate(column_of) if columns[column] in sensitive),
    )


def flagged_rules(mined: MinedRules) -> tuple[SensitiveRule, ...]:
    """List the mined rules that lead from quasi-identifiers to sensitive values."""
    return tuple(
        SensitiveRule(tuple(sorted(rule.antecedent)), tuple(sorted(rule.consequent)))
        for rule in mined.rules
        if rule.sensitive
    )
