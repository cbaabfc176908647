"""``sfumato anonymize``: a policy in, a verified release out."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.errors import InputError, SfumatoError, Stopped

if TYPE_CHECKING:
    from rich.table import Table

    from sfumato.ledger import RecordedRelease
    from sfumato.release import Release


def anonymize(
    policy: Annotated[Path, typer.Argument(help="The policy file (TOML).")],
    data: Annotated[
        str | None, typer.Option(help="The table, or a database URL, in place of the policy's [data] source.")
    ] = None,
    out: Annotated[Path, typer.Option(help="The folder to write.")] = Path("release"),
    algorithm: Annotated[str | None, typer.Option(help="In place of the policy's [algorithm] name.")] = None,
    engine: Annotated[
        str, typer.Option(help="What holds the rows: auto, memory, stream (the disk) or spark.", metavar="NAME")
    ] = "auto",
    memory: Annotated[
        str | None,
        typer.Option(help="As much memory may be used, as in 4GB; half of what is free if left out.", metavar="SIZE"),
    ] = None,
    master: Annotated[str | None, typer.Option(help="The URL of the Spark cluster.", metavar="URL")] = None,
    seed: Annotated[int | None, typer.Option(help="For tests and papers: makes the order of rows repeatable.")] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(help="End the search after so long, with the best release found by then.", metavar="SECONDS"),
    ] = None,
    ledger: Annotated[
        Path | None, typer.Option(help="Reckon with the releases of this ledger, and record it there.")
    ] = None,
    population: Annotated[str | None, typer.Option(help="Whom the release is about, for the ledger.")] = None,
    name: Annotated[str | None, typer.Option(help="Its name in the ledger; that of --out if left out.")] = None,
    sign: Annotated[
        Path | None, typer.Option(help="Sign it with this private key, in place of the policy's.", metavar="KEY")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a release that is there already.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Make a release: the table of the policy, private by its requirements, verified, in a folder."""
    from sfumato.cli.printing import progress
    from sfumato.core.memory import keep_freed_memory, read_size
    from sfumato.engines.choice import EngineOptions, choose_engine
    from sfumato.policy import load
    from sfumato.publish.pseudonyms import check_key_apart
    from sfumato.publish.signing_key import check_signing_key_apart, choose_signing_key
    from sfumato.release import prepare
    from sfumato.release.folder import check_target, scratch_folder
    from sfumato.settled_policy import settle_columns

    keep_freed_memory()
    options = EngineOptions(engine, None if memory is None else read_size(memory, "--memory"), master=master)
    rules = load(policy).replace(source=data, algorithm=algorithm, seed=seed, time_limit=time_limit, sign=sign)
    rules = settle_columns(rules, rules.source.path)
    check_key_apart(rules, out)
    key = choose_signing_key(rules, sign)  # before anything else, so that a bad one costs nobody a search
    check_signing_key_apart(key, rules, out, rules.source.path)
    check_target(out, force=force)  # a key in there has been named by now
    if rules.publish.to is not None:
        from sfumato.publish.database_tables import check_target_tables

        check_target_tables(rules, force=force)
    if ledger is None and (population is not None or name is not None):
        raise InputError("--population and --name are for a ledger; give --ledger, or leave them out")
    if ledger is not None and rules.publish.drawn:
        raise InputError(
            f"--ledger is for rows of people, which can be joined; a release of the form {rules.publish.form} has "
            "none: leave --ledger out"
        )
    chosen = choose_engine(options, rules.source.place, rules) if ledger is None else "memory"
    if ledger is not None and options.name not in {"auto", "memory"}:
        raise InputError(f"--ledger reckons with rows in memory, so --engine {options.name} does not go with it")
    scratch = nullcontext() if chosen == "memory" else scratch_folder(out)
    with progress(rules.recoder, quiet=as_json, limit=rules.search.time_limit) as bar, scratch as folder:
        made: Release | RecordedRelease
        if ledger is None:
            options = replace(options, name=chosen, scratch=folder)
            made = release = prepare(None, rules, progress=bar, engine=options, note=None if bar is None else bar.note)
        else:
            from sfumato.ledger import Ledger, make_recorded_release

            called = out.resolve().name if name is None else name
            books = Ledger.open(ledger)
            made = make_recorded_release(books, rules, population=population, name=called, progress=bar)
            release = made.release
        with tell_what_is_out(release, out):
            made.save(out, force=force, sign=key)
    with tell_what_is_out(release, out):
        show_release(release, out, made.warnings, as_json=as_json)


