"""``sfumato schema``: the policy file's JSON schema, for editors that complete and check it."""


def schema() -> None:
    """Print the JSON schema of the policy file; point your editor's TOML plugin to it."""
    import json

    from sfumato.policy import schema as policy_schema

    print(json.dumps(policy_schema(), indent=2, ensure_ascii=False))  # noqa: T201 - what was asked for
