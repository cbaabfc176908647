"""Parties as processes: they reach one result, or all end in time, with one sentence and nothing written."""

import hashlib
import json
import os
import pickle
import signal
import socket
import ssl
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sfumato._version import __version__
from sfumato.party.consortium import read_consortium
from sfumato.party.wire_frame import FrameKind, read_header, step_digest, write_header

pytestmark = pytest.mark.slow

Make = Callable[..., Any]


def test_three_parties_add_up_their_columns(parties: Make) -> None:
    """Three processes over TLS get the sum of their files, and say first what is protected."""
    made = parties("abc")
    ended = made.run()
    assert {party: one.code for party, one in ended.items()} == {"a": 0, "b": 0, "c": 0}, ended
    assert [made.result(party) for party in "abc"] == [{"beds": 66}] * 3
    assert "Adversary: semi-honest" in ended["b"].err
    assert (made.folder / "a.json").stat().st_mode & 0o777 == 0o600


# Deaths.


@pytest.mark.parametrize("victim", ["a", "b"])
def test_whenever_a_party_is_killed_all_others_end_alike(parties: Make, victim: str) -> None:
    """A party dies at each use of a channel in turn: until all are done nobody writes, and then everybody does."""
    before_end = 0
    for use in range(1, 100):
        made = parties("abc")
        for party in "abc":
            made.start(party, at=(use, "SIGKILL") if party == victim else None)
        survivors = [party for party in "abc" if party != victim]
        if made.wait(victim).code == 0:
            break
        assert not (made.folder / f"{victim}.json").exists()
        codes = {made.wait(party).code for party in survivors}
        assert codes in ({0}, {1}), f"survivors disagree at use {use}"
        if codes == {1}:
            before_end = use
            assert any(f"'{victim}'" in made.check_failed(*survivors)[party] for party in survivors)
        else:
            assert [made.result(party) for party in survivors] == [{"beds": 66}] * 2
    assert use > 20  # the run has so many
    assert before_end >= use - 7  # only the words that all are done are left


TASKS = {
    "union": 'kind = "union"\ncolumn = "ward"',
    "union-size": 'kind = "union-size"\ncolumn = "ward"',
    "intersection": 'kind = "intersection"\ncolumn = "ward"',
    "intersection by KKRT": 'kind = "intersection"\ncolumn = "ward"\nmethod = "kkrt"',
    "intersection-size": 'kind = "intersection-size"\ncolumn = "ward"\nby = "ward"\nmin_count = 2',
    "scalar-product": 'kind = "scalar-product"\ncolumn = "beds"\nbits = 6',
    "compare": 'kind = "compare"\ncolumn = "beds"\nbits = 6',
    "distance": 'kind = "distance"\ncolumn = "beds"\nbits = 6',
    "contingency": 'kind = "contingency"\ncolumns = ["ward"]\nmin_count = 2',
    "rules": 'kind = "rules"\nmin_support = 1\nmin_confidence = 0.5',
    "naive-bayes": 'kind = "naive-bayes"\nclass = "ward"\ncolumns = ["beds"]\nbounds = { beds = [0, 99] }',
    "k-means": 'kind = "k-means"\nk = 2\ncolumns = ["beds"]\nbounds = { beds = [0, 99] }\niterations = 2',
    "sum by key": 'kind = "sum"\nkey = "ward"\nmin_count = 2',
}
_LINKED = 'partition = "vertical"\nlink_on = "id"\nmethod = "dh"\n'
LINKED = {
    "rules": 'kind = "rules"\nmin_support = 1\nmin_confidence = 0.5\nmax_size = 2',
    "naive-bayes": 'kind = "naive-bayes"\nclass = "ward"\ncolumns = { a = ["ward"], b = ["beds"] }\n'
    "bounds = { beds = [0, 99] }",
    "k-means": 'kind = "k-means"\nk = 2\ncolumns = { a = ["age"], b = ["beds"] }\n'
    "bounds = { age = [0, 99], beds = [0, 99] }\niterations = 1",
}
AMONG_THREE = ("union", "union-size", "intersection-size", "contingency")
"""Tasks in which a third party has steps of its own."""


