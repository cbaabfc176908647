"""Top and bottom coding: values beyond a bound become the bound.

The few who are above the top are the ones whom everybody knows: the oldest, the richest. After coding they look alike,
and like those whose value is the bound itself. Nothing is promised of values between the bounds.
"""

from sfumato.masking.grid_numbers import GridNumbers

Bound = float | str
"""A number, or an ISO date."""


def code_extremes(numbers: GridNumbers, *, top: Bound | None = None, bottom: Bound | None = None) -> GridNumbers:
    """Replace values above `top` by it, and values below `bottom` by that, exactly.

    >>> import pyarrow as pa
    >>> from sfumato.masking.grid_numbers import read_grid_numbers
    >>> ages = read_grid_numbers(pa.chunked_array([[93, 14, 40, None]]), "age", "top")
    >>> code_extremes(ages, top=90, bottom=16).write().to_pylist()
    [90, 16, 40, None]
    """
    if not len(numbers.steps):
        return numbers
    if top is not None:
        numbers, most = numbers.steps_of(top, "top")
        numbers = numbers.clip(None, most)
    if bottom is not None:
        numbers, least = numbers.steps_of(bottom, "bottom")
        numbers = numbers.clip(least, None)
    return numbers