@contextmanager
def tell_what_is_out(release: "Release", folder: Path) -> Iterator[None]:
    """Where something goes wrong although the release is out, say that it is out, and go on."""
    from sfumato.cli.printing import warn

    try:
        yield
    except BaseException as error:
        if not release.is_out:
            raise
        if not isinstance(error, Exception):  # somebody stopped it
            raise Stopped(
                f"stopped, but the release is out: {folder} is whole and verified; a ledger counts it as published"
            ) from None
        why = str(error) if isinstance(error, SfumatoError) else type(error).__name__
        warn(f"the release is out, but not all could be told of it ({why}); see {folder / 'private' / 'audit.json'}")


def show_release(release: "Release", folder: Path, warnings: list[str], *, as_json: bool) -> None:
    """Print where the release is, what was promised, what holds and what it cost; then warnings and mishaps."""
    from sfumato.cli.printing import console_of, findings_table, print_json, warn

    drawn = release.policy.publish.drawn
    if as_json:
        content = (
            uncertain_json(release, folder)
            if release.policy.publish.form == "uncertain"
            else drawn_json(release, folder)
            if drawn
            else release_json(release, folder)
        )
        print_json(content | {"warnings": [*warnings, *release.mishaps]})
    else:
        console = console_of()
        console.print(findings_table(release.privacy))
        if release.policy.publish.form == "uncertain":
            console.print(_density_table(release))
        else:
            console.print(_likeness_table(release) if drawn else _cost_table(release))
        if release.masked:
            console.print(_masking_table(release))
        if (together := release.verdict.together) is not None:
            before = f"{together.rows - release.rows:,} rows before"
            console.print(f"with the {before}, {together.rows:,} rows in {together.classes:,} classes keep the promise")
        console.print(f"verified by a second implementation from the written files in {folder}", soft_wrap=True)
        if release.signed_by:
            console.print(f"signed by {release.signed_by}", soft_wrap=True)
        console.print(f"publish  {folder / 'public'}", soft_wrap=True)
        for database, table in _database_tables(release):
            console.print(f"made     table {table} in {database}", soft_wrap=True)
        console.print(f"keep     {folder / 'private'} (open {folder / 'private' / 'report.html'})", soft_wrap=True)
    for sentence in (*warnings, *release.mishaps):
        warn(sentence)


def release_json(release: "Release", folder: Path) -> dict[str, Any]:
    """What ``anonymize --json`` holds."""
    from dataclasses import asdict

    from sfumato.publish.manifest import describe_search

    seconds = {key: round(release.seconds.get(key, 0.0), 4) for key in ("read", "search", "recode", "verify", "write")}
    utility = release.utility.as_json()
    first = ("distortion_ratio", "ncp", "discernibility", "average_class_size")
    content = {
        "release": str(folder),
        "rows": release.rows,
        "suppressed": release.suppressed,
        "classes": len(release.recoding.classes),
        "algorithm": release.recoding.algorithm,
        **describe_search(release.recoding),
        "privacy": release.privacy,
        "utility": {key: utility[key] for key in first} | {k: v for k, v in utility.items() if k not in first},
    }
    if release.policy.search.time_limit is not None:
        content["ended_early"] = release.recoding.early
    if release.policy.publish.split:
        content["form"] = release.policy.publish.form
        content["ties"] = {name: asdict(tie) for name, tie in release.ties.items()}
    if (extension := release.publication.extension) is not None:
        content["extends"] = {"releases": len(extension.releases), "promise": extension.promise}
        content["left_out"] = extension.left_out.as_json()
        together = release.verdict.together
        if together is not None:
            found = {"rows": together.rows, "classes": together.classes}
            content["together"] = found | {"privacy": [finding.as_json() for finding in together.privacy]}
    if release.masked:
        content["masked"] = release.masked.as_json()
    content["risk"] = release.risk.as_json()
    if release.persons:
        content["persons"] = release.persons.as_json()
    if release.signed_by:
        content["signed_by"] = release.signed_by
    if release.policy.publish.to is not None:
        content["to"] = [{"database": database, "table": table} for database, table in _database_tables(release)]
    return content | {"seconds": seconds | {"total": round(sum(seconds.values()), 4)}}


