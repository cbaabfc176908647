"""A progress bar for work in lines: how many are done, and below how far the current one is."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sfumato.cli.printing import Progress, console_of

Watch = Callable[[int, int, str], Progress | None]


@contextmanager
def line_progress(verb: str, unit: str, *, quiet: bool) -> Iterator[Watch | None]:
    """Show two bars on a terminal, none in a pipe."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.fields[verb]:<12}"), BarColumn(), TextColumn("{task.description}"))
    with Bar(*columns, TimeElapsedColumn(), console=console_of(stderr=True), transient=True) as bar:
        whole, part = bar.add_task("", total=None, verb=verb), bar.add_task("", total=None, verb="")

        def show(done: int, every: int, name: str) -> Progress:
            left = f"{done:,} of {every:,} {unit}, {every - done:,} left"
            bar.update(whole, completed=done, total=every, description=left)
            bar.reset(part, description=name, total=None)
            return lambda steps, all_steps: bar.update(part, completed=steps, total=all_steps)

        yield show
