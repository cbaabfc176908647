"""From a path, a dict or a policy to a policy; errors in a file say the line."""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path

from sfumato.errors import PolicyError
from sfumato.policy.key import check_key
from sfumato.policy.lines import locate
from sfumato.policy.section import given
from sfumato.policy.value import Policy


def load(policy: str | os.PathLike[str] | Mapping[str, object] | Policy) -> Policy:
    """The policy of a TOML file, of a dict of the same shape, or as it is.

    Paths in a file are relative to the file, those in a dict to where the program runs.

    Raises:
        PolicyError: the file cannot be read, or says something that means nothing; names the key and,
            of a file, the line.

    >>> load({"columns": {"age": {"role": "quasi"}}})
    Traceback (most recent call last):
    sfumato.errors.PolicyError: columns.age.hierarchy: is missing, and a quasi-identifier needs one;
    write hierarchy = "suppress" as the simplest
    """
    match policy:
        case Policy():
            return policy
        case Mapping():
            return Policy.read(policy)
        case str() | os.PathLike():
            return _from_file(Path(policy))
    kind = type(policy).__name__  # not its text: whoever swaps arguments hands in a table of people
    raise PolicyError(f"a policy is the path of a TOML file or a dict of its tables, not {kind}")


def _from_file(path: Path) -> Policy:
    text = _text(path)
    tables = _tables(text, path)
    if not tables:
        raise PolicyError(f"{path} is empty; a policy says at least [columns] and [[privacy]]")
    try:
        policy = Policy.read(tables, folder=path.parent)
        check_key(policy.columns, path, "the policy itself")
    except PolicyError as error:
        raise _placed(error, text, path) from error
    return policy


def _text(path: Path) -> str:
    try:
        text = path.read_bytes().decode("utf-8-sig")  # some editors begin a file with a byte order mark
    except UnicodeDecodeError:
        raise PolicyError(f"{path} is not UTF-8 text; save the policy as a TOML file in UTF-8") from None
    except FileNotFoundError:
        raise PolicyError(f"there is no policy file {path}") from None
    except IsADirectoryError:
        raise PolicyError(f"{path} is a folder; give the policy file in it") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise PolicyError(f"the policy file {given(str(path))} cannot be read: {reason}") from None
    if "\0" in text:
        raise PolicyError(f"{path} is a binary file; a policy is a TOML file in UTF-8")
    return text


def _tables(text: str, path: Path) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except ValueError as error:  # tomllib's own, with the line, or Python's of a number with too many digits
        raise PolicyError(f"{path} is not valid TOML: {error}") from None
    except RecursionError:
        raise PolicyError(f"{path} is nested too deeply to be read") from None


def _placed(error: PolicyError, text: str, path: Path) -> PolicyError:
    """The error with the file in front and, where the key is found in it, the line."""
    line = locate(text, error.key)
    placed = PolicyError(f"{path}, line {line}: {error}" if line else f"{path}: {error}")
    placed.key = error.key
    return placed
