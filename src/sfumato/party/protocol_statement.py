"""What a protocol says of itself before it runs: against whom it protects, and what is learned beyond the result."""

from dataclasses import dataclass

SEMI_HONEST = "semi-honest"
"""Parties that follow the protocol, and try to learn from all that they see."""
MALICIOUS = "malicious"
"""Parties that send whatever they like."""


@dataclass(frozen=True)
class ProtocolStatement:
    """The adversary, what colluders learn, what is learned beyond the result, and where the protocol comes from.

    Each is a sentence for the holders of the data, printed before a run and kept with its result; `adversary` is
    ``semi-honest`` or ``malicious``.

    >>> one = ProtocolStatement("semi-honest", "They learn that one's sum.", "Nothing.", "A paper, 1999")
    >>> print(one.sentences()[0])
    Adversary: semi-honest parties, who follow the protocol and try to learn from what they see.
    """

    adversary: str
    colluders: str
    learned: str
    paper: str

    def sentences(self) -> list[str]:
        """List what is printed before a run."""
        who = {
            SEMI_HONEST: "semi-honest parties, who follow the protocol and try to learn from what they see",
            MALICIOUS: "malicious parties, who send whatever they like; the run ends where they are noticed",
        }[self.adversary]
        return [
            f"Adversary: {who}.",
            f"If all others collude: {self.colluders}",
            f"Learned beyond the result: {self.learned}",
            f"Protocol: {self.paper}",
        ]
