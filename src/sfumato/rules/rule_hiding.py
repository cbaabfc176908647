"""Hiding sensitive rules: from baskets to baskets in which nobody finds them at the thresholds.

``heuristic`` takes items out of short baskets, ``border`` where the border of the frequent sets can best bear it,
``exact`` solves an integer program. Each starts from the one before it and returns the better of both, so that exact
loses no more than border, and border no more than heuristic. What comes out is counted again by code of the verifier
before anybody gets it: from the written file, where one is written.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from sfumato.core.regular_file import check_new_file
from sfumato.errors import Infeasible, InputError, NotVerified, quote
from sfumato.policy import Policy, load
from sfumato.reading.outside_table import original_read_options
from sfumato.rules.association_rules import MinedRules, QuasiToSensitive, mine_rules
from sfumato.rules.basket_files import (
    BasketTable,
    appearing,
    basket_writer,
    changed_table,
    read_baskets,
)
from sfumato.rules.baskets import Baskets
from sfumato.rules.border_hiding import border_hiding
from sfumato.rules.exact_hiding import ExactHiding, exact_hiding
from sfumato.rules.heuristic_hiding import drop_baskets, heuristic_hiding
from sfumato.rules.hiding_effect import HidingEffect, measure_effect
from sfumato.rules.hiding_problem import ChangingBaskets, CodedRule, HidingProblem, found_rules
from sfumato.rules.mining_thresholds import MiningThresholds
from sfumato.rules.sensitive_rules import (
    SensitiveRule,
    code_rule,
    find_quasi_to_sensitive,
    flagged_rules,
    read_sensitive_rules,
)
from sfumato.table.frames import frame_kind, frame_of_kind
from sfumato.verifier.hidden_rules import (
    CountedRule,
    StatedHiding,
    StatedRule,
    verify_hidden_baskets,
    verify_hidden_rules,
)

METHODS = ("heuristic", "border", "exact")


def mine(
    baskets: Any,
    *,
    min_support: float | str | Fraction,
    min_confidence: float | str | Fraction,
    max_size: int | None = None,
    long: Any = None,
    from_policy: Any = None,
) -> MinedRules:
    """Mine frequent itemsets and association rules from baskets: a file, a frame, or lists of items.

    `min_support` below 1 is a share of the baskets, from 1 on a count. `long` names the columns of transactions and
    items of a table that has a row for each item. With `from_policy`, a policy, rules that lead from quasi-identifiers
    to sensitive values are flagged.

    >>> from sfumato import rules
    >>> found = rules.mine([["bread", "milk"]] * 3 + [["milk"]] * 2, min_support=0.5, min_confidence=0.9)
    >>> [(str(rule), rule.support, rule.confidence) for rule in found.rules]
    [('bread ⇒ milk', 3, 1.0)]
    """
    thresholds = MiningThresholds.read(min_support, min_confidence)
    table, columns = _read(baskets, long, from_policy, max_size)
    return mine_rules(table.baskets, thresholds, max_size=max_size, sensitive_columns=columns)


@dataclass(frozen=True, eq=False)
class HidingResult:
    """Baskets in which no sensitive rule is found, what that cost, and what is proved about it.

    lossless:     whether hiding without loss exists; None where nobody knows
    bound:        no hiding loses fewer sets;  items_bound: of those that lose as few, none changes fewer items
    """

    method: str
    rules: tuple[SensitiveRule, ...]
    effect: HidingEffect
    lossless: bool | None
    bound: int
    items_bound: int | None
    timed_out: bool
    source: BasketTable
    left: ChangingBaskets
    stated: StatedHiding
    frame: Any = None

    @property
    def optimal(self) -> bool:
        """Whether it is proved that no hiding loses fewer sets."""
        return self.effect.lost <= self.bound

    @cached_property
    def baskets(self) -> Baskets:
        """The baskets that are left, sorted."""
        return self.source.baskets.without(self.left.removed, self.left.dropped)[0]

    @property
    def table(self) -> Any:
        """The table that is left, of the kind that came in, NULL where a cell was removed: of a wide table alone."""
        if self.source.form != "wide":
            raise InputError("only a wide table comes back as a table; take baskets, or save them")
        arrow = changed_table(self.source, self.left.removed, self.left.dropped)
        return arrow if self.frame is None else frame_of_kind(arrow, frame_kind(self.frame))

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write the baskets; the rules are counted in the file before it appears, by other code than hid them."""
        target = Path(path)
        check_new_file(target, "--out", force=force)
        write = basket_writer(self.source, target)
        with appearing(target) as stage:
            write(stage, self.left.removed, self.left.dropped)
            self._compare(verify_hidden_rules(stage, self.stated))

    def verify(self) -> None:
        """Count the rules in the baskets that are left, by other code than hid them."""
        self._compare(verify_hidden_baskets(map(frozenset, self.baskets), self.stated))

    def _compare(self, counted: Sequence[CountedRule]) -> None:
        """What the verifier counted has to be what hiding counted on: else one of the two is wrong."""
        for rule, count in zip(self.rules, counted, strict=True):
            antecedent, consequent = code_rule(rule, self.source.baskets)
            right = count.whole == self.left.support(antecedent + consequent)
            if antecedent:
                right = right and count.antecedent == self.left.support(antecedent)
            if not right:
                raise NotVerified("the supports of sensitive rules in the file are not those that were counted on")

    def as_json(self) -> dict[str, Any]:
        """Give all figures as JSON can hold them."""
        effect = asdict(self.effect)
        first = ("hidden", "lost", "ghosts", "items_changed", "transactions_changed", "dissimilarity")
        return (
            {"method": self.method}
            | {key: effect[key] for key in first}
            | {"optimal": self.optimal, "bound": self.bound}
            | {key: value for key, value in effect.items() if key not in first}
            | {"lossless": self.lossless, "items_bound": self.items_bound, "timed_out": self.timed_out}
            | {"transactions": len(self.baskets)}
        )

    def __str__(self) -> str:
        effect = self.effect
        lines = [
            f"{_counted(effect.hidden, 'sensitive rule')} hidden by the {self.method} method"
            + (f", of which {effect.already_hidden:,} were not to be found before" if effect.already_hidden else "")
        ]
        lines.append(
            f"{_counted(effect.lost, 'itemset')} lost that hiding need not lose"
            + (" (proved to be the fewest)" if self.optimal else f" (no hiding loses fewer than {self.bound:,})")
            + f", {_counted(effect.bound_to_go, 'itemset')} bound to go"
        )
        lines.append(f"{_counted(effect.lost_rules, 'rule')} lost, {_counted(effect.ghosts, 'ghost rule')}")
        lines.append(
            f"{_counted(effect.items_changed, 'item')} removed from {_counted(effect.transactions_changed, 'basket')} "
            f"of {len(self.source.baskets):,} (dissimilarity {effect.dissimilarity:.4%})"
        )
        if self.lossless is False:
            lines.append("it is proved that every hiding of these rules loses a set")
        if self.timed_out:
            lines.append("the time limit ended the search before all was proved")
        return "\n".join(lines)


