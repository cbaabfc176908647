"""Libraries that only some need: imported when a table asks for them, with a sentence where they are missing."""

import importlib
from typing import Any

from sfumato.errors import InputError


def import_library(module: str, package: str, extra: str, why: str) -> Any:
    """Import a module of a package that one of our extras brings; say how to install it where it is missing.

    >>> import_library("no_such_module", "no-such-package", "excel", "a.xlsx is a workbook")
    Traceback (most recent call last):
    sfumato.errors.InputError: a.xlsx is a workbook, and the package no-such-package that reads it is not installed;
    install it with pip install 'sfumato[excel]'
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        raise InputError(
            f"{why}, and the package {package} that reads it is not installed; "
            f"install it with pip install 'sfumato[{extra}]'"
        ) from None
