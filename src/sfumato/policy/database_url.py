"""Where a database is: a server by its URL, or a file; and never a password in it.

``postgresql://host/clinic`` and ``mysql://host/clinic`` are servers, ``sqlite:///clinic.db`` and
``duckdb:///clinic.duckdb`` are files. After three slashes a path starts at the folder of the policy, after four at the
root. A policy is copied into the audit, and a command line is seen by everybody on the machine: so a URL that holds a
password is refused, and what is said of it quotes nothing of it.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import SplitResult, unquote, urlsplit

from sfumato.errors import PolicyError, quote

SERVERS = ("postgresql", "mysql")
"""Databases that are asked over a connection."""
DATABASE_FILES = ("sqlite", "duckdb")
"""Databases that are a file."""
STORAGE = ("hdfs", "viewfs", "webhdfs", "s3a", "s3", "abfss", "abfs", "wasbs", "gs", "dbfs", "file")
"""Storage of clusters: files by a URL, which Spark reads where it is set up for it."""

_OTHER_URL = re.compile(r"\s*[A-Za-z][A-Za-z0-9+.-]+:(?:[^/\\]*@|[A-Za-z0-9+.:-]*//|/[^/]*@)", re.ASCII)
"""What looks like the URL of a database and is none of ours: jdbc:postgresql://, or one with a slash too few."""
_ALIASES = {"postgres": "postgresql", "mariadb": "mysql"}
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://", re.ASCII)
_SECRET = re.compile(r"(?i)(?<![a-z])(?:ssl)?(?:password|passwd|pwd)\s*=")
"""A password among the options of a connection, in whatever notation: of a URL, of libpq, of JDBC or of ODBC."""
_APART = {
    "postgresql": "PGPASSWORD, a password file (PGPASSFILE, ~/.pgpass) or a service file (PGSERVICE)",
    "mysql": "MYSQL_PWD, or under [client] in ~/.my.cnf",
}
"""Where the password of each kind of server belongs."""


@dataclass(frozen=True)
class DatabaseUrl:
    """A database, by its kind and by the URL that somebody wrote; `file` is its path where it is a file.

    >>> DatabaseUrl.read("postgresql://ann@db.example/clinic?sslmode=require").name
    'postgresql://db.example/clinic'
    >>> DatabaseUrl.read("sqlite:///clinic.db", folder=Path("data")).file
    PosixPath('data/clinic.db')
    """

    kind: str
    text: str
    file: Path | None = None

    @classmethod
    def read(cls, text: str, *, folder: Path | None = None, key: str = "") -> "DatabaseUrl":
        """Read a URL; what is wrong is said under the policy's `key`, without a word of the URL but its kind.

        >>> DatabaseUrl.read("mysql://ann:secret@host/clinic")
        Traceback (most recent call last):
        sfumato.errors.PolicyError: a password stands in the URL, which others get to see; put it into MYSQL_PWD,
        or under [client] in ~/.my.cnf, and write the URL without it
        """
        match = _SCHEME.match(text)
        scheme = match[1].lower() if match else ""
        kind = _ALIASES.get(scheme, scheme)
        if kind not in {*SERVERS, *DATABASE_FILES, *STORAGE}:
            known = ", ".join(f"{name}://" for name in (*SERVERS, *DATABASE_FILES))
            way = "save the table as a file" if match else "write one"
            raise PolicyError(f"{quote(scheme)} is no database that can be used, as {known} are; {way}", key=key)
        try:
            parts = urlsplit(text)
            secret, port = parts.password is not None, parts.port
        except ValueError:
            raise PolicyError(f"the URL is not written as {kind}://host:port/database; write it so", key=key) from None
        # an @ further on would end a password in which one of /, ? and # stood as it is
        cut = kind in SERVERS and any("@" in part.partition("=")[0] for part in _parts_behind_host(parts))
        if secret or cut or _SECRET.search(unquote(text)):
            apart = f"; put it into {_APART[kind]}, and" if kind in _APART else ", and a file has none;"
            raise PolicyError(
                f"a password stands in the URL, which others get to see{apart} write the URL without it", key=key
            )
        if kind in SERVERS or kind in STORAGE:
            return cls(kind, text)
        path = unquote(parts.path).removeprefix("/")
        if parts.netloc or not path or port or parts.query:
            raise PolicyError(
                f"is not written as {kind}:///path, or {kind}:////path from the root; write it so", key=key
            )
        return cls(kind, text, (folder or Path()) / path)

    def __str__(self) -> str:
        return self.text

    @property
    def is_storage(self) -> bool:
        """Whether it leads to files on the storage of a cluster, and not to a database.

        >>> DatabaseUrl.read("hdfs://name:8020/clinic/*.parquet").is_storage
        True
        """
        return self.kind in STORAGE

    @property
    def name(self) -> str:
        """What a sentence calls it: without the user and the options of the connection."""
        if self.file is not None:
            return self.file.name
        parts = urlsplit(self.text)
        place = parts.netloc.rpartition("@")[2]
        return f"{self.kind}://{place}{parts.path}"


def _parts_behind_host(parts: SplitResult) -> list[str]:
    return [parts.path.replace("=", ""), parts.fragment.replace("=", ""), *parts.query.split("&")]


def is_url(text: str) -> bool:
    """Tell whether a text is written as a URL, and not as a path.

    >>> is_url("sqlite:///a.db"), is_url("data/a.db"), is_url("C:/a.db")
    (True, False, False)
    """
    return _SCHEME.match(text) is not None


TablePlace = Path | DatabaseUrl
"""Where a table is: a file, a folder or a pattern of files; or a server."""


def find_place(place: "str | Path | DatabaseUrl", *, folder: Path | None = None, key: str = "") -> TablePlace:
    """Find out what somebody named: a server is a `DatabaseUrl`, and all else a path, which starts at `folder`.

    >>> find_place("a.csv"), find_place("sqlite:///a.db"), find_place("postgresql://host/clinic").name
    (PosixPath('a.csv'), PosixPath('a.db'), 'postgresql://host/clinic')
    """
    if isinstance(place, DatabaseUrl):
        return place
    if not isinstance(place, str) or not is_url(place):
        path = (folder or Path()) / place
        if (_SECRET.search(str(place)) or _OTHER_URL.match(str(place))) and not os.path.lexists(path):
            raise PolicyError(
                "a connection is named by a URL such as postgresql://host/database, and by nothing else; write one, "
                f"and put the password into {_APART['postgresql']}",
                key=key,
            )
        return path
    url = DatabaseUrl.read(place, folder=folder, key=key)
    return url if url.file is None else url.file