def drawn_json(release: Any, folder: Path) -> dict[str, Any]:
    """What ``anonymize --json`` holds of a release of drawn rows, a `DrawnRelease`."""
    publication = release.publication
    sizes, search = publication.condensed.persons, release.policy.search
    seconds = {key: round(release.seconds.get(key, 0.0), 4) for key in ("read", "search", "recode", "verify", "write")}
    content = {
        "release": str(folder),
        "form": release.policy.publish.form,
        "rows": release.rows,
        "suppressed": 0,
        "classes": publication.groups_made,
        "algorithm": "condensation",
        "clustering": search.clustering or "mdav",
        "multiple": search.multiple,
        "neighbours": search.neighbours,
        "noise": search.noise,
        "strata": list(search.strata),
        "privacy": release.privacy,
        "utility": {"average_class_size": float(sizes.mean()), **release.utility.as_json()},
        "risk": None if release.risk is None else {"closest_rows": release.risk.as_json()},
    }
    if release.masked:
        content["masked"] = release.masked.as_json()
    if release.signed_by:
        content["signed_by"] = release.signed_by
    if release.policy.publish.to is not None:
        content["to"] = [{"database": database, "table": table} for database, table in _database_tables(release)]
    return content | {"seconds": seconds | {"total": round(sum(seconds.values()), 4)}}


def uncertain_json(release: Any, folder: Path) -> dict[str, Any]:
    """What ``anonymize --json`` holds of a release of densities, an `UncertainRelease`."""
    assessment, options = release.assessment, release.policy.publish
    seconds = {key: round(release.seconds.get(key, 0.0), 4) for key in ("read", "search", "recode", "verify", "write")}
    content = {
        "release": str(folder),
        "form": options.form,
        "rows": release.rows,
        "suppressed": 0,
        "strata": list(release.policy.search.strata),
        "classes": release.publication.records.count,
        "algorithm": release.policy.recoder,
        "density": options.density,
        "spread": options.spread,
        "privacy": release.privacy,
        "spreads": assessment.spread_figures(),
        "utility": release.utility.as_json() | {"range_counts": assessment.counts.as_json()},
        "risk": {"density_linkage": release.risk.as_json()},
    }
    if release.masked:
        content["masked"] = release.masked.as_json()
    if release.signed_by:
        content["signed_by"] = release.signed_by
    if options.to is not None:
        content["to"] = [{"database": database, "table": table} for database, table in _database_tables(release)]
    return content | {"seconds": seconds | {"total": round(sum(seconds.values()), 4)}}


def _density_table(release: Any) -> "Table":
    """Who is matched with densities, and what they are worth."""
    from rich.table import Table

    table = Table(f"{release.rows:,} records as {release.policy.publish.density} densities", "")
    for name, figure in release.assessment.lines():
        table.add_row(name, figure)
    return table


def _likeness_table(release: Any) -> "Table":
    """How like the original drawn rows are, and each column by itself."""
    from rich.table import Table

    from sfumato.cli.printing import break_name, name_column

    found = release.utility.columns
    table = Table(name_column("how like the original", [f"  {name}" for name in found]), "")
    table.add_row("rows drawn", f"{release.rows:,} for {release.source.rows:,}, from {release.assessment.sizes}")
    for name, figure in release.assessment.likeness_lines():
        table.add_row(name, figure)
    for name, figure in release.utility.column_lines():
        table.add_row(break_name(f"  {name}"), figure)
    return table


