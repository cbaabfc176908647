"""The same job twice in one process, to see what the second takes: a script that `jobs` starts by its path.

`python second_run.py POLICY FOLDER` prints the seconds of both, from the policy file to the verified release.
"""

import json
import sys
import time
from pathlib import Path

from sfumato.release import prepare


def main(policy: str, folder: str) -> None:
    """Run the job twice, and print what each took."""
    seconds = {}
    for turn, name in enumerate(("first", "second")):
        start = time.perf_counter()
        prepare(None, policy).save(Path(folder, str(turn)))
        seconds[name] = time.perf_counter() - start
    print(json.dumps(seconds))


if __name__ == "__main__":
    main(*sys.argv[1:])
