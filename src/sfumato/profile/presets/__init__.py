"""Presets: thresholds and roles after somebody else's rule, one per file."""

from sfumato.errors import InputError, did_you_mean
from sfumato.profile.presets import cms, ema, gdpr, hipaa, statistics_office
from sfumato.profile.presets.base import Preset

__all__ = ["NONE", "PRESETS", "Preset", "preset_of"]

NONE = Preset(name="", title="", source="")
"""No rule but our own habits."""

PRESETS: dict[str, Preset] = {
    module.PRESET.name: module.PRESET for module in (hipaa, ema, cms, statistics_office, gdpr)
}


def preset_of(name: str | None) -> Preset:
    """The preset of that name, or the one that asks for nothing in particular.

    >>> preset_of("emma-0070")
    Traceback (most recent call last):
    sfumato.errors.InputError: there is no preset 'emma-0070'; did you mean ema-0070?
    """
    if name is None:
        return NONE
    if name not in PRESETS:
        hint = did_you_mean(name, PRESETS) or f"; choose {', '.join(PRESETS)}"
        raise InputError(f"there is no preset {name!r}{hint}")
    return PRESETS[name]