def _database_tables(release: "Release") -> list[tuple[str, str]]:
    """List the tables that the release was put into, each with the name of its database."""
    target = release.policy.publish.to
    return [] if target is None else [(target.url.name, target.table_name(file)) for file in release.tables]


def _cost_table(release: "Release") -> "Table":
    from rich.table import Table

    from sfumato.cli.printing import break_name, name_column
    from sfumato.page.wording import plural

    utility = release.utility
    table = Table(name_column("what it cost", [f"  {name}" for name in release.encoded.names]), "")
    table.add_row("rows published", f"{release.rows:,} of {release.publication.input_rows:,}")
    table.add_row("classes", f"{len(release.recoding.classes):,}, {utility.average_class_size:,.1f} rows on average")
    if release.policy.publish.split:  # two tables lose no value, but which values belong together
        table.add_row("quasi-identifiers", "as they were")
        for name, tie in release.ties.items():
            table.add_row(
                break_name(f"  {name}"), f"told right for {tie.kept:.1%} of rows if dealt out at random within classes"
            )
        return table
    table.add_row("information lost (NCP)", f"{utility.ncp:.1%}")
    if utility.aggregation is not None and utility.aggregation.squared_error is not None:
        table.add_row("squared error (SSE / SST)", f"{utility.aggregation.squared_error:.1%}")
    if utility.weighted_ncp is not None:
        table.add_row("information lost (NCP), by weight", f"{utility.weighted_ncp:.1%}")
    table.add_row("distortion ratio", f"{utility.distortion_ratio:.1%}")
    for attribute in release.encoded.quasi:
        loss = utility.attributes[attribute.name]
        labels = f"{plural(loss.labels, 'label')}, {_share(loss.exact_cells / release.rows)} of cells exact"
        if utility.aggregation is not None and attribute.name in utility.aggregation.columns:
            part = utility.aggregation.columns[attribute.name]
            labels = f"{plural(loss.labels, part.aggregate)}, {_share(1 - part.changed)} of cells as they were"
        if release.levels is not None:
            labels = f"level {release.levels[attribute.name]} of {attribute.hierarchy.height}"
        lost = f"{_share(loss.ncp)} lost"
        if loss.labels == 1 and attribute.column.width > 1 and 0 < loss.ncp < 1:
            lost = f"the same for all rows, so that it tells none apart; it covers {_share(loss.ncp)} of the domain"
        table.add_row(break_name(f"  {attribute.name}"), f"{labels}, {lost}")
    return table


def _masking_table(release: "Release") -> "Table":
    """A line for each masked column: how it was masked, and what that changed."""
    from rich.table import Table

    from sfumato.cli.printing import break_name, name_column
    from sfumato.policy.column_masks import describe_masks

    found = release.masked.columns
    table = Table(name_column("masked", list(found)), "how", "what changed")
    for name, column in found.items():
        said = [f"{_share(column.changed)} of cells"]
        if column.numbers is not None:
            before, after = column.numbers.deviation
            said.append(f"standard deviation {before:.4g} → {after:.4g}")
            if column.numbers.correlation is not None:
                said.append(f"correlation {column.numbers.correlation:.3f}")
            said.append(f"KS {column.numbers.distance:.3f}")
        else:
            said.append(f"{_share(column.frequencies)} of frequencies")
        if column.applied.epsilon is not None:
            said.append(f"ε {column.applied.epsilon:.2f}")
        table.add_row(break_name(name), describe_masks(column.applied.masks), ", ".join(said))
    return table


def _share(share: float) -> str:
    """Write a share to a tenth of a per cent; what is less than that, but not nothing, is said to be.

    >>> _share(0.0), _share(0.0004), _share(0.125), _share(1.0)
    ('0.0%', '<0.1%', '12.5%', '100.0%')
    """
    return "<0.1%" if 0 < share < 0.0005 else f"{share:.1%}"