def _die_at_every_step(parties: Make, names: str, victim: str, task: str, tables: dict[str, str] | None = None) -> None:
    """Run a task again and again, its victim dying at one step after the other, until it survives.

    Nobody else writes before the last step, which is the word that all are done; at that one all others do alike.
    """
    wrote: list[int] = []
    for step in range(1, 60):
        made = parties(names, task=task)
        for name, table in (tables or {}).items():
            (made.folder / f"{name}.csv").write_text(table)
        made.start(victim, at_step=step)
        survivors = [name for name in names if name != victim]
        for name in survivors:
            made.start(name)
        ended = made.wait(victim)
        if ended.code >= 0:
            assert ended.code == 0, ended.err
            break
        assert not (made.folder / f"{victim}.json").exists()
        codes = {made.wait(name).code for name in survivors}
        if codes == {0}:
            wrote.append(step)
        else:
            made.check_failed(*survivors)
    assert step > 3
    assert wrote in ([], [step - 1])


@pytest.mark.parametrize("victim", ["a", "b"])
@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_a_party_dies_at_every_step_of_every_task(parties: Make, task: str, victim: str) -> None:
    """A party dies before each of its steps in turn: the other ends in time, and writes nothing until both are done."""
    _die_at_every_step(parties, "ab", victim, task)


@pytest.mark.parametrize(("task", "victim"), [("rules", "a"), ("naive-bayes", "b"), ("k-means", "b")])
def test_a_party_dies_at_every_step_over_columns(parties: Make, task: str, victim: str) -> None:
    """The same where the parties have different columns of people whom they link first."""
    tables = {"a": "id,ward,age\n1,north,30\n2,south,40\n3,south,50\n", "b": "id,beds\n3,5\n1,7\n4,9\n"}
    if task == "rules":
        tables = {"a": "id,ward\n1,north\n2,south\n3,south\n", "b": "id,beds\n3,5\n1,7\n4,9\n"}
    _die_at_every_step(parties, "ab", victim, LINKED[task] + "\n" + _LINKED, tables)


@pytest.mark.parametrize("task", AMONG_THREE)
def test_the_third_of_three_dies_at_every_step(parties: Make, task: str) -> None:
    """The same of a third party, which is in the middle of a ring, or gives away shares of what it has."""
    _die_at_every_step(parties, "abc", "c", TASKS[task])


POLICY = """
[columns]
ward = { role = "quasi", hierarchy = "suppress" }
beds = { role = "plain" }
[[privacy]]
model = "k-anonymity"
k = 2
[algorithm]
name = "optimal"
"""


def test_a_party_dies_at_every_step_of_publishing_together(parties: Make) -> None:
    """One of three that publish together dies before each of its steps: no other has a folder until all are done."""
    task = 'kind = "anonymize"\npolicy = "policy.toml"\nvalues = { ward = ["north", "south"] }'
    for step in range(1, 60):
        made = parties("abc")
        (made.folder / "policy.toml").write_text(POLICY)
        made.write(task=task)
        made.start("b", at_step=step, out="b")
        for party in "ac":
            made.start(party, out=party)
        ended = made.wait("b")
        if ended.code >= 0:
            assert ended.code == 0, ended.err
            break
        assert not (made.folder / "b").exists()
        codes = {made.wait(party).code for party in "ac"}
        assert codes in ({0}, {1}), f"survivors disagree at step {step}"
        if codes == {1}:
            made.check_failed("a", "c")
            assert not any((made.folder / party).exists() for party in "ac")
    assert step > 10
    assert all((made.folder / party / "public" / "table.csv").exists() for party in "abc")


def test_a_party_that_stands_still_ends_the_run(parties: Make) -> None:
    """A process that is stopped is taken for dead after the patience of the consortium, and named."""
    made = parties("abc")
    for party in "abc":
        made.start(party, at=(8, "SIGSTOP") if party == "b" else None)
    sentences = made.check_failed("a", "c", seconds=10)
    made.kill("b")
    assert any("party 'b' was silent for 2 seconds" in sentence for sentence in sentences.values())


def test_a_party_that_never_comes_ends_the_run(parties: Make) -> None:
    """Who is not there within the stated time is named, and nothing is written."""
    made = parties("abc", wait=1)
    made.start("a")
    made.start("b")
    sentences = made.check_failed("a", "b")
    assert "party 'c' was not there within 1 seconds" in " ".join(sentences.values())


