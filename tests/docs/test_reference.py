"""The reference is what the docstrings say."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_reference_is_up_to_date() -> None:
    """The committed page is the one that `make docs` would write now."""
    spec = importlib.util.spec_from_file_location("make_reference", ROOT / "docs" / "make_reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    written = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    assert module.reference() == written, "run make docs"
