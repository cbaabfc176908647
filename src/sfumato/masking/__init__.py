"""Masking: the perturbative methods of statistical disclosure control, as options of a policy's columns.

One method per module: top and bottom coding, additive noise, rank swapping, post-randomization and rounding.
`mask_table` applies those of a policy to a table; `measure_masking` says what that changed, and what of the noise can
be taken off again. None of them by itself promises what a privacy model does; `mask_promises` says what each does.
"""

from sfumato.masking.mask_table import AppliedMasks, MaskedTable, MaskingState, mask_table, remask_table
from sfumato.masking.masking_figures import MaskedColumn, MaskingFigures, measure_masking

__all__ = [
    "AppliedMasks",
    "MaskedColumn",
    "MaskedTable",
    "MaskingFigures",
    "MaskingState",
    "mask_table",
    "measure_masking",
    "remask_table",
]
