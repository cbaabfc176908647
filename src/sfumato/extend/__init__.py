"""Extend: further rows under the labels of a release that is out already.

The recoding of a release is saved in its private part. `apply` gives new rows the labels of the published classes that
cover them, drops or refuses what no class takes, and makes a release of them that is verified by itself and together
with the rows before.
"""

from sfumato.extend.apply_recoding import apply
from sfumato.extend.base_release import BaseRelease, open_base

__all__ = ["BaseRelease", "apply", "open_base"]
