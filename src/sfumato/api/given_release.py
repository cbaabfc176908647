"""A release as Python hands it over: a folder, the table of one, or a `Release` in memory.

What measures a release reads its public files. A release in memory has none yet, so its public part, and nothing else,
is written to a temporary folder while it is looked at: what is found of it is then what would be found of its folder.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sfumato.errors import SfumatoError
from sfumato.policy import Policy, load
from sfumato.policy.database_url import find_place
from sfumato.publish import manifest
from sfumato.publish.drawn_publication import draft_drawn_manifest
from sfumato.publish.table_writer import write_table
from sfumato.reading.release_reader import MANIFEST
from sfumato.release import Release
from sfumato.release.drawn_release import DrawnRelease
from sfumato.release.write_release import write_json

PolicyLike = str | os.PathLike[str] | Mapping[str, Any] | Policy
"""A policy: the path of its file, its tables as a dict, or itself."""

IN_MEMORY = "the release"
"""How sentences name a release that is in no folder."""


@contextmanager
def given_data(given: Any) -> Iterator[Any]:
    """Give what a measurement takes: a path or URL as a place, a frame as it is, a `Release` as a folder of its files.

    Sentences of errors name a release in memory as such, and not the folder that nobody knows.
    """
    if not isinstance(given, Release):
        place = given if isinstance(given, str) else Path(given) if isinstance(given, os.PathLike) else None
        yield given if place is None else find_place(place)
        return
    with TemporaryDirectory(prefix="sfumato-") as folder:
        public = Path(folder) / "public"
        public.mkdir()
        publication = given.publication
        files = {name: write_table(one, public / name, given.policy) for name, one in publication.tables.items()}
        write_json(public / MANIFEST, manifest.draft_manifest(publication, files))
        try:
            yield Path(folder)
        except SfumatoError as error:
            error.args = tuple(str(part).replace(folder, IN_MEMORY) for part in error.args)
            raise


@contextmanager
def given_drawn_files(given: Path | DrawnRelease) -> Iterator[Path]:
    """Do the same with a release of drawn rows: give its folder, or one with its public part while it is looked at."""
    if isinstance(given, Path):
        yield given
        return
    with TemporaryDirectory(prefix="sfumato-") as folder:
        public = Path(folder) / "public"
        public.mkdir()
        tables = given.publication.tables
        files = {name: write_table(one, public / name, given.policy) for name, one in tables.items()}
        write_json(public / MANIFEST, draft_drawn_manifest(given.publication, files))
        yield Path(folder)


@contextmanager
def given_releases(given: list[Any]) -> Iterator[list[Any]]:
    """Do the same with several releases."""
    with ExitStack() as stack:
        yield [stack.enter_context(given_data(one)) for one in given]


def name_of(given: Any, place: int | None = None) -> str:
    """Say how a result names a release: by its path, or as one in memory, by its place where there are several."""
    if isinstance(given, str | os.PathLike):
        return str(given)
    return IN_MEMORY if place is None else f"release {place + 1}"


def policy_for(policy: PolicyLike | None, *given: Any) -> Policy | None:
    """Load a policy, if there is one; without one, that of the first release in memory which is given."""
    if policy is not None:
        return load(policy)
    return next((one.policy for one in given if isinstance(one, Release | DrawnRelease)), None)
