"""Synthetic rows by other programs, for `benchmarks.synthetic`: ``python synthetic_peers.py FOLDER [NAME ...]``.

It reads ``own.parquet`` in the folder, and writes the rows of each program that is installed to ``<name>.parquet``,
beside ``peers.json``, which has the seconds that each took, wall and CPU, and why others are not there. Named programs
are the only ones to run. It imports nothing of sfumato: the Python that it is run by need have no more than these
programs.
"""

import json
import sys
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd


def gaussian_copula(rows: Any, _: Path) -> Any:
    """Draw rows by SDV's Gaussian copula, all columns numeric, all settings as they come."""
    from sdv.metadata import Metadata  # noqa: PLC0415 - where it is installed
    from sdv.single_table import (  # noqa: PLC0415 - same
        GaussianCopulaSynthesizer,
    )

    metadata = Metadata.detect_from_dataframes({"table": rows})
    metadata.update_columns(list(rows.select_dtypes("number")), sdtype="numerical")
    model = GaussianCopulaSynthesizer(metadata)
    try:
        model.fit({"table": rows})
    except Exception:  # noqa: BLE001 - before version 2 it took the frame itself
        model.fit(rows)
    drawn = model.sample(len(rows))
    return drawn["table"] if isinstance(drawn, dict) else drawn


def data_synthesizer(rows: Any, folder: Path) -> Any:
    """Draw rows by DataSynthesizer's Bayesian network of degree 2, without differential privacy."""
    from DataSynthesizer.DataDescriber import (  # noqa: PLC0415 - where it is installed
        DataDescriber,
    )
    from DataSynthesizer.DataGenerator import DataGenerator  # noqa: PLC0415 - same

    table, description, drawn = (str(folder / name) for name in ("ds-in.csv", "ds.json", "ds-out.csv"))
    rows.to_csv(table, index=False)
    numeric = set(rows.select_dtypes("number"))
    describer = DataDescriber(category_threshold=0)
    describer.describe_dataset_in_correlated_attribute_mode(
        table,
        epsilon=0,
        k=2,
        attribute_to_is_categorical={name: name not in numeric for name in rows},
        attribute_to_is_candidate_key=dict.fromkeys(rows, False),
    )
    describer.save_dataset_description_to_file(description)
    generator = DataGenerator()
    generator.generate_dataset_in_correlated_attribute_mode(len(rows), description)
    generator.save_synthetic_data(drawn)
    return pd.read_csv(drawn)


PEERS: dict[str, tuple[str, Callable[[Any, Path], Any]]] = {
    "SDV Gaussian copula": ("sdv", gaussian_copula),
    "DataSynthesizer": ("DataSynthesizer", data_synthesizer),
}


def main() -> None:
    """Let each program, or each that is named, draw as many rows as there are."""
    warnings.simplefilter("ignore")
    folder = Path(sys.argv[1])
    rows = pd.read_parquet(folder / "own.parquet")
    account: dict[str, Any] = {}
    for name in sys.argv[2:] or PEERS:
        package, draw = PEERS[name]
        start, cpu = time.perf_counter(), time.process_time()
        try:
            drawn = draw(rows, folder)
        except Exception as error:  # noqa: BLE001 - whatever another program raises is told
            account[name] = {"missing": f"{type(error).__name__}: {error}"[:200]}
            continue
        seconds = {"seconds": time.perf_counter() - start, "cpu": time.process_time() - cpu}
        account[name] = {"version": version(package), **seconds}
        drawn[list(rows.columns)].to_parquet(folder / f"{name}.parquet", index=False)
    (folder / "peers.json").write_text(json.dumps(account), encoding="utf-8")


if __name__ == "__main__":
    main()
