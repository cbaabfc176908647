"""Run one command and print what it took as JSON: a script that `process_measurement` starts by its path.

It stays this small on purpose: Linux counts the memory of whoever starts a program into the peak of the program, so
the starter must be smaller than anything that is measured.
"""

import json
import os
import sys
import time

_UNIT = 1 if sys.platform == "darwin" else 1024  # of ru_maxrss


def main(output: str, errors: str, *command: str) -> None:
    """Run `command` with its streams in two files; print seconds, processor seconds, peak megabytes and exit code."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    streams = [(os.POSIX_SPAWN_OPEN, number, path, flags, 0o600) for number, path in ((1, output), (2, errors))]
    start = time.perf_counter()
    process = os.posix_spawnp(command[0], command, os.environ, file_actions=streams)
    _, status, usage = os.wait4(process, 0)
    seconds = time.perf_counter() - start
    result = {
        "seconds": seconds,
        "cpu": usage.ru_utime + usage.ru_stime,
        "megabytes": usage.ru_maxrss * _UNIT / 1e6,
        "code": os.waitstatus_to_exitcode(status),
    }
    sys.stdout.write(json.dumps(result))


if __name__ == "__main__":
    main(*sys.argv[1:])
