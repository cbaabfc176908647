"""Every way of saying no.

::

    SfumatoError
    ├── InputError          exit 2   something the caller can mend
    │   ├── DataError                a table that cannot be read or used
    │   ├── PolicyError              a policy that does not say what to do
    │   ├── HierarchyError           a hierarchy that is not total, functional and nested
    │   ├── UnreadableFile           a path that leads to no regular file that may be read
    │   └── OutputError              a place that cannot be written
    ├── Infeasible          exit 1   a requirement that no release of this table can meet
    ├── NotVerified         exit 1   files that do not keep their promise
    ├── RunAborted          exit 1   a run among parties that ended without a result
    ├── WorkerLost          exit 2   a process that helped and was killed, or ran out of memory
    └── Stopped             exit 130 somebody stopped it, and what was done so far is kept

A message is one sentence that names the column, the value and the way out. It never quotes a cell
of a column that is not published. Anything else that is raised is a bug of ours.
"""

import errno
import resource
from collections.abc import Iterable, Mapping
from difflib import get_close_matches


class SfumatoError(Exception):
    """Whatever this library raises on purpose."""

    exit_code = 2


class InputError(SfumatoError):
    """The caller can mend it: the data, the policy, a hierarchy or a path."""


class DataError(InputError):
    """A table that cannot be read, or that the policy does not fit."""


class PolicyError(InputError):
    """A policy with a key, a value or a combination that means nothing.

    `key` is the dotted path of the offending key, e.g. ``privacy[0].k``.

    >>> str(PolicyError("must be a whole number of at least 1, not 0", key="privacy[0].k"))
    'privacy[0].k: must be a whole number of at least 1, not 0'
    """

    def __init__(self, message: str, *, key: str = "") -> None:
        self.key = key
        self.message = message
        super().__init__(f"{shorten(key)}: {message}" if key else message)


class HierarchyError(InputError):
    """A hierarchy that is not total, functional and nested."""


class UnreadableFile(InputError):
    """A path that leads to no regular file, to one that may not be read, or to one that is too large for what it is.

    `fault` says which in a word: ``missing``, ``folder``, ``special``, ``forbidden``, ``large`` or ``failed``.
    `reason` is the sentence without the name of the file and without the way out.
    """

    def __init__(self, name: str, fault: str, reason: str, way: str) -> None:
        self.fault = fault
        self.reason = reason
        super().__init__(f"{shorten(name)} {reason}; {way}")


class OutputError(InputError):
    """A folder that exists already, or a place that cannot be written."""


class Infeasible(SfumatoError):
    """No release of this table can meet the requirement; says which, and what could be met.

    `nearest` holds the values, by key of the model, that the table can reach.
    """

    exit_code = 1

    def __init__(self, message: str, *, nearest: Mapping[str, float] | None = None) -> None:
        self.nearest = dict(nearest or {})
        super().__init__(message)


class OutOfTime(Infeasible):
    """A search whose time was over before it had found any release; there may be one."""


class NotVerified(SfumatoError):
    """Written files that do not keep the promise they were written under."""

    exit_code = 1


class RunAborted(SfumatoError):
    """A run among several parties that ended without a result; says which party or message ended it, and what to do.

    `peer` is the party whose message or silence ended it, where it was one.
    """

    exit_code = 1

    def __init__(self, message: str, *, peer: str = "") -> None:
        self.peer = peer
        super().__init__(message)


class WorkerLost(SfumatoError):
    """A process that worked on a part of the table ended before its time, mostly because memory ran out."""


class Stopped(SfumatoError):
    """Somebody stopped a long piece of work; says what was done and where it is kept."""

    exit_code = 130


_LACK_OF_MEMORY = (
    "bad_alloc",
    "bad allocation",
    "out of memory",
    "cannot allocate memory",
    "can't allocate",
    "can't start new thread",
    "could not allocate",
    "failed to allocate",
    "failed to map segment",
    "malloc of size",
    "realloc of size",
    "thread constructor failed",
    "resource temporarily unavailable",
)
"""What libraries say, in small letters, where the system gave them no memory, or no thread for want of it."""


def is_lack_of_memory(error: BaseException) -> bool:
    """Tell whether an error of any library means that there was too little memory, whatever it is called there.

    >>> is_lack_of_memory(MemoryError()), is_lack_of_memory(RuntimeError("can't start new thread"))
    (True, True)
    >>> is_lack_of_memory(OSError(2, "No such file or directory")), is_lack_of_memory(ValueError("bad value"))
    (False, False)
    """
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryException":
        return True
    if isinstance(error, SfumatoError):
        return False
    if isinstance(error, SystemError):  # a library in C that could not be set up, and does not say why
        return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno == errno.ENOMEM
    text, before = str(error).lower(), error.__cause__ or error.__context__
    return any(words in text for words in _LACK_OF_MEMORY) or (before is not None and is_lack_of_memory(before))


_QUOTED, _BEGINNING = 120, 40
"""Characters of a text that is quoted whole, and of the beginning of a longer one."""


def shorten(text: str) -> str:
    """Cut a text for a sentence, with its length: a name, a key or a cell may be as long as a file.

    >>> shorten("age"), len(shorten("a" * 100_000))
    ('age', 62)
    """
    return text if len(text) <= _QUOTED else f"{text[:_BEGINNING]}… ({len(text):,} characters)"


def quote(value: object) -> str:
    """Quote a value for a sentence, a long one by its beginning and its length. Every error that quotes does it so.

    >>> quote("flu"), quote(None), quote([5, 10])
    ("'flu'", 'NULL', '[5, 10]')
    >>> quote("Bern" * 50)
    "'BernBernBernBernBernBernBernBernBernBern…' (200 characters)"
    """
    if value is None:
        return "NULL"
    if not isinstance(value, str):
        return shorten(repr(value))
    return repr(value) if len(value) <= _QUOTED else f"{value[:_BEGINNING] + '…'!r} ({len(value):,} characters)"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint to end a sentence with, or nothing.

    >>> did_you_mean("agee", ["age", "sex"])
    '; did you mean age?'
    >>> did_you_mean("qqq", ["age", "sex"])
    ''
    """
    # Comparing takes time that grows with the product of the lengths, and nobody mistypes a text of pages.
    near = [other for other in known if len(other) <= _QUOTED] if len(name) <= _QUOTED else []
    close = get_close_matches(name, near, n=1)
    return f"; did you mean {close[0]}?" if close else ""


def listing(values: Iterable[object], *, most: int = 20) -> str:
    """Values in a row for a sentence, each quoted, cut after `most` with the number left out.

    >>> listing(["a", None, "c"], most=2)
    "'a', NULL and 1 more"
    """
    every = list(values)
    shown = [quote(value if value is None else str(value)) for value in every[:most]]
    rest = len(every) - most
    return ", ".join(shown) if rest <= 0 else f"{', '.join(shown)} and {rest} more"
