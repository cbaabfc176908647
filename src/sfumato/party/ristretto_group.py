"""The group ristretto255 (RFC 9496), by libsodium: a group of prime order, whose points are 32 bytes each.

Every element has one encoding, and every encoding that is accepted is an element of the group of prime order: there
are no points of small order as on the curve below it. What is left to refuse are strings that encode nothing and the
identity, which tells whoever multiplies it nothing, and all others the result. `receive_points` refuses both.

Points and scalars are bytes. Scalars are below the order of the group, little end first.

>>> secret, point = random_scalar(), hash_to_point("example", b"Anna")
>>> multiply_point(invert_scalar(secret), multiply_point(secret, point)) == point
True
"""

import hashlib
import importlib
from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import InputError
from sfumato.party.party_channel import Channel

POINT_BYTES = 32
SCALAR_BYTES = 32
GROUP_ORDER = 2**252 + 27742317777372353535851937790883648493
IDENTITY = bytes(POINT_BYTES)


def require_group() -> None:
    """Load libsodium, or say that it is missing, before a run begins."""
    _sodium()


@cache
def _sodium() -> Any:
    try:
        return importlib.import_module("rbcl")
    except ImportError:
        raise InputError(
            "this protocol needs the package rbcl, which is not installed; install it with pip install 'sfumato[party]'"
        ) from None


def random_scalar() -> bytes:
    """Draw a scalar other than zero, by the operating system's randomness."""
    return bytes(_sodium().crypto_core_ristretto255_scalar_random())


def invert_scalar(scalar: bytes) -> bytes:
    """Invert a scalar other than zero modulo the order of the group."""
    return bytes(_sodium().crypto_core_ristretto255_scalar_invert(scalar))


def hash_to_point(domain: str, *parts: bytes) -> bytes:
    """Map strings to a point whose discrete logarithm nobody knows: SHA-512, then the one-way map of RFC 9496, 4.3.4.

    The same parts in another domain, or cut elsewhere, give a point that has nothing to do with this one.

    >>> hash_to_point("example", b"ab", b"c") == hash_to_point("example", b"a", b"bc")
    False
    """
    digest = hashlib.sha512(b"sfumato-point\0")
    for part in (domain.encode(), *parts):
        digest.update(len(part).to_bytes(8, "little") + part)
    return map_to_point(digest.digest())


def map_to_point(uniform: bytes) -> bytes:
    """Map 64 uniform bytes to a point (the one-way map of RFC 9496, 4.3.4)."""
    return bytes(_sodium().crypto_core_ristretto255_from_hash(uniform))


def multiply_generator(scalar: bytes) -> bytes:
    """Multiply the generator by a scalar other than zero."""
    return bytes(_sodium().crypto_scalarmult_ristretto255_base(scalar))


def multiply_point(scalar: bytes, point: bytes) -> bytes:
    """Multiply a point by a scalar other than zero; an invalid point, or the identity, is a `ValueError`."""
    try:
        return bytes(_sodium().crypto_scalarmult_ristretto255(scalar, point))
    except RuntimeError:
        raise ValueError("an invalid point or scalar") from None


def add_points(one: bytes, other: bytes) -> bytes:
    """Add two points; a sum that is the identity is a `ValueError`, and so is an invalid point."""
    return _not_identity(_sodium().crypto_core_ristretto255_add(one, other))


def subtract_points(one: bytes, other: bytes) -> bytes:
    """Take a point off another; a difference that is the identity is a `ValueError`, and so is an invalid point."""
    return _not_identity(_sodium().crypto_core_ristretto255_sub(one, other))


def is_point(content: bytes) -> bool:
    """Say whether 32 bytes are the canonical encoding of a point other than the identity.

    >>> is_point(multiply_generator(random_scalar())), is_point(IDENTITY), is_point(bytes([255] * 32))
    (True, False, False)
    """
    return content != IDENTITY and bool(_sodium().crypto_core_ristretto255_is_valid_point(content))


def multiply_points(scalar: bytes, points: Iterable[bytes]) -> NDArray[np.uint8]:
    """Multiply every point by one scalar; uint8[n, 32], in their order."""
    multiply = _sodium().crypto_scalarmult_ristretto255
    try:
        return points_array(multiply(scalar, point) for point in points)
    except RuntimeError:
        raise ValueError("an invalid point or scalar") from None


def points_array(points: Iterable[bytes]) -> NDArray[np.uint8]:
    """Put points one below the other; uint8[n, 32]."""
    return np.frombuffer(b"".join(points), dtype=np.uint8).reshape(-1, POINT_BYTES)


def points_list(array: NDArray[np.uint8]) -> list[bytes]:
    """List the points of uint8[n, 32]."""
    content = array.tobytes()
    return [content[start : start + POINT_BYTES] for start in range(0, len(content), POINT_BYTES)]


def receive_points(channel: Channel, step: str, count: int) -> list[bytes]:
    """Wait for `count` points of a peer; if one of them is no point, or the identity, the run ends."""
    points = points_list(channel.receive_array(step, np.uint8, (count, POINT_BYTES)))
    if not all(map(is_point, points)):
        raise channel.refuse(step, "something that is no point of the group")
    return points


def _not_identity(point: Any) -> bytes:
    # libsodium's wrapper gives zeros, the identity, where it was given no point; neither is any use to a protocol
    if point == IDENTITY:
        raise ValueError("an invalid point, or a sum that is the identity")
    return bytes(point)