def test_who_cannot_be_reached_is_named_with_the_address_and_the_reason(parties: Make) -> None:
    """A party that connects in vain says where it tried, and what the system said."""
    made = parties("ab", wait=1)
    made.start("b")
    where = f"127.0.0.1:{made.ports['a']}"
    sentence = made.check_failed("b")["b"]
    assert f"party 'a' was not there within 1 seconds at {where} (Connection refused)" in sentence


def test_a_party_that_is_run_twice_disturbs_nobody(parties: Make) -> None:
    """The second process of one party is sent away and told why; the run of the first goes on."""
    made = parties("abc", wait=10)
    made.start("a")
    made.start("c")
    first = made.started["c"]
    time.sleep(1)  # so that the first is connected
    made.start("c", out="second.json")
    assert "this party is there already" in made.wait("c").sentence
    made.started["c"] = first
    made.start("b")
    assert [made.wait(party).code for party in "abc"] == [0, 0, 0]
    assert not (made.folder / "second.json").exists()


def test_who_stops_a_party_tells_the_others(parties: Make) -> None:
    """A party that its holder stops says so to the others, who end at once."""
    made = parties("abc", wait=10)
    made.start("a")
    made.start("b")
    time.sleep(1)
    os.kill(made.started["b"][0], signal.SIGTERM)
    assert made.wait("b").code == 130
    assert "party 'b' was stopped by its holder" in made.check_failed("a")["a"]


def test_a_bad_table_moves_nothing(parties: Make) -> None:
    """A table that does not fit the task is an error before anything is sent: exit code 2, and no run is counted."""
    made = parties("ab")
    made.write(task='kind = "sum"\ncolumns = ["bedz"]')
    made.start("a")
    ended = made.wait("a")
    assert (ended.code, ended.sentence) == (2, "a.csv has no column 'bedz'; did you mean beds?")
    assert sorted(path.name for path in made.folder.iterdir() if path.name.startswith("a.")) == [
        "a.csv", "a.err", "a.key", "a.out", "a.pem",
    ]  # fmt: skip


# Who is there.


def test_task_files_that_differ_by_a_byte_end_the_run(parties: Make) -> None:
    """Parties whose files differ by one byte, or in a certificate's, find out first, and say which have which."""
    made = parties("ab")
    other = made.folder / "other.toml"
    other.write_bytes((made.folder / "consortium.toml").read_bytes() + b"\n")
    made.start("a")
    made.start("b", file="other.toml")
    sentences = made.check_failed("a", "b")
    assert all("another consortium file or other certificates" in sentence for sentence in sentences.values())
    assert not list(made.folder.glob("*.runs"))


def test_only_the_pinned_certificate_is_taken(parties: Make, party_keys: Path) -> None:
    """Somebody with another key, or with one that is swapped, is no party, and nobody waits for long."""
    made = parties("abc", wait=2)
    (made.folder / "c.key").write_bytes((party_keys / "b.key").read_bytes())  # the key of another party
    made.start("c")
    assert "does not belong to the certificate" in made.check_failed("c")["c"]
    stranger = parties("ab", wait=2)  # b has made new keys, and a does not know it
    made = parties("ab", wait=2)
    made.ports = stranger.ports
    made.write(wait=2)
    for suffix in ("key", "pem"):
        (made.folder / f"b.{suffix}").write_bytes((party_keys / f"c.{suffix}").read_bytes())
    stranger.start("a")
    made.start("b")
    assert "party 'b' was not there within 2 seconds (once somebody" in stranger.check_failed("a")["a"]
    assert "certificate" in made.check_failed("b")["b"]
    for suffix in ("key", "pem"):  # the same with the one that listens
        (made.folder / f"b.{suffix}").write_bytes((party_keys / f"b.{suffix}").read_bytes())
        (made.folder / f"a.{suffix}").write_bytes((party_keys / f"c.{suffix}").read_bytes())
    stranger.start("b")
    made.start("a")
    assert "shows another certificate than the one that is pinned" in stranger.check_failed("b")["b"]
    assert "'b' was not there" in made.check_failed("a")["a"]


