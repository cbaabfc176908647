"""Comments of a policy that stay comments, whatever is said in them."""

from textwrap import wrap

_WIDTH = 112


def comment(text: str, *, indent: str = "") -> list[str]:
    r"""Lines of comment of a readable width; a sign that would end the line, or that TOML forbids, becomes a blank.

    >>> comment("two\nlines")
    ['# two lines']
    """
    plain = "".join(one if one.isprintable() else " " for one in text)
    return [f"# {line}" for line in wrap(plain, _WIDTH, subsequent_indent=indent, break_on_hyphens=False)]
