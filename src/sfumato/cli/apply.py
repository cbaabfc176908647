"""``sfumato apply``: further rows under the labels of a release."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.errors import InputError

if TYPE_CHECKING:
    from sfumato.ledger import RecordedRelease


def apply(
    release: Annotated[Path, typer.Argument(help="The release folder, with its private part.", metavar="RELEASE")],
    data: Annotated[str, typer.Option(help="The table of further rows, with the same columns: a file or a URL.")],
    out: Annotated[Path, typer.Option(help="The folder to write.")],
    policy: Annotated[
        Path | None, typer.Option(help="The policy where it is now: for [apply], [data] and files that have moved.")
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
    """Publish further rows under the labels of a release, verified by themselves and together with the rows before."""
    from sfumato.cli.anonymize import show_release, tell_what_is_out
    from sfumato.extend import open_base
    from sfumato.extend.apply_recoding import publish_further
    from sfumato.policy.database_url import find_place
    from sfumato.publish.signing_key import check_signing_key_apart, choose_signing_key
    from sfumato.release import Release
    from sfumato.release.folder import check_target

    if ledger is None and (population is not None or name is not None):
        raise InputError("--population and --name are for a ledger; give --ledger, or leave them out")
    if out.resolve() == release.resolve():
        raise InputError("--out is the release itself, whose rows stay published; choose another --out")
    base = open_base(release, policy)
    key = choose_signing_key(base.policy, sign)
    place = find_place(data)
    check_signing_key_apart(key, base.policy, out, place if isinstance(place, Path) else None)
    check_target(out, force=force)
    made: Release | RecordedRelease
    if ledger is None:
        made = published = Release(publish_further(base, data))
    else:
        from sfumato.ledger import Ledger, make_recorded_extension

        called = out.resolve().name if name is None else name
        made = make_recorded_extension(Ledger.open(ledger), base, data, population=population, name=called)
        published = made.release
    with tell_what_is_out(published, out):
        made.save(out, force=force, sign=key)
    with tell_what_is_out(published, out):
        show_release(published, out, made.warnings, as_json=as_json)
