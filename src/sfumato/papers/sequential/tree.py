"""The classification error of a table: a decision tree on its training rows, asked about its testing rows.

Every table gets the same tree: nothing is chosen per method.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.papers.sequential.loss import coded, ends
from sfumato.papers.sequential.sets import CLASS, CONTINUOUS, SPLIT

LEAST = 50
"""The fewest training rows of a leaf; chosen once, since errors of unmodified data came near the paper's with it."""
Features = NDArray[np.float32]


def error(table: Any, columns: Sequence[str]) -> float:
    """The share of testing rows whose class the tree gets wrong, by the labels of some columns as published."""
    from sklearn.tree import DecisionTreeClassifier  # noqa: PLC0415 - heavy, and tables do without it

    features = np.concatenate([feature(table, name) for name in columns], axis=1)
    classes, _ = coded(table[CLASS])
    codes, halves = coded(table[SPLIT])
    train = codes == halves.index("train")
    tree = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=LEAST, random_state=1)
    tree.fit(features[train], classes[train])
    return float((tree.predict(features[~train]) != classes[~train]).mean())


def feature(table: Any, column: str) -> Features:
    """A column as the tree sees it: a range by its middle, else whether it is each of the labels.

    >>> import pyarrow as pa
    >>> table = pa.table({"age": ["20-29", "45"], "sex": ["f", "*"]})
    >>> feature(table, "age").tolist(), feature(table, "sex").tolist()
    ([[24.5], [45.0]], [[0.0, 1.0], [1.0, 0.0]])
    """
    codes, texts = coded(table[column])
    if column not in CONTINUOUS:
        return np.eye(len(texts), dtype=np.float32)[codes]
    spans = [ends(text, CONTINUOUS[column]) for text in texts]
    return np.array([(low + end - 1) / 2 for low, end in spans], dtype=np.float32)[codes][:, None]
