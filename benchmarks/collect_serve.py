"""How many answers a second a collector takes: a real server and a client on this machine, over loopback.

``python -m benchmarks.collect_serve`` starts ``sfumato collect serve`` on a free port with a store of its own, sends
perturbed answers over a few connections that stay open, and counts the acknowledged ones. An answer is acknowledged
when it is on the disk, so this is the speed of whole transactions. It ends after `--answers` answers or `--seconds`
seconds, whichever comes first, and then checks that the store holds exactly what was acknowledged. What the client
itself costs is in the figure, since both share the machine.
"""

import argparse
import asyncio
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb
import numpy as np

from sfumato.channels.additive_noise import LaplaceNoise
from sfumato.channels.category_noise import ResponseNoise
from sfumato.collect.collection_form import CollectionForm, noise_digest
from sfumato.collect.submission import write_submission
from sfumato.core.randomness import Randomness

FORM = """
title = "A form for a benchmark"

[[question]]
name = "age"
text = "How old are you?"
kind = "laplace"
scale = 20.0
domain = [10, 90]

[[question]]
name = "use"
text = "What do you use?"
kind = "response"
values = ["a", "b", "c", "d"]
keep = 0.5
"""
LATENCIES = (0.5, 0.99)


def main(arguments: list[str] | None = None) -> dict[str, float]:
    """Measure, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--answers", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--connections", type=int, default=64)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(Path(folder), options.answers, options.seconds, options.connections)
    print(
        f"{figures['acknowledged']:,.0f} answers acknowledged in {figures['seconds']:.1f} s over "
        f"{options.connections} connections: {figures['per_second']:,.0f} a second; "
        f"half of them within {1000 * figures['median']:.0f} ms, 99 in 100 within {1000 * figures['slow']:.0f} ms; "
        f"in the store: {figures['stored']:,.0f}; "
        f"{1000 * figures['cpu'] / figures['acknowledged']:.2f} ms of processor each"
    )
    return figures


def measure(folder: Path, answers: int, seconds: float, connections: int) -> dict[str, float]:
    """Start a collector, send answers, stop it, and count what its store holds."""
    form, store = folder / "form.toml", folder / "answers.duckdb"
    form.write_text(FORM, encoding="utf-8")
    bodies = draw_bodies(CollectionForm.load(form), answers)
    run = "from sfumato.cli import main; main()"
    command = [sys.executable, "-c", run, "collect", "serve", str(form), "--store", str(store), "--port", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}
    ) as server:
        try:
            found = re.search(r":(\d+)/", (server.stdout or sys.stdin).readline())
            if found is None:
                sys.exit("error: the collector did not start")
            before = read_cpu(server.pid)
            latencies, took = asyncio.run(send_all(int(found[1]), bodies, seconds, connections))
            cpu = read_cpu(server.pid) - before
        finally:
            server.terminate()
            server.communicate(timeout=60)
    with duckdb.connect(str(store), read_only=True) as connection:
        ((stored,),) = connection.execute("SELECT count(*) FROM answers").fetchall()
    median, slow = np.quantile(latencies, LATENCIES)
    figures = {"acknowledged": len(latencies), "seconds": took, "per_second": len(latencies) / took, "cpu": cpu}
    return figures | {"median": float(median), "slow": float(slow), "stored": float(stored)}


def read_cpu(process: int) -> float:
    """Read the seconds of processor that a process has used; other work of the machine does not change them."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def draw_bodies(form: CollectionForm, count: int) -> list[bytes]:
    """Make submissions before the clock runs: perturbed ages and uses, each under a key of its own."""
    randomness, digest = Randomness(), noise_digest(form.noise)
    age, use = (question.noise for question in form.questions)
    if not isinstance(age, LaplaceNoise) or not isinstance(use, ResponseNoise):
        raise TypeError("FORM asks something else")
    numbers = age.perturb(np.linspace(10, 90, count), randomness).tolist()
    codes = use.perturb(np.arange(count) % 4, randomness).tolist()
    return [
        write_submission(os.urandom(16).hex(), digest, {"age": number, "use": use.values[code]})
        for number, code in zip(numbers, codes, strict=True)
    ]


async def send_all(port: int, bodies: list[bytes], seconds: float, connections: int) -> tuple[list[float], float]:
    """Send them over connections that stay open, each waiting for its acknowledgement; seconds of each, and of all."""
    left, latencies = iter(bodies), list[float]()
    started = time.perf_counter()

    async def send_some() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        head = "POST /answers HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: "
        for body in left:
            if time.perf_counter() - started > seconds:
                break
            sent = time.perf_counter()
            writer.write(f"{head}{len(body)}\r\n\r\n".encode() + body)
            reply = await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(int(re.findall(rb"content-length: (\d+)", reply)[0]))
            if not reply.startswith(b"HTTP/1.1 200"):
                raise RuntimeError(reply.decode())
            latencies.append(time.perf_counter() - sent)
        writer.close()
        await writer.wait_closed()

    await asyncio.gather(*(send_some() for _ in range(connections)))
    return latencies, time.perf_counter() - started


if __name__ == "__main__":
    main()