def test_an_expired_certificate_ends_the_run(parties: Make) -> None:
    """Every party says whose certificate expired, and when."""
    made = parties("ab")
    _write_expired(made.folder, "b")
    sentences = [made.run()[party].sentence for party in "ab"]
    assert all("the certificate of party 'b' expired on 2020-01-02" in sentence for sentence in sentences)
    made.check_failed("a", "b")


def _write_expired(folder: Path, name: str) -> None:
    from datetime import UTC, datetime

    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import Encoding, load_pem_private_key

    private: Any = load_pem_private_key((folder / f"{name}.key").read_bytes(), None)
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(private.public_key())
        .serial_number(1)
        .not_valid_before(datetime(2020, 1, 1, tzinfo=UTC))
        .not_valid_after(datetime(2020, 1, 2, tzinfo=UTC))
        .sign(private, None)
    )
    (folder / f"{name}.pem").write_bytes(made.public_bytes(Encoding.PEM))


def test_runs_with_a_peer_are_limited(parties: Make) -> None:
    """The third run on a day where two are allowed ends at all parties, and says how to allow more."""
    made = parties("ab", runs_per_day=2)
    for _ in range(2):
        assert [one.code for one in made.run(more=["--force"]).values()] == [0, 0]
    for party in "ab":
        (made.folder / f"{party}.json").unlink()
        made.start(party)
    sentences = " ".join(made.check_failed("a", "b").values())
    assert "has done 2 runs of sum with party" in sentences
    assert "a higher runs_per_day in [consortium]" in sentences


# Somebody on the way.


