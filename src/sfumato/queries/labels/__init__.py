"""What published labels stand for: the values that a cell may have held, told by the manifest alone."""

from sfumato.queries.labels.leaves import Leaves
from sfumato.queries.labels.meaning import read_labels

__all__ = ["Leaves", "read_labels"]
