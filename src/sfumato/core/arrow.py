"""Arrow arrays from numpy arrays and lists of text, and back, straight from memory.

`pyarrow.array` asks pandas whether it knows what it was given and imports it for that, where it is installed; that
alone costs a good part of a second, and nobody here holds a pandas object.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def arrow_numbers(values: NDArray[Any]) -> Any:
    """View a numpy array of numbers as an Arrow array, without copying it.

    >>> arrow_numbers(np.array([3, 1], dtype=np.uint8)).to_pylist()
    [3, 1]
    """
    packed = np.ascontiguousarray(values)
    return pa.Array.from_buffers(pa.from_numpy_dtype(packed.dtype), len(packed), [None, pa.py_buffer(packed)])


def arrow_places(values: NDArray[np.int64], there: NDArray[np.bool_]) -> Any:
    """Make an Arrow array of whole numbers that is NULL where nothing is there: where to take from.

    >>> arrow_places(np.array([3, 1]), np.array([True, False])).to_pylist()
    [3, None]
    """
    packed, valid = np.ascontiguousarray(values, dtype=np.int64), pa.py_buffer(np.packbits(there, bitorder="little"))
    return pa.Array.from_buffers(pa.int64(), len(packed), [valid, pa.py_buffer(packed)])


def arrow_flags(values: NDArray[np.bool_]) -> Any:
    """Make an Arrow array of true and false.

    >>> arrow_flags(np.array([True, False])).to_pylist()
    [True, False]
    """
    return pa.Array.from_buffers(pa.bool_(), len(values), [None, pa.py_buffer(np.packbits(values, bitorder="little"))])


def arrow_texts(values: Sequence[str | None]) -> Any:
    """Make an Arrow array of texts, ``None`` for NULL.

    >>> arrow_texts(["a", None, "bc"]).to_pylist()
    ['a', None, 'bc']
    """
    encoded = [b"" if value is None else value.encode() for value in values]
    offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum([len(text) for text in encoded], out=offsets[1:])
    buffers = [_validity_bitmap(values), pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.large_string(), len(encoded), buffers).cast(pa.string())


def arrow_text(value: str) -> Any:
    """Make one text for Arrow's functions, which look for pandas when they are given Python's own."""
    return arrow_texts([value])[0]


def arrow_indices(values: Sequence[int | None]) -> Any:
    """Make an Arrow array of whole numbers, ``None`` for NULL: where to take from.

    >>> arrow_indices([2, None]).to_pylist()
    [2, None]
    """
    content = np.array([0 if value is None else value for value in values], dtype=np.int64)
    return pa.Array.from_buffers(pa.int64(), len(content), [_validity_bitmap(values), pa.py_buffer(content)])


def arrow_dictionary(codes: NDArray[Any], values: Any, kind: Any) -> Any:
    """Make a dictionary array of type `kind` from codes and their values; a code whose value is NULL is NULL.

    >>> found = arrow_dictionary(np.array([1, 0]), arrow_texts(["a", None]), pa.dictionary(pa.int32(), pa.string()))
    >>> found.to_pylist(), found.dictionary.to_pylist()
    ([None, 'a'], ['a'])
    """
    indices = arrow_numbers(codes).cast(kind.index_type)
    if values.null_count:
        place = np.cumsum(numpy_numbers(values.is_valid().cast(pa.uint8())), dtype=np.int64) - 1
        renumbered = [None if null else int(i) for i, null in zip(place, values.is_null().to_pylist(), strict=True)]
        indices = arrow_indices(renumbered).take(indices).cast(kind.index_type)
    return pa.DictionaryArray.from_arrays(indices, values.drop_null().cast(kind.value_type), ordered=kind.ordered)


def arrow_number(value: int, kind: Any = None) -> Any:
    """Make one whole number for Arrow's functions, of 64 bits where no type is said.

    >>> arrow_number(3), arrow_number(3, pa.uint8()).type
    (<pyarrow.Int64Scalar: 3>, DataType(uint8))
    """
    number = arrow_indices([value])[0]
    return number if kind is None else number.cast(kind)


def filled_numbers(array: Any, missing: int) -> NDArray[Any]:
    """View the whole numbers of an Arrow array as 64-bit ones, with another in place of NULL.

    >>> filled_numbers(pa.array([3, None], pa.uint8()), -1)
    array([ 3, -1])
    """
    numbers = array.cast(pa.int64())
    return numpy_numbers(numbers.fill_null(arrow_number(missing)) if numbers.null_count else numbers)


def numpy_numbers(array: Any) -> NDArray[Any]:
    """View the numbers of an Arrow array without NULLs as a numpy array, without copying them.

    >>> numpy_numbers(pa.array([3, 1, 4], pa.int16())[1:])
    array([1, 4], dtype=int16)
    """
    content = np.frombuffer(array.buffers()[1] or b"", dtype=_numpy_type(array.type))
    return content[array.offset : array.offset + len(array)]


def _numpy_type(kind: Any) -> Any:
    """The numpy type of a numeric Arrow type; Arrow's own `to_pandas_dtype` imports pandas in older versions."""
    letter = "f" if pa.types.is_floating(kind) else "u" if pa.types.is_unsigned_integer(kind) else "i"
    return np.dtype(f"{letter}{kind.bit_width // 8}")


def _validity_bitmap(values: Sequence[object | None]) -> Any:
    """The bitmap of what is not NULL, or nothing where nothing is."""
    if None not in values:
        return None
    return pa.py_buffer(np.packbits([value is not None for value in values], bitorder="little"))
