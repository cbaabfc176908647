"""The sum of ten parties' vectors by MPyC, for `party_sum`: run by a Python that has `mpyc` and numpy.

`python mpyc_sum.py COUNT -M10` starts ten parties; the first prints a line of JSON: processor seconds, and the result.
"""

import json
import sys
import time
from typing import Any

import numpy as np


async def add_up(mpc: Any, version: str) -> None:
    """Share vectors of 64-bit numbers, add the shares, and open the sum to all."""
    kind = mpc.SecInt(64)
    await mpc.start()
    before = time.process_time()
    given = mpc.input(kind.array(np.arange(int(sys.argv[1]))))
    total = given[0]
    for one in given[1:]:
        total += one
    opened = await mpc.output(total)
    cpu = time.process_time() - before
    await mpc.shutdown()
    if mpc.pid == 0:
        print(json.dumps({"cpu": cpu, "result": int(opened[-1]), "version": version}), flush=True)


def main() -> None:
    """Run the parties."""
    import mpyc  # type: ignore[import-not-found] # noqa: PLC0415 - in the environment of this script alone
    from mpyc.runtime import mpc  # type: ignore[import-not-found] # noqa: PLC0415 - same

    mpc.run(add_up(mpc, mpyc.__version__))


if __name__ == "__main__":
    main()
