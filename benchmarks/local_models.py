"""Local recoding under promises on a sensitive column: `python -m benchmarks.local_models [--repeat N] [--out DIR]`.

ARX's 30,162 Adult rows, one column sensitive and the other eight quasi-identifiers, by `auto`: what each model costs,
in loss and in time, from a cold start to verified files. Beside it what the same policies lost when classes were not
yet chosen by their composition, and ARX's published figures. Verdicts are reported, never asserted. A full run is kept
beside this file; another only where --out says so.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.cases import OCCUPATION
from sfumato.datasets import adult_arx_folder, adult_arx_policy
from sfumato.papers.experiment import describe_run, write_run
from sfumato.papers.markdown_tables import markdown_table, setting_line
from sfumato.papers.plots import Panel, PlotLine, draw_panels
from sfumato.papers.process_measurement import measure_anonymize, median_run
from sfumato.policy.toml_text import write_toml

HERE = Path(__file__).parent
SECONDS = 5.0
"""What a release is to take at most, from a cold start to verified files."""

MARITAL = "marital-status"


@dataclass(frozen=True)
class Promise:
    """A requirement besides k-anonymity: its name in the table, and what it lost before, lost to ARX, and is to lose.

    `goal` is a loss that is to be reached, `theirs` what ARX's local recoding loses, which drops 15 % of the rows.
    """

    name: str
    model: Mapping[str, Any] | None
    before: float | None = None
    goal: float | None = None
    theirs: float | None = None
    k: int = 5
    column: str = OCCUPATION

    def policy(self, folder: Path) -> dict[str, Any]:
        """Write the policy; without a model the column is not published."""
        also = [] if self.model is None else [{**self.model, "column": self.column}]
        policy = adult_arx_policy(folder, k=self.k, also=also, sensitive=self.column)
        return policy | {"algorithm": {"name": "auto"}}


def share(alpha: float) -> dict[str, Any]:
    """No value has more than this share of a class."""
    return {"model": "alpha-deassociation", "alpha": alpha}


def near(t: float) -> dict[str, Any]:
    """Every class is as near the table as this, by equal distance."""
    return {"model": "t-closeness", "t": t, "distance": "emd-equal"}


def distinct(values: int) -> dict[str, Any]:
    """Every class has so many values."""
    return {"model": "distinct-l-diversity", "l": values}


PROMISES = (
    Promise("k-anonymity alone", None, 0.0269),
    Promise("3 distinct", distinct(3), 0.0293, 0.0293),
    Promise("6 distinct", distinct(6), 0.0571, 0.0571),
    Promise("entropy 3", {"model": "entropy-l-diversity", "l": 3}, 0.0385, 0.0385),
    Promise("recursive (3, 3)", {"model": "recursive-l-diversity", "c": 3, "l": 3}, 0.0388, 0.0388),
    Promise("α = 0.35", share(0.35), 0.1208),
    Promise("α = 0.25", share(0.25), 0.3186, 0.11),
    Promise("α = 0.2", share(0.2), 0.5240),
    Promise("t = 0.3", near(0.3), 0.3371),
    Promise("t = 0.2", near(0.2), 0.4984, 0.38, 0.456),
    Promise("t = 0.1", near(0.1), 0.6706),
    Promise("α = 0.25, k = 2", share(0.25), 0.3133, k=2),
    Promise("α = 0.25, k = 20", share(0.25), 0.3355, k=20),
    Promise("t = 0.2, k = 20", near(0.2), 0.4993, k=20),
    Promise("marital status, α = 0.5", share(0.5), 0.4506, column=MARITAL),
    Promise("marital status, t = 0.2", near(0.2), 0.3834, column=MARITAL),
)
_NOTES = """\
ARX's 30,162 Adult rows, k = 5 where nothing else is said, eight quasi-identifiers, `auto`, no row dropped. The models
are on occupation, or where it says so on marital status: α the largest share of a value in a class, t the largest
distance of a class from the whole table by equal distance. Loss is NCP over the quasi-identifiers. *Before*: the loss
of the same policies when covering took groups only as they were. ARX's figure is a published one (ARX 3.9.2, local
recoding, 61 s, 4,424 rows dropped, which count 1). Seconds are those of a cold command, its start and the verifier
included; the median of {repeat}."""


def cases(repeat: int, folder: Path) -> list[dict[str, Any]]:
    """Measure each promise."""
    found = []
    for promise in PROMISES:
        print(f"{promise.name} …", end=" ", flush=True, file=sys.stderr)
        with tempfile.TemporaryDirectory(prefix="sfumato-bench-") as work:
            policy = Path(work, "policy.toml")
            policy.write_text(write_toml(promise.policy(folder)), encoding="utf-8")
            measured = median_run(partial(measure_anonymize, policy, timeout=300), repeat)
        if measured.failed:
            raise RuntimeError(f"{promise.name}: {measured.errors.strip()}")
        summary = json.loads(measured.output)
        figures = {"loss": summary["utility"]["ncp"], "classes": summary["classes"], "dropped": summary["suppressed"]}
        found.append({"case": promise.name, "seconds": measured.seconds, "cpu": measured.cpu} | figures)
        print(f"{figures['loss']:.4f}, {measured.seconds:.2f} s", file=sys.stderr)
    return found


def page(run: Mapping[str, Any], picture: str | None) -> str:
    """Write the page: losses and seconds, beside what they were and ought to be."""
    head = ("promise", "loss", "before", "ARX", "goal", "verdict", "classes", "rows dropped", "s", "cpu s", "≤ 5 s")
    known = {promise.name: promise for promise in PROMISES}
    lines = []
    for figures in run["cases"]:
        promise = known[figures["case"]]
        goal = "" if promise.goal is None else "met" if figures["loss"] <= promise.goal else "missed"
        lines.append(
            [
                promise.name,
                f"{figures['loss']:.4f}",
                *("" if value is None else f"{value:.4g}" for value in (promise.before, promise.theirs, promise.goal)),
                goal,
                f"{figures['classes']:,}",
                f"{figures['dropped']:,}",
                *(f"{figures[key]:.2f}" for key in ("seconds", "cpu")),
                "met" if figures["seconds"] <= SECONDS else "missed",
            ]
        )
    parts = ["# Local recoding under promises on a sensitive column", setting_line(run)]
    parts += [f"![Loss and seconds by promise](figures/{picture})"] if picture else []
    return "\n\n".join([*parts, markdown_table(head, lines), _NOTES.format(**run)]) + "\n"


def plot(run: Mapping[str, Any], folder: Path) -> str:
    """Draw the loss against what is asked of occupation with k = 5, and the seconds."""
    known = {promise.name: promise for promise in PROMISES}
    by_name = {figures["case"]: figures for figures in run["cases"]}

    def line(label: str, parameter: str, figures: Mapping[str, float | None]) -> PlotLine:
        models = {name: known[name].model or {} for name in figures if _plain(known[name])}
        points = sorted(
            (model[parameter], value)
            for name, model in models.items()
            if parameter in model and (value := figures[name]) is not None
        )
        return PlotLine(label, [x for x, _ in points], [y for _, y in points])

    now = {name: figures["loss"] for name, figures in by_name.items()}
    before = {name: known[name].before for name in by_name}
    theirs = {name: known[name].theirs for name in by_name}
    seconds = {name: figures["seconds"] for name, figures in by_name.items()}
    names = (("alpha", "the largest share α"), ("t", "the largest distance t"))
    panels = [
        Panel(
            f"Loss by {words}",
            parameter,
            "NCP",
            [line("now", parameter, now), line("before", parameter, before)]
            + ([line("ARX", parameter, theirs)] if parameter == "t" else []),
        )
        for parameter, words in names
    ]
    panels += [
        Panel(f"Seconds by {words}", parameter, "s", [line("now", parameter, seconds)]) for parameter, words in names
    ]
    return draw_panels(panels, folder / "local-models.svg").name


def _plain(promise: Promise) -> bool:
    return promise.k == 5 and promise.column == OCCUPATION


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure all promises, print the page, and keep it."""
    parser = argparse.ArgumentParser(prog="benchmarks.local_models", description="What promises cost, by model.")
    parser.add_argument("--repeat", type=int, default=1, help="how often each is timed; the median is shown (1)")
    parser.add_argument("--out", type=Path, help="the folder for page, figures and plot (benchmarks)")
    options = parser.parse_args(arguments)
    folder = adult_arx_folder()
    if folder is None:
        raise SystemExit("error: ARX's Adult rows are not at hand; SFUMATO_ADULT says where the data folder is")
    run = describe_run(cases(options.repeat, folder), full=True) | {"source": "arx", "repeat": options.repeat}
    out = options.out or HERE
    print(write_run(out, "local-models", run, page(run, plot(run, out / "figures"))))


if __name__ == "__main__":
    main()
