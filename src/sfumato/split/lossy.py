"""Publication by lossy join: the classes of a recoding, with the values of its rows as they were.

The paper's four steps (Wong, Liu, Yin, Huang, Fu and Pei, section 6): recode, number the classes, and project the rows
with their class number onto the quasi-identifiers and onto the sensitive columns. The labels of the recoding are not
published; they decided who stands together, which is all that is kept of them.
"""

from dataclasses import replace

from sfumato.encode import EncodedTable
from sfumato.recode.plan import Recoding, labels_at


def lossy(encoded: EncodedTable, recoding: Recoding) -> Recoding:
    """The same classes, published as two tables: exact values, and the class of each row."""
    exact = {attribute.name: labels_at(attribute, 0) for attribute in encoded.quasi}
    return replace(recoding, labels=exact, group=recoding.class_of)
