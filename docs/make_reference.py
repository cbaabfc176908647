"""Write docs/reference.md from the docstrings: run it with ``make docs``."""
# ruff: noqa: INP001 - a script, not a package

import inspect
import textwrap
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import sfumato
from sfumato import hierarchy, models
from sfumato.callable_package import ATTACKS, FUNCTIONS, find_function
from sfumato.models.policy_keys import model_keys
from sfumato.recode.metrics import METRICS

HEAD = """\
# Reference

Written by `docs/make_reference.py` from the docstrings; run `make docs` after changing one. The policy file has
[its own guide](guides/policy.md), and so have [the commands](guides/commands.md).
"""
ROOMS = {
    "profile": ("propose", "write", "Proposal"),
    "risk": (
        "risk_by_policy",
        "risk_by_columns",
        "risk_by_release",
        "RiskOptions",
        "adversaries_of",
        "uniqueness",
        "sets_of",
        "nulls_of",
        "coincidence",
    ),
    "attack.link": ("link",),
    "attack.known": ("known",),
    "attack.homogeneity": ("homogeneity", "skewness"),
    "attack.minimality": ("minimality",),
    "attack.intersect": ("intersect",),
    "attack.definetti": ("definetti",),
    "compare": ("Comparison", "dimensions", "chosen_policy"),
}
"""What else is there in Python, by the room to import it from."""
MODEL_CLASSES = [*models.MODELS.values(), *models.LINKAGE.values()]
SPECS = ("File", "Intervals", "Mask", "Dates", "Suppress", "Ranges", "Sets")


def reference() -> str:
    """The whole page."""
    parts = [HEAD, *_names(), *_rooms(), *_models(), *_hierarchies(), *_metrics(), *_commands()]
    return "\n".join(part.rstrip() + "\n" for part in parts)


def _names() -> Iterator[str]:
    yield "## Python: `import sfumato as sf`"
    for name in sorted(sfumato.__all__, key=str.lower):
        thing = getattr(sfumato, name)
        if name == "__version__":
            yield "### `sf.__version__`\n\nThe version, as text."
        elif name == "attack":
            for attack in ATTACKS:
                yield from _thing(f"sf.attack.{attack}", find_function(f"attacks.{attack}"), level=3)
        elif name in {"collect", "party", "rules"}:
            for part in thing.__all__:
                yield from _thing(f"sf.{name}.{part}", getattr(thing, part), level=3)
        elif inspect.ismodule(thing):
            yield from _thing(f"sf.{name}", find_function(FUNCTIONS[thing.__name__]), level=3)
        elif thing not in MODEL_CLASSES:  # those have a chapter of their own
            yield from _thing(f"sf.{name}", thing, level=3)


def _rooms() -> Iterator[str]:
    yield "## Python: what the other commands do"
    for room, names in ROOMS.items():
        module = import_module(f"sfumato.{room}")
        for name in names:
            yield from _thing(f"sfumato.{room}.{name}", getattr(module, name), level=3)


def _models() -> Iterator[str]:
    yield "## Privacy models"
    known: dict[str, Any] = models.MODELS | models.LINKAGE
    for name, model in known.items():
        keys = model_keys(model).items()
        lines = [f"| `{key}` | {each.description} | {'yes' if each.required else 'no'} |" for key, each in keys]
        table = "\n".join(["| key | meaning | needed |", "|---|---|---|", *lines])
        head = f'### `model = "{name}"`\n\nIn Python: `sf.{model.__name__}{_signature(model)}`'
        yield f"{head}\n\n{_doc(model)}\n\nThreat: {model.threat}\n\n{table}"


def _hierarchies() -> Iterator[str]:
    yield "## Hierarchies"
    for name in SPECS:
        yield from _thing(f"sfumato.hierarchy.{name}", getattr(hierarchy, name), level=3, members=False)


def _metrics() -> Iterator[str]:
    lines = [f"| `{name}` | {_summary(metric)} |" for name, metric in METRICS.items()]
    yield "\n".join(["## Metrics", "", "| metric | loss |", "|---|---|", *lines])


def _commands() -> Iterator[str]:
    import typer  # noqa: PLC0415 - as the command line does

    from sfumato.cli.main import build_app  # noqa: PLC0415 - same

    yield "## Commands"
    yield from _group(typer.main.get_command(build_app()), "sfumato")


def _group(group: Any, path: str) -> Iterator[str]:
    """The commands of a group, and those of groups within it."""
    for name, command in group.commands.items():
        lines = [_parameter(parameter) for parameter in command.params]
        table = "\n".join(["| argument or option | meaning | default |", "|---|---|---|", *lines])
        yield f"### `{path} {name}`\n\n{command.help}" + (f"\n\n{table}" if lines else "")
        if hasattr(command, "commands"):
            yield from _group(command, f"{path} {name}")


def _parameter(parameter: Any) -> str:
    shown = parameter.opts[0] if parameter.opts[0].startswith("-") else parameter.metavar or parameter.name.upper()
    default = parameter.default
    known = "" if default is None or default is False or callable(default) or parameter.required else f"`{default}`"
    return f"| `{shown}` | {parameter.help} | {'needed' if parameter.required else known} |"


def _thing(title: str, thing: Any, *, level: int, members: bool = True) -> Iterator[str]:
    """A class with its public members, or a function."""
    yield f"{'#' * level} `{title}{_signature(thing)}`\n\n{_doc(thing)}"
    if members and inspect.isclass(thing) and not issubclass(thing, Exception):
        lines = [f"| `{name}` | {_summary(member)} |" for name, member in _members(thing)]
        if lines:
            yield "\n".join(["| member | meaning |", "|---|---|", *lines])


def _members(thing: type) -> Iterator[tuple[str, Any]]:
    for name, member in vars(thing).items():
        member = getattr(member, "__func__", getattr(member, "func", member))  # noqa: PLW2901 - seen through
        if not name.startswith("_") and (inspect.isfunction(member) or isinstance(member, property)):
            yield (
                f"{name}{_signature(member) if inspect.isfunction(member) and _is_called(thing, name) else ''}",
                member,
            )


def _is_called(thing: type, name: str) -> bool:
    """Whether a member is called, and not read as a cached property is."""
    return inspect.isfunction(inspect.getattr_static(thing, name)) or isinstance(
        inspect.getattr_static(thing, name), classmethod
    )


def _signature(thing: Any) -> str:
    """Names and defaults of the parameters; their types stand in the code."""
    if isinstance(thing, property) or (inspect.isclass(thing) and issubclass(thing, Exception)):
        return ""
    parameters = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for parameter in inspect.signature(thing).parameters.values()
        if parameter.name not in {"self", "cls"}
    ]
    return str(inspect.Signature(parameters))


def _summary(thing: Any) -> str:
    return _doc(thing).partition("\n\n")[0].replace("\n", " ")


def _doc(thing: Any) -> str:
    """The docstring as Markdown: examples fenced, double backticks single."""
    lines = (inspect.getdoc(thing) or "").replace("``", "`").split("\n")
    shown: list[str] = []
    example: list[str] = []
    for line in [*lines, ""]:
        if line.startswith(">>>") or (example and line.strip()):
            example.append(line)
            continue
        if example:
            shown += ["```text", *example, "```"]
            example = []
        shown.append(line)
    return textwrap.dedent("\n".join(shown)).strip()


def main() -> None:
    """Write the page beside this script."""
    Path(__file__).with_name("reference.md").write_text(reference(), encoding="utf-8")


if __name__ == "__main__":
    main()
