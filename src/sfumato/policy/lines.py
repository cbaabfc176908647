"""Where in a TOML file a key stands; tomllib reads values and forgets their places."""

from sfumato.policy.tokens import END, Path, name_of, split, tokens

_AFTER = frozenset({"\n", ",", "]", "}", END})  # what may stand after a value


def locate(text: str, key: str) -> int | None:
    r"""The line on which `key` is written in `text`, a TOML document that tomllib reads.

    A key that is missing is sought where it ought to be: the answer is the line of the closest table
    around it that is written. None where there is no such line, or where it is not certain.

    >>> policy = '[[privacy]]\nmodel = "k-anonymity"\n\n[[privacy]]\nk = 0'
    >>> locate(policy, "privacy[1].k"), locate(policy, "privacy[1].model"), locate(policy, "columns")
    (5, 4, None)
    """
    try:
        path, lines = split(key), _Document(text).lines
    except (ValueError, RecursionError):
        return None
    around = (path[:length] for length in range(len(path), 0, -1))
    return next((lines[outer] for outer in around if outer in lines), None)


class _Document:
    """Reads the keys of a document, in one pass, and the line on which each is first written."""

    def __init__(self, text: str) -> None:
        self.lines: dict[Path, int] = {}
        self._last: dict[Path, int] = {}  # of each [[array]], the index of its latest table
        self._tokens = [*tokens(text), (END, 0)]
        self._at = 0
        self._statements()

    def _statements(self) -> None:
        table: Path = ()
        while self._peek() != END:
            if self._peek() == "[":
                table = self._header()
            elif not self._accept("\n"):
                self._pair(table)

    def _header(self) -> Path:
        line = self._line()
        self._expect("[")
        array = self._accept("[")
        *outer, name = self._names()
        for _ in range(1 + array):
            self._expect("]")
        path = (*self._enter((), outer, line), name)
        if array:
            self._last[path] = self._last.get(path, -1) + 1
        return self._enter(path[:-1], [name], line)

    def _pair(self, table: Path) -> None:
        line = self._line()
        path = self._enter(table, self._names(), line)
        self._expect("=")
        self._value(path)

    def _value(self, path: Path) -> None:
        if self._accept("["):
            self._array(path)
        elif self._accept("{"):
            self._inline(path)
        else:
            self._next()
            while self._peek() not in _AFTER:  # 0.5 and 1979-05-27 07:32 are several tokens
                self._next()

    def _array(self, path: Path) -> None:
        index = 0
        while not self._closes("]"):
            self._mark((*path, index), self._line())
            self._value((*path, index))
            index += 1

    def _inline(self, path: Path) -> None:
        while not self._closes("}"):
            self._pair(path)

    def _closes(self, bracket: str) -> bool:
        while self._accept("\n") or self._accept(","):
            pass
        return self._accept(bracket)

    def _enter(self, path: Path, names: list[str], line: int) -> Path:
        for name in names:
            path = self._mark((*path, name), line)
            if path in self._last:
                path = self._mark((*path, self._last[path]), line)
        return path

    def _mark(self, path: Path, line: int) -> Path:
        self.lines.setdefault(path, line)
        return path

    def _names(self) -> list[str]:
        names = [name_of(self._next())]
        while self._accept("."):
            names.append(name_of(self._next()))
        return names

    def _line(self) -> int:
        return self._tokens[self._at][1]

    def _peek(self) -> str:
        return self._tokens[self._at][0]

    def _next(self) -> str:
        token = self._peek()
        if token == END:
            raise ValueError("the document ends in the middle of a value")
        self._at += 1
        return token

    def _accept(self, token: str) -> bool:
        found = self._peek() == token
        self._at += found
        return found

    def _expect(self, token: str) -> None:
        if not self._accept(token):
            raise ValueError(f"expected {token}")
