"""Encodings of text files: the first byte that does not belong is named, with a way out."""

import codecs
from pathlib import Path

from sfumato.errors import DataError

_CHUNK = 1 << 20


def decoder_of(encoding: str) -> codecs.IncrementalDecoder:
    """A decoder that refuses what is not in the encoding."""
    return codecs.getincrementaldecoder(encoding)("strict")


def is_wide(encoding: str) -> bool:
    """Whether a character takes two bytes or more, so that ASCII bytes mean nothing by themselves.

    >>> is_wide("utf-16"), is_wide("utf-8")
    (True, False)
    """
    return "16" in encoding or "32" in encoding


def not_decodable(path: Path, encoding: str) -> DataError:
    """What to say of a file that is not in its encoding."""
    return first_wrong_byte(path, encoding) or DataError(
        f"{path.name} is not {encoding.upper()}; save it as UTF-8, or say its encoding in [data]"
    )


def first_wrong_byte(path: Path, encoding: str) -> DataError | None:
    """The first byte that is not in the encoding, in words; nothing where all are."""
    line, offset = 1, 0
    decoder = decoder_of(encoding)
    with path.open("rb") as file:
        while True:
            chunk = file.read(_CHUNK)
            try:
                decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as error:
                # what the decoder held back from the chunk before counts into the error's place
                at = offset + len(chunk) - len(error.object) + error.start
                line += error.object[: error.start].count(b"\n")
                return DataError(
                    f"{path.name} is not {encoding.upper()}: byte 0x{error.object[error.start]:02x} at offset "
                    f'{at} (line {line}); save it as UTF-8, or say encoding = "latin-1" or another in [data]'
                )
            except UnicodeError:  # UTF-16 without a byte order mark
                break
            if not chunk:
                break
            line += chunk.count(b"\n")
            offset += len(chunk)
    return None
