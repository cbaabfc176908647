"""The papers that are there."""

from sfumato.papers.alpha_k import PAPER as ALPHA_K
from sfumato.papers.identity import PAPER as IDENTITY
from sfumato.papers.lossy_join import PAPER as LOSSY_JOIN
from sfumato.papers.paper import Paper
from sfumato.papers.sequential import PAPER as SEQUENTIAL

PAPERS: dict[str, Paper] = {one.name: one for one in (ALPHA_K, LOSSY_JOIN, IDENTITY, SEQUENTIAL)}
