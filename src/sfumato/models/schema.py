"""The [[privacy]] entries as JSON schema (draft 2020-12), read off the models' fields."""

import inspect
from collections.abc import Mapping
from typing import Any

from sfumato.models.keys import Key, keys_of


def schema(models: Mapping[str, Any]) -> dict[str, object]:
    """One of the models, with its keys and no others."""
    return {"oneOf": [_entry(name, model) for name, model in models.items()]}


def _entry(name: str, model: Any) -> dict[str, object]:
    keys = keys_of(model)
    properties = {key: _property(each) for key, each in keys.items()}
    return {
        "title": name,
        "description": _promise(model),
        "type": "object",
        "properties": {"model": {"const": name}, **properties},
        "required": ["model", *(key for key, each in keys.items() if each.needed)],
        "additionalProperties": False,
        **model.rules,
    }


def _property(key: Key) -> dict[str, object]:
    return {"description": key.meaning, **key.kind.schema}


def _promise(model: Any) -> str:
    """The first line of the docstring, which is the promise, and the threat."""
    promise = (inspect.getdoc(model) or "").partition("\n")[0].replace("`", "")
    return f"{promise} Guards against this: {model.threat}"
