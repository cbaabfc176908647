"""Arrow arrays from numpy arrays and lists of text, and back, straight from memory.

`pyarrow.array` asks pandas whether it knows what it was given and imports it for that, where it is installed; that
alone costs a good part of a second, and nobody here holds a pandas object.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def numbers(values: NDArray[Any]) -> Any:
    """A numpy array of numbers as an Arrow array, without copying it.

    >>> numbers(np.array([3, 1], dtype=np.uint8)).to_pylist()
    [3, 1]
    """
    packed = np.ascontiguousarray(values)
    return pa.Array.from_buffers(pa.from_numpy_dtype(packed.dtype), len(packed), [None, pa.py_buffer(packed)])


def texts(values: Sequence[str | None]) -> Any:
    """Texts, ``None`` for NULL, as an Arrow array.

    >>> texts(["a", None, "bc"]).to_pylist()
    ['a', None, 'bc']
    """
    encoded = [b"" if value is None else value.encode() for value in values]
    offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum([len(text) for text in encoded], out=offsets[1:])
    content = pa.py_buffer(b"".join(encoded))
    buffers = [_valid([value is not None for value in values]), pa.py_buffer(offsets), content]
    return pa.Array.from_buffers(pa.large_string(), len(encoded), buffers).cast(pa.string())


def scalar(value: str) -> Any:
    """One text for Arrow's functions, which look for pandas when they are given Python's own."""
    return texts([value])[0]


def places(values: Sequence[int | None]) -> Any:
    """Whole numbers, ``None`` for NULL, as an Arrow array: where to take from.

    >>> places([2, None]).to_pylist()
    [2, None]
    """
    content = np.array([0 if value is None else value for value in values], dtype=np.int64)
    valid = _valid([value is not None for value in values])
    return pa.Array.from_buffers(pa.int64(), len(content), [valid, pa.py_buffer(content)])


def coded(codes: NDArray[Any], values: Any, kind: Any) -> Any:
    """A dictionary array of these codes and values, of this type; a code whose value is NULL is NULL.

    >>> found = coded(np.array([1, 0]), texts(["a", None]), pa.dictionary(pa.int32(), pa.string()))
    >>> found.to_pylist(), found.dictionary.to_pylist()
    ([None, 'a'], ['a'])
    """
    indices = numbers(codes).cast(kind.index_type)
    if values.null_count:
        place = np.cumsum(to_numpy(values.is_valid().cast(pa.uint8())), dtype=np.int64) - 1
        renumbered = [None if null else int(i) for i, null in zip(place, values.is_null().to_pylist(), strict=True)]
        indices = places(renumbered).take(indices).cast(kind.index_type)
    return pa.DictionaryArray.from_arrays(indices, values.drop_null().cast(kind.value_type), ordered=kind.ordered)


def to_numpy(array: Any) -> NDArray[Any]:
    """The numbers of an Arrow array without NULLs, without copying them."""
    kind = array.type.to_pandas_dtype()
    content = np.frombuffer(array.buffers()[1] or b"", dtype=kind)
    return content[array.offset : array.offset + len(array)]


def _valid(present: Sequence[bool]) -> Any:
    """The bitmap of what is there, or nothing where all is."""
    return None if all(present) else pa.py_buffer(np.packbits(present, bitorder="little"))
