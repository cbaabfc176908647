"""The contracts for models and algorithms by their former names; they are in `sfumato.testing` now."""

from sfumato.testing import (
    TableCase,
    check_model,
    check_recoder,
    check_release,
    random_case,
    random_classes,
    require_achieved,
    select_classes,
)

Case = TableCase
meeting = require_achieved
subset = select_classes

__all__ = [
    "Case",
    "check_model",
    "check_recoder",
    "check_release",
    "meeting",
    "random_case",
    "random_classes",
    "subset",
]
