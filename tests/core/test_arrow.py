"""Arrow arrays straight from memory."""

import subprocess
import sys
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.arrow import arrow_indices, arrow_numbers, arrow_texts, numpy_numbers
from sfumato.datasets import hospital


@given(st.lists(st.none() | st.text(), max_size=20))
def test_texts_are_what_pyarrow_makes_of_them(values: list[str | None]) -> None:
    """Any list of texts and NULLs becomes the array that pyarrow itself would make."""
    encodable = [None if value is None else value.encode(errors="replace").decode() for value in values]
    assert arrow_texts(encodable).equals(pa.array(encodable, pa.string()))


@given(st.lists(st.none() | st.integers(0, 2**40), max_size=20))
def test_places_are_what_pyarrow_makes_of_them(values: list[int | None]) -> None:
    """Any list of whole numbers and NULLs becomes the array that pyarrow itself would make."""
    assert arrow_indices(values).equals(pa.array(values, pa.int64()))


def test_numbers_go_there_and_back() -> None:
    """Codes of every width survive, slices included."""
    for kind in (np.uint8, np.uint16, np.uint32, np.int64):
        codes = np.arange(10, dtype=kind)
        assert arrow_numbers(codes[::2]).to_pylist() == [0, 2, 4, 6, 8]
        assert numpy_numbers(arrow_numbers(codes).slice(3, 4)).tolist() == [3, 4, 5, 6]


@pytest.mark.slow
@pytest.mark.skipif(int(duckdb.__version__.split(".")[0]) < 2, reason="DuckDB before 2.0 imports pandas by itself")
def test_a_release_does_not_import_pandas(tmp_path: Path) -> None:
    """Whoever hands in no pandas frame does not wait for pandas, though it is installed, whoever has the rows."""
    arrow_csv.write_csv(hospital(300), tmp_path / "raw.csv")
    program = (
        "import sys, sfumato as sf\n"
        "from sfumato.datasets import hospital_policy\n"
        "for engine in ('memory', 'stream'):\n"
        f"    release = sf.anonymize({str(tmp_path / 'raw.csv')!r}, hospital_policy(), engine=engine)\n"
        f"    release.save({str(tmp_path)!r} + '/' + engine)\n"
        "assert not {'pandas', 'polars', 'scipy', 'matplotlib'} & sys.modules.keys()\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
