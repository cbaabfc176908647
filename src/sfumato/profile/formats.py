"""What values look like: e-mail addresses, telephone numbers, numbers of the state, codes of illnesses."""

import re
from collections.abc import Callable
from dataclasses import dataclass

_ENOUGH = 0.8
"""The share of values that has to look like it; the rest may be slips."""


@dataclass(frozen=True)
class Format:
    """A way to write something: its name, the role it suggests, a pattern and, where there is one, a check digit."""

    key: str
    role: str
    said: str
    pattern: str
    check: Callable[[str], bool] | None = None
    person: int = 0

    def fits(self, text: str) -> bool:
        """Whether a value is written so."""
        return bool(re.fullmatch(self.pattern, text)) and (self.check is None or self.check(text))


def looks_like(sample: list[str]) -> Format | None:
    """The format that most values have, the particular ones tried first.

    >>> looks_like(["a@example.org", "b@example.com"]).key, looks_like(["red", "blue"])
    ('email', None)
    >>> looks_like(["GB82 WEST 1234 5698 7654 32"]).key, looks_like(["GB82 WEST 1234 5698 7654 33"])
    ('iban', None)
    """
    trimmed = [text.strip() for text in sample]
    for form in FORMATS:
        if trimmed and sum(form.fits(text) for text in trimmed) >= _ENOUGH * len(trimmed):
            return form
    return None


def is_iban(text: str) -> bool:
    """Whether the two check digits are right (ISO 13616)."""
    compact = text.replace(" ", "")
    digits = "".join(str(int(letter, 36)) for letter in compact[4:] + compact[:4])
    return int(digits) % 97 == 1


def is_luhn(text: str) -> bool:
    """Whether the last digit of a card number is right.

    >>> is_luhn("4111 1111 1111 1111"), is_luhn("4111 1111 1111 1112")
    (True, False)
    """
    digits = [int(one) for one in reversed(text) if one.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[1::2]]
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0


def _digits(least: int) -> Callable[[str], bool]:
    return lambda text: sum(one.isdigit() for one in text) >= least


FORMATS = (
    Format("email", "identifier", "e-mail addresses", r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}", person=4),
    Format("url", "identifier", "web addresses", r"(https?://|www\.)\S+"),
    Format("uuid", "identifier", "UUIDs", r"[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}", person=8),
    Format("ip", "identifier", "IP addresses", r"(\d{1,3}\.){3}\d{1,3}|([0-9a-fA-F]{0,4}:){3,7}[0-9a-fA-F]{0,4}"),
    Format("mac", "identifier", "MAC addresses", r"([0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}"),
    Format("iban", "identifier", "IBANs", r"[A-Z]{2}\d{2}[A-Z0-9 ]{11,35}", check=is_iban, person=6),
    Format("ssn", "identifier", "social security numbers", r"\d{3}-\d{2}-\d{4}|\d{3}-\d{3}-\d{4}", person=2),
    Format("ahv", "identifier", "Swiss social security numbers", r"756[.-]?\d{4}[.-]?\d{4}[.-]?\d{2}", person=2),
    Format(
        "nir",
        "identifier",
        "French social security numbers",
        r"[12] ?\d{2} ?(0[1-9]|1[0-2])( ?[\dAB]{2,3}){2} ?\d{3}( ?\d{2})?",
        check=_digits(12),
        person=2,
    ),
    Format("fiscal", "identifier", "Italian tax codes", r"[A-Z]{6}\d{2}[A-Z]\d{2}[A-Z]\d{3}[A-Z]", person=2),
    Format("dni", "identifier", "Spanish identity numbers", r"\d{8}-?[A-Z]|[XYZ]-?\d{7}-?[A-Z]", person=2),
    Format("cpf", "identifier", "Brazilian tax numbers", r"\d{3}\.\d{3}\.\d{3}-\d{2}", person=2),
    Format("nino", "identifier", "British insurance numbers", r"[A-Z]{2} ?\d{2} ?\d{2} ?\d{2} ?[A-D]", person=2),
    Format("card", "identifier", "card numbers", r"\d{4}([ -]?\d{4}){2}[ -]?\d{1,7}", check=is_luhn, person=6),
    Format(
        "phone",
        "identifier",
        "telephone numbers",
        r"(\+|00|\(|0\d)[\d ()/.-]{6,}\d|\d{3}[ -]\d{3}[ -]\d{2}[ -]?\d{2}",
        check=_digits(8),
        person=5,
    ),
    Format("icd", "sensitive", "codes of illnesses (ICD-10)", r"[A-TV-Z]\d[0-9AB](\.[0-9A-Z]{1,4})?"),
)
"""From the particular to the common: a number of the state comes before a telephone number."""
