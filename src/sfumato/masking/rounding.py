"""Rounding: values become the nearest multiple of a step, halves the even one.

Whoever sees a rounded value knows that the true one is within half a step of it, and no more: it is one of so many as
a step has on the grid of the column. The rule is the same for everybody, so that nothing is drawn; who knows a value
exactly from elsewhere knows what it was rounded to.
"""

from dataclasses import replace

from sfumato.errors import DataError, quote
from sfumato.masking.grid_numbers import GridNumbers, clip_steps, round_half_even


def round_numbers(numbers: GridNumbers, step: float) -> GridNumbers:
    """Round values to multiples of a step, in exact decimals.

    >>> import pyarrow as pa
    >>> from sfumato.masking.grid_numbers import read_grid_numbers
    >>> round_numbers(read_grid_numbers(pa.chunked_array([[0.29, 0.15, 0.25]]), "ph", "round"), 0.1).write().to_pylist()
    [0.3, 0.2, 0.2]
    """
    if not len(numbers.steps):
        return numbers
    if numbers.is_date:
        raise DataError(
            f"column {quote(numbers.name)} holds dates, which have no multiples; leave round out, or generalize it as "
            'a quasi-identifier with hierarchy = { dates = ["month"] }'
        )
    numbers, unit = numbers.steps_of(step, "round")
    steps = round_half_even(numbers.steps, unit)
    if numbers.limits is not None:  # the largest multiple that the type can hold, not the largest number
        low, high = numbers.limits
        steps = clip_steps(steps, -(-low // unit) * unit, high // unit * unit)
    # every value is written anew, so that what was a multiple before looks like what became one
    return replace(numbers, steps=steps, spelled=None)
