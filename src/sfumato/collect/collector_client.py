"""A client of a collector, for programs: it perturbs on this machine, and sends what was drawn.

It speaks what the page of a collector speaks (`sfumato.collect.submission`), with the standard library alone.
"""

import http.client
import json
import os
import ssl
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from sfumato.collect.collection_form import noise_digest
from sfumato.collect.noise import Noise
from sfumato.collect.permanent_response import PermanentResponses
from sfumato.collect.submission import write_submission
from sfumato.errors import InputError, did_you_mean, listing, quote, shorten

_LARGEST_REPLY = 1 << 24


class CollectorClient:
    """Answers a collector's questions from a program; true answers stay on this machine.

    `memory` is the file that remembers what was drawn, for its owner alone: asked again, the client sends the same.

        client = CollectorClient("http://127.0.0.1:8765/", memory="answers.memory")
        client.answer({"age": 34, "use": "notes", "features": ["macros"], "hours": 20})

    Raises:
        InputError: the collector cannot be reached, or refuses; says why.

    >>> CollectorClient("ftp://example.org/", memory="m")
    Traceback (most recent call last):
    sfumato.errors.InputError: 'ftp://example.org/' is no address of a collector; it begins with http:// or https://
    """

    def __init__(
        self, address: str, *, memory: str | os.PathLike[str], tries: int = 5, pause: float = 0.5, timeout: float = 30.0
    ) -> None:
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InputError(f"{quote(address)} is no address of a collector; it begins with http:// or https://")
        self._parts, self._address = parts, address
        self._memory = PermanentResponses(memory)
        self._tries, self._pause, self._timeout = tries, pause, timeout
        self._noise: Noise | None = None

    @property
    def noise(self) -> Noise:
        """The noise that the collector publishes; fetched once."""
        if self._noise is None:
            status, content = self._request("GET", "noise.json")
            if status != http.client.OK:
                raise InputError(f"{quote(self._address)} publishes no noise; is there a collector?")
            try:
                self._noise = Noise.read(json.loads(content))
            except (ValueError, RecursionError, InputError) as error:
                why = str(error) if isinstance(error, InputError) else "it is not JSON"
                raise InputError(f"{quote(self._address)} publishes a noise that cannot be used: {why}") from None
        return self._noise

    def reports(self, answers: Mapping[str, Any]) -> dict[str, Any]:
        """Give what would be sent for these answers: drawn for each one once, and the same from then on."""
        for name in answers:
            if name not in self.noise.columns:
                hint = did_you_mean(name, self.noise.columns) or f"; it asks {listing(self.noise.columns)}"
                raise InputError(f"the collector does not ask {quote(name)}{hint}")
        missing = [name for name in self.noise.columns if name not in answers]
        if missing:
            raise InputError(f"the collector also asks {listing(missing)}; a submission answers every question")
        return {name: self._memory.report(name, one, answers[name]) for name, one in self.noise.columns.items()}

    def answer(self, answers: Mapping[str, Any]) -> dict[str, Any]:
        """Perturb answers, send what was drawn, and give that when it is acknowledged.

        Where no acknowledgement comes, the same is sent again under the same key, by this call or by a later one, so
        that it is kept once.
        """
        reports = self.reports(answers)
        last = self._memory.pending(self._address)
        if last is None or json.loads(last)["reports"] != reports:
            last = write_submission(os.urandom(16).hex(), noise_digest(self.noise), reports)
            self._memory.set_pending(self._address, last)
        status, content = self._request("POST", "answers", last)
        self._memory.set_pending(self._address, None)
        if status != http.client.OK:
            raise InputError(f"the collector refused the answer: {_sentence(content)}")
        return reports

    def _request(self, method: str, path: str, body: bytes | None = None) -> tuple[int, bytes]:
        """Ask until there is an answer; a collector that is away or busy is asked again after a while."""
        for tried in range(1, self._tries + 1):
            try:
                status, content = self._ask(method, path, body)
            except (OSError, http.client.HTTPException) as error:
                why = getattr(error, "strerror", None) or type(error).__name__
            else:
                if status < 500 and status != http.client.TOO_MANY_REQUESTS:
                    return status, content
                why = _sentence(content)
            if tried < self._tries:
                time.sleep(self._pause * 2 ** (tried - 1))
        raise InputError(f"{quote(self._address)} cannot be reached ({why}); try again later, it is sent once")

    def _ask(self, method: str, path: str, body: bytes | None) -> tuple[int, bytes]:
        parts = self._parts
        host = parts.hostname or ""
        if parts.scheme == "https":
            context = ssl.create_default_context()
            connection: http.client.HTTPConnection = http.client.HTTPSConnection(
                host, parts.port, timeout=self._timeout, context=context
            )
        else:
            connection = http.client.HTTPConnection(host, parts.port, timeout=self._timeout)
        try:
            headers = {"Content-Type": "application/json"} if body is not None else {}
            connection.request(method, f"{parts.path.rstrip('/')}/{path}", body, headers)
            reply = connection.getresponse()
            content = reply.read(_LARGEST_REPLY + 1)
        finally:
            connection.close()
        if len(content) > _LARGEST_REPLY:
            raise InputError(f"{quote(self._address)} answers without end; is there a collector?")
        return reply.status, content


def _sentence(content: bytes) -> str:
    """Read the sentence of a refusal."""
    try:
        return shorten(str(json.loads(content)["error"]))
    except (ValueError, TypeError, KeyError):
        return "it does not say why"