def test_what_is_changed_on_the_way_ends_the_run(parties: Make, proxy: Make) -> None:
    """A bit that is flipped, anywhere in either direction, and a connection that is cut there, end the run at both."""
    plain = parties("ab")
    through = proxy(plain, "a")
    assert [one.code for one in plain.run().values()] == [0, 0]
    sizes = {way: len(said) for way, said in through.said.items()}
    assert not any(word in said for word in (b"beds", b"ward", b"north", b'"sum"') for said in through.said.values())
    runs = []
    for way, size in sizes.items():
        for place in (30, size // 3, 2 * size // 3, size - 300):
            for spoil in (_flip, _cut):
                made = parties("ab")
                proxy(made, "a", spoil(way, place), wait=3)
                made.start("a")
                made.start("b")
                runs.append((made, way, place))
    for made, way, place in runs:
        sentences = made.check_failed("a", "b", seconds=15)
        assert all("party '" in sentence for sentence in sentences.values()), (way, place, sentences)


def _flip(way: str, place: int) -> Callable[[str, int, bytes], bytes]:
    def spoil(direction: str, before: int, content: bytes) -> bytes:
        if direction != way or not before <= place < before + len(content):
            return content
        changed = bytearray(content)
        changed[place - before] ^= 1
        return bytes(changed)

    return spoil


def _cut(way: str, place: int) -> Callable[[str, int, bytes], bytes | None]:
    def spoil(direction: str, before: int, content: bytes) -> bytes | None:
        return None if direction == way and before + len(content) > place else content

    return spoil


def test_a_connection_that_stalls_ends_the_run(parties: Make, proxy: Make) -> None:
    """Where nothing comes through any more, without the connection being closed, both end after their patience."""
    made = parties("ab")
    proxy(made, "a", lambda _, before, content: content if before < 1100 else b"")
    made.start("a")
    made.start("b")
    sentences = made.check_failed("a", "b", seconds=10)
    assert "was silent for 2 seconds" in " ".join(sentences.values())


def test_a_connection_that_is_replayed_is_nobody(parties: Make, proxy: Make) -> None:
    """What a party said in an earlier run, sent once more, does not pass for that party."""
    made = parties("ab", wait=2)
    through = proxy(made, "a", wait=2)
    assert [one.code for one in made.run(more=["--force"]).values()] == [0, 0]
    (made.folder / "a.json").unlink()
    made.start("a")
    with _connect(made.listens["a"]) as stranger:
        stranger.sendall(through.said["in"])
        made.check_failed("a")
    assert "once somebody tried" in made.wait("a").sentence


def _hear(context: ssl.SSLContext, port: int) -> bytes:
    """Shake hands, and wait for a first byte."""
    with _connect(port) as plain, context.wrap_socket(plain) as stream:
        heard = stream.recv(1)
    if not heard:
        raise EOFError
    return heard


def test_strangers_disturb_nobody(parties: Make) -> None:
    """Who speaks an older TLS, shows no certificate or no TLS at all is sent away, and the run goes on without them."""
    made = parties("ab")
    made.start("a")
    old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    old.maximum_version = ssl.TLSVersion.TLSv1_2
    new = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    for context in (old, new):
        context.check_hostname = False
        context.load_verify_locations(made.folder / "a.pem")
    old.load_cert_chain(made.folder / "b.pem", made.folder / "b.key")
    for context in (old, new):
        with pytest.raises((OSError, EOFError)):
            _hear(context, made.ports["a"])
    with _connect(made.ports["a"]) as stranger, _connect(made.ports["a"]):
        stranger.sendall(b"GET / HTTP/1.1\r\n\r\n")
        made.start("b")
        assert [made.wait(party).code for party in "ab"] == [0, 0]


# A party that sends what it likes: it has the right key, and speaks TLS.


class Deviant:
    """Party b as somebody else's program: it shakes hands and greets as it should, and then does as it likes."""

    def __init__(self, made: Any, **greeting: Any) -> None:
        consortium = read_consortium(made.folder / "consortium.toml")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.load_verify_locations(made.folder / "a.pem")
        context.load_cert_chain(made.folder / "b.pem", made.folder / "b.key")
        self.stream = context.wrap_socket(_connect(made.ports["a"]))
        said = {"version": __version__, "name": "b", "task": consortium.digest.hex(), "random": "00" * 32} | greeting
        mine = json.dumps(said).encode()
        self.number = 0
        self.session = bytes(32)
        self.send("session/greeting", mine)
        theirs = self.receive()
        digest = hashlib.sha256(b"sfumato-session/1\0")
        for one in (theirs, mine):
            digest.update(hashlib.sha256(one).digest())
        self.session = digest.digest()

    def send(self, step: str, payload: bytes, kind: FrameKind = FrameKind.MESSAGE, **other: Any) -> None:
        """Send a frame, with another session or number than is due if that is asked for."""
        session, number = other.get("session", self.session), other.get("number", self.number)
        self.stream.sendall(write_header(kind, session, number, step, len(payload)) + payload)
        self.number += 1

    def receive(self) -> bytes:
        """Take the next frame, whatever it is."""
        header = read_header(self._take(41), "a")
        return self._take(header.length)

    def _take(self, count: int) -> bytes:
        content = b""
        while len(content) < count:
            part = self.stream.recv(count - len(content))
            if not part:
                raise EOFError
            content += part
        return content


def _connect(port: int) -> socket.socket:
    for _ in range(400):
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=10)
        except OSError:
            time.sleep(0.02)
    raise AssertionError(f"nobody listens at {port}")


class _Trap:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.path),)


def _huge(deviant: Deviant, _: Path) -> None:
    header = bytearray(write_header(FrameKind.MESSAGE, deviant.session, deviant.number, "session/ready", 0))
    header[-4:] = b"\xff\xff\xff\xff"
    deviant.stream.sendall(bytes(header))


def _pickled(deviant: Deviant, folder: Path) -> None:
    deviant.send("session/ready", pickle.dumps(_Trap(folder / "trapped")))


def _pickled_key(deviant: Deviant, folder: Path) -> None:
    deviant.send("session/ready", deviant.session)
    deviant.send("session/key", pickle.dumps(_Trap(folder / "trapped")).ljust(32, b".")[:32])


def _repeated(deviant: Deviant, _: Path) -> None:
    deviant.send("session/ready", deviant.session)
    deviant.send("session/key", bytes(31) + b"\1", number=1)


def _elsewhere(deviant: Deviant, _: Path) -> None:
    deviant.send("session/ready", deviant.session, session=bytes(range(32)))


def _another_step(deviant: Deviant, _: Path) -> None:
    deviant.send("session/done", deviant.session)


