"""One party of SPU's private set intersection by KKRT, for `party_sets`: run by a Python that has `spu`.

`python spu_intersection.py RANK PORT PORT INPUT OUTPUT` prints a line of JSON: processor seconds, and what came out.
SPU reads and writes CSV files itself, so its seconds hold both.
"""

import json
import sys
import time
from typing import Any


def main() -> None:
    """Run the party of a rank."""
    import spu  # type: ignore[import-not-found] # noqa: PLC0415 - in the environment of this script alone
    from spu import libspu, psi  # noqa: PLC0415

    rank, *ports, source, target = sys.argv[1:]
    description: Any = libspu.link.Desc()
    for number, port in enumerate(ports):
        description.add_party(f"p{number}", f"127.0.0.1:{port}")
    link: Any = libspu.link.create_brpc(description, int(rank))
    before, start = time.process_time(), time.monotonic()
    report: Any = psi.psi_execute(
        psi.PsiExecuteConfig(
            protocol_conf=psi.PsiProtocolConfig(
                protocol=psi.PsiProtocol.PROTOCOL_KKRT, receiver_rank=0, broadcast_result=True
            ),
            input_params=psi.InputParams(path=source, selected_keys=["id"], keys_unique=True),
            output_params=psi.OutputParams(path=target, disable_alignment=True),
        ),
        link,
    )
    cpu, seconds = time.process_time() - before, time.monotonic() - start
    link.stop_link()
    print(
        json.dumps(
            {
                "cpu": cpu,
                "seconds": seconds,
                "result": report.intersection_count,
                "version": getattr(spu, "__version__", "?"),
            }
        )
    )


if __name__ == "__main__":
    main()