def hide(  # noqa: PLR0913 - the options of the command
    baskets: Any,
    sensitive: Any = None,
    *,
    min_support: float | str | Fraction,
    min_confidence: float | str | Fraction,
    method: str = "border",
    long: Any = None,
    from_policy: Any = None,
    max_size: int | None = None,
    drop: bool = False,
    time_limit: float = 60.0,
) -> HidingResult:
    """Hide sensitive rules: a file of rules, its tables, or a list of them; or those that follow `from_policy`.

    `method` is ``heuristic``, ``border`` or ``exact``. With `drop` the heuristic drops whole baskets in place of items.
    `time_limit`, in seconds, is for the exact method, which says what it could not prove in that time.

    >>> from sfumato import rules
    >>> receipts = [["bread", "milk"]] * 6 + [["bread", "milk", "tea"]] * 2 + [["milk"]] * 2
    >>> result = rules.hide(receipts, [{"if": ["bread"], "then": ["milk"]}], min_support=2, min_confidence=0.75)
    >>> print(result)
    1 sensitive rule hidden by the border method
    0 itemsets lost that hiding need not lose (proved to be the fewest), 0 itemsets bound to go
    1 rule lost, 0 ghost rules
    3 items removed from 3 baskets of 10 (dissimilarity 15.0000%)
    >>> rules.mine(result.baskets, min_support=2, min_confidence=0.75).rules[0].consequent
    ('bread',)
    """
    thresholds = MiningThresholds.read(min_support, min_confidence)
    if method not in METHODS:
        raise InputError(f"method: must be heuristic, border or exact, not {quote(method)}")
    if drop and method != "heuristic":
        raise InputError("only the heuristic method drops baskets; leave --drop out, or choose --method heuristic")
    if not time_limit > 0:
        raise InputError(f"time-limit: must be a number of seconds above 0, not {quote(time_limit)}")
    if (sensitive is None) == (from_policy is None):
        raise InputError("say which rules are sensitive: by a file of rules, or else by a policy")
    wanted = () if sensitive is None else read_sensitive_rules(sensitive)
    source, columns = _read(baskets, long, from_policy, max_size)
    mined = mine_rules(source.baskets, thresholds, max_size=max_size, sensitive_columns=columns)
    if columns is not None:
        wanted = flagged_rules(mined)
    coded = tuple(CodedRule(*code_rule(rule, source.baskets)) for rule in wanted)
    keep = thresholds.least_count(len(source.baskets))
    problem = HidingProblem(
        source.baskets,
        thresholds,
        mined.itemset_table,
        coded,
        keep,
        keep,
        None if columns is None else columns.sensitive,
    )
    if drop:
        left, proof = drop_baskets(problem, counts_empty=source.keeps_empty), None
    else:
        left, proof = _search(problem, source, method, time_limit)
    effect = measure_effect(problem, mined, left, max_size)
    stated = StatedHiding(
        source.form,
        thresholds.support,
        thresholds.confidence,
        tuple(StatedRule(frozenset(rule.antecedent), frozenset(rule.consequent)) for rule in wanted),
        source.columns,
    )
    result = HidingResult(
        method=method,
        rules=wanted,
        effect=effect,
        lossless=True if effect.lost == 0 else None if proof is None else proof.lossless,
        bound=0 if proof is None else proof.bound,
        items_bound=None if proof is None else proof.items_bound,
        timed_out=proof is not None and proof.timed_out,
        source=source,
        left=left,
        stated=stated,
        frame=None if isinstance(baskets, str | Path) or source.form != "wide" else baskets,
    )
    result.verify()
    return result


