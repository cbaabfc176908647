"""How a CSV is written, as DuckDB has to know it."""

from dataclasses import dataclass

from sfumato.verifier.sql import text

_OPTIONS = (
    "quote = '\"', escape = '\"', allow_quoted_nulls = false, strict_mode = true, null_padding = false, "
    "header = true, auto_detect = false, compression = 'none', hive_partitioning = false"
)


@dataclass(frozen=True)
class Reading:
    """How a CSV is written: ours, where nothing else is said. Without `line_ends` they may be any, but all alike."""

    null: tuple[str, ...] = ("",)
    separator: str = ","
    guarded: bool = True
    encoding: str = "utf-8"
    line_ends: str | None = "\\n"

    @property
    def options(self) -> str:
        """The same for DuckDB."""
        null = ", ".join(text(each) for each in self.null if not {*each} & {self.separator, *'"\r\n'})
        nulls = f"nullstr = [{null}]" if null else "nullstr = chr(0)"
        ends = "" if self.line_ends is None else f", new_line = '{self.line_ends}'"
        return f"{_OPTIONS}, delim = {text(self.separator)}, encoding = {text(self.encoding)}, {nulls}{ends}"
