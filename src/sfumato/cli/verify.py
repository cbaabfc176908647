"""``sfumato verify``: does a release keep its promise?"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.errors import InputError, quote

if TYPE_CHECKING:
    from sfumato.policy import Policy
    from sfumato.verifier import Verdict


def verify(
    folder: Annotated[Path, typer.Argument(help="The release folder, or its public part.", metavar="DIR")],
    policy: Annotated[Path | None, typer.Option(help="Check against this policy's requirements instead.")] = None,
    previous: Annotated[
        list[str] | None,
        typer.Option(help="The table of an earlier release, if it is not where it was.", metavar="NAME=FILE"),
    ] = None,
    base: Annotated[
        list[Path] | None,
        typer.Option(help="A release that this one adds rows to, if it is not where it was.", metavar="DIR"),
    ] = None,
    part: Annotated[
        list[Path] | None,
        typer.Option(help="Another part, where several parties published one release together.", metavar="DIR"),
    ] = None,
    signed_by: Annotated[
        Path | None,
        typer.Option(help="Refuse what the owner of this public key has not signed.", metavar="PUBLIC"),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(help="How much memory may be used, as 4GB; left out, half of what is free.", metavar="SIZE"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Re-check a published release from its files alone; exit 0 if it holds, 1 if it does not."""
    from sfumato.core.memory import find_memory_allowed, read_size
    from sfumato.verifier import verify as check

    asked, files = None, named_files(previous or ())
    if policy is not None:
        from sfumato.policy import load
        from sfumato.release.verification import asked_by_policy

        rules = load(policy)
        if rules.patterns:
            rules = rules.for_table(published_names(folder), whole=False)
        asked = asked_by_policy(rules)
        check_earlier(folder, rules)
    verdict = check(
        folder,
        asked=asked,
        previous=files,
        signed_by=signed_by,
        bases=base or (),
        parts=part or (),
        memory=find_memory_allowed() // 2 if memory is None else read_size(memory.strip(), "--memory"),
    )
    show_verdict(verdict, as_json=as_json)
    raise typer.Exit(0 if verdict.satisfied else 1)


def show_verdict(verdict: "Verdict", *, as_json: bool) -> None:
    """Print whether a release holds and, if not, every reason."""
    from sfumato.cli.printing import console_of, findings_table, print_json

    if as_json:
        print_json(verdict.as_json())
        return
    console = console_of()
    console.print(findings_table([finding.as_json() for finding in verdict.privacy]))
    for complaint in verdict.complaints:
        console.print(f"✗ {complaint}", style="red", soft_wrap=True)
    if verdict.signature is not None:
        signed = f"signed by the key {verdict.signature.fingerprint}"
        unchecked = "which was not held against a key that you trust; --signed-by does that"
        console.print(f"{signed}, {'as asked' if verdict.signature.trusted else unchecked}", soft_wrap=True)
    if verdict.together is not None:
        united = f"{verdict.together.rows:,} rows in {verdict.together.classes:,} classes"
        console.print(f"together with the releases that it extends: {united}", soft_wrap=True)
    for note in verdict.notes:
        console.print(note, soft_wrap=True)
    word = "holds" if verdict.satisfied else "does not hold"
    if verdict.privacy and verdict.privacy[0].model == "cell-suppression":
        console.print(f"{verdict.rows:,} cells, {verdict.classes:,} of them suppressed: the table {word}")
        return
    console.print(f"{verdict.rows:,} rows in {verdict.classes:,} classes: the release {word}")


def published_names(folder: Path) -> list[str]:
    """The columns that the manifest of a release names, for a policy that has patterns."""
    from sfumato.reading.release_reader import read_manifest

    return [entry["name"] for entry in read_manifest(folder).columns]


def check_earlier(folder: Path, policy: "Policy") -> None:
    """Refuse a policy that joins the release with others than it was made with, or by other rules."""
    from sfumato.verifier.release_files import public_folder, read_json

    manifest = read_json(public_folder(folder) / "manifest.json")
    known = manifest.get("previous", [])
    made = [one for one in known if isinstance(one, dict)] if isinstance(known, list) else []
    rules = [
        [f"{side.reference}={side.value}" for side in pair] for one in policy.previous for pair in one.inconsistent
    ]
    strange = [one.name for one in policy.previous if one.name not in [each.get("name") for each in made]]
    same = sorted(rules) == sorted(pair for each in made for pair in each.get("inconsistent", []))
    if policy.previous and (strange or not same):
        what = f"the earlier release {quote(strange[0])}" if strange else "the rules on what cannot match"
        raise InputError(f"the release was not made with {what} of the policy; make it again by this policy")


def named_files(texts: Sequence[str]) -> dict[str, str]:
    """Files by the name of the earlier release they are of.

    >>> named_files(["tax=data/tax.csv"])
    {'tax': 'data/tax.csv'}
    """
    files: dict[str, str] = {}
    for text in texts:
        name, sign, file = text.partition("=")
        if not (name and sign and file):
            raise InputError(f"--previous {text} does not say which file is whose; write --previous NAME=FILE")
        if name in files:
            raise InputError(f"--previous names the table of {quote(name)} twice; name it once")
        files[name] = file
    return files