def _search(
    problem: HidingProblem, source: BasketTable, method: str, time_limit: float
) -> tuple[ChangingBaskets, ExactHiding | None]:
    """Hide by a method; again below a lower support where baskets came out empty and readers may not count them."""
    thresholds, total = problem.thresholds, len(source.baskets)
    if not source.keeps_empty:
        problem = problem.lowered(thresholds.least_count(int((source.baskets.lengths > 0).sum())))
    while True:
        proof = None
        left = heuristic_hiding(problem)
        if method != "heuristic":
            left = min(left, border_hiding(problem), key=lambda one: _cost(problem, one))
        if method == "exact":
            proof = exact_hiding(problem, left, time_limit)
            left = min(left, proof.left, key=lambda one: _cost(problem, one))
        if found_rules(problem, left):
            raise Infeasible("a sensitive rule could not be hidden; take it out of the list")
        least = problem.hide if source.keeps_empty else thresholds.least_count(total - int((left.lengths == 0).sum()))
        if least >= problem.hide:
            return left, proof
        problem = problem.lowered(least)


def _cost(problem: HidingProblem, left: ChangingBaskets) -> tuple[int, int]:
    return len(problem.lost(left.removed)), int(left.removed.sum())


def _read(
    baskets: Any, long: Any, from_policy: Any, max_size: int | None
) -> tuple[BasketTable, QuasiToSensitive | None]:
    """Read baskets and, where there is a policy, which items are of its quasi-identifiers and sensitive columns."""
    if max_size is not None and max_size < 1:
        raise InputError(f"max-size: must be a whole number of at least 1, not {quote(max_size)}")
    if from_policy is None:
        return _checked(read_baskets(baskets, long=long)), None
    policy: Policy = load(from_policy)
    if long is not None:
        raise InputError("a policy is about the columns of a wide table; leave --long or --from-policy out")
    options: Mapping[str, Any] = {
        key: value for key, value in original_read_options(policy, None).items() if key != "query"
    }
    source = _checked(read_baskets(baskets, options=options))
    if source.form != "wide":
        raise InputError("a policy is about the columns of a table; name a CSV or Parquet file with --from-policy")
    return source, find_quasi_to_sensitive(policy, source.columns, source.column_of)


def _checked(source: BasketTable) -> BasketTable:
    if not len(source.baskets):
        raise InputError("there is no basket; there is nothing to mine")
    return source


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
