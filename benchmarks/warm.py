"""The same job twice in one process, to see what the second takes (`python warm.py POLICY FOLDER`)."""

import json
import sys
import time
from pathlib import Path

from sfumato.release import prepare


def main(policy: str, folder: str) -> None:
    """Print the seconds of the second run, from the policy file to the verified release."""
    seconds = [_run(policy, Path(folder, str(turn))) for turn in range(2)]
    print(json.dumps({"first": seconds[0], "second": seconds[1]}))


def _run(policy: str, release: Path) -> float:
    start = time.perf_counter()
    prepare(None, policy).save(release)
    return time.perf_counter() - start


if __name__ == "__main__":
    main(*sys.argv[1:])