def _small_order(deviant: Deviant, _: Path) -> None:
    deviant.send("session/ready", deviant.session)
    deviant.send("session/key", bytes(32))


def _text(deviant: Deviant, _: Path) -> None:
    deviant.stream.sendall(b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n" + b" " * 41)


def _nothing(deviant: Deviant, _: Path) -> None:
    deviant.send("session/ready", deviant.session)  # and then neither a word nor a sign of life


DEEDS = [
    (_huge, "announced a message of 4,294,967,295 bytes, and the largest has 67,108,864"),
    (_pickled, "which cannot be right"),
    (_pickled_key, "party 'b'"),
    (_repeated, "sent message 1 where 2 was due"),
    (_elsewhere, "sent a message of another session"),
    (_another_step, "is at another step than session/ready"),
    (_small_order, "a key of small order"),
    (_text, "something that is no message of this protocol"),
    (_nothing, "was silent for 2 seconds"),
]


def test_a_party_that_deviates_ends_the_run(parties: Make) -> None:
    """Whatever a party sends with the right key, the other ends with a sentence, runs nothing, and stays small."""
    every = [parties("ab") for _ in DEEDS]
    for made in every:
        made.start("a")
    deviants = [Deviant(made) for made in every]
    for (deed, _), made, deviant in zip(DEEDS, every, deviants, strict=True):
        deed(deviant, made.folder)
    for (_, sentence), made, deviant in zip(DEEDS, every, deviants, strict=True):
        assert sentence in made.check_failed("a")["a"]
        assert not (made.folder / "trapped").exists()
        assert made.wait("a").memory < 250
        deviant.stream.close()


GREETINGS = [
    ({"version": "0.0"}, "runs sfumato '0.0'"),
    ({"name": "a"}, "another name than its certificate's"),
    ({"task": "00" * 32}, "another consortium file"),
    ({"random": "7"}, "a greeting that is not whole"),
]


def test_a_greeting_that_is_wrong_ends_the_run(parties: Make) -> None:
    """A greeting with another version, name or task, or without its random bytes, is the last word."""
    every = [parties("ab") for _ in GREETINGS]
    for made in every:
        made.start("a")
    deviants = [Deviant(made, **greeting) for made, (greeting, _) in zip(every, GREETINGS, strict=True)]
    for (_, sentence), made, deviant in zip(GREETINGS, every, deviants, strict=True):
        assert sentence in made.check_failed("a")["a"]
        deviant.stream.close()


def test_two_greetings_of_one_party_give_two_sessions(parties: Make) -> None:
    """A party that greets two others differently leaves them with different sessions, and both end."""
    made = parties("abc")
    made.names = ("b", "a", "c")  # so that c connects to both, and a to b
    made.write()
    for party in "ba":
        made.start(party)
    consortium = read_consortium(made.folder / "consortium.toml")
    callers = []
    for place, party in enumerate("ba"):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.load_verify_locations(made.folder / f"{party}.pem")
        context.load_cert_chain(made.folder / "c.pem", made.folder / "c.key")
        stream = context.wrap_socket(_connect(made.ports[party]))
        said = {"version": __version__, "name": "c", "task": consortium.digest.hex(), "random": f"{place:02}" * 32}
        mine = json.dumps(said).encode()
        stream.sendall(write_header(FrameKind.MESSAGE, bytes(16), 0, "session/greeting", len(mine)) + mine)
        callers.append(stream)
    sentences = made.check_failed("a", "b")
    assert "another session" in " ".join(sentences.values())
    for stream in callers:
        stream.close()


def test_frames_and_files_of_a_run_hold_no_identifier(parties: Make) -> None:
    """What a party writes down beside its result names no value of its table, and no column."""
    made = parties("ab")
    for party in "ab":
        (made.folder / f"{party}.csv").write_text("canary_column,beds\ncanary-value,3\n")
    ended = made.run()
    texts = [one.out + one.err for one in ended.values()] + [path.read_text() for path in made.folder.glob("*.runs")]
    texts += [(made.folder / f"{party}.json").read_text() for party in "ab"]
    assert not any("canary" in text for text in texts)
    assert step_digest("sum/masked") not in b"".join(path.read_bytes() for path in made.folder.glob("*.runs"))
