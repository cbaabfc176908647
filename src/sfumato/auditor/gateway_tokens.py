"""Who may ask at a gateway: users with tokens, in a TOML file that is its owner's alone.

    ann = "9vJ2…"                       # a long random text, as secrets.token_urlsafe(32) of Python makes
    bob = "sha256:5e884898da28047151…"  # or the SHA-256 of one, so that the file tells nobody a token

The lines may stand under a heading such as [users]. Of a token only its hash is kept in memory, and a request's is
compared with those of all users, each to its end, so that the time tells nothing of how near it was.
"""

import hashlib
import hmac
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.core.regular_file import read_regular_file
from sfumato.errors import InputError, quote

_LARGEST_FILE = 1 << 20
_HASHED = re.compile(r"sha256:([0-9a-fA-F]{64})")
_LEAST_TOKEN = 8


@dataclass(frozen=True)
class GatewayTokens:
    """The users of a gateway, each with the hash of a token.

    >>> tokens = GatewayTokens.read({"ann": "correct horse", "bob": "battery staple"})
    >>> tokens.find_user("battery staple"), tokens.find_user("battery"), tokens.find_user("")
    ('bob', None, None)
    """

    users: tuple[tuple[str, bytes], ...]

    @classmethod
    def load(cls, path: Path) -> "GatewayTokens":
        """Read a file of tokens; what is wrong is said without a token."""
        content = read_regular_file(path, most=_LARGEST_FILE, what="a file of tokens")
        try:
            return cls.read(tomllib.loads(content.decode("utf-8-sig")))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError):
            raise InputError(
                f'{path.name} is not written as TOML; write a line for each user, such as ann = "a long random text"'
            ) from None

    @classmethod
    def read(cls, document: dict[str, Any]) -> "GatewayTokens":
        """Read what such a file says: a token for each user, at the top or under headings."""
        found: dict[str, bytes] = {}
        parts = [document, *(one for one in document.values() if isinstance(one, dict))]
        for user, token in (pair for part in parts for pair in part.items() if not isinstance(pair[1], dict)):
            if not isinstance(token, str) or len(token) < _LEAST_TOKEN or token != token.strip():
                raise InputError(
                    f"the token of {quote(user)} must be a text of at least {_LEAST_TOKEN} characters; write a long "
                    "random one"
                )
            if user in found:
                raise InputError(f"user {quote(user)} has two tokens; keep one")
            hashed = _HASHED.fullmatch(token)
            found[user] = bytes.fromhex(hashed[1]) if hashed else hashlib.sha256(token.encode()).digest()
        if not found:
            raise InputError('no user has a token; write a line for each, such as ann = "a long random text"')
        if len(set(found.values())) < len(found):
            raise InputError("two users have the same token; give each a random one of their own")
        return cls(tuple(found.items()))

    def find_user(self, token: str) -> str | None:
        """Find whose token this is; it takes as long for every token of its length."""
        given = hashlib.sha256(token.encode("utf-8", "replace")).digest()
        found = None
        for user, known in self.users:
            if hmac.compare_digest(given, known):
                found = user
        return found
