"""What ARX takes for the same jobs: constants, not measured in this run.

Source: the project's data notes. ARX 3.9.2 on its own Adult rows, k = 5, loss metric, from process start to
written file, median of three cold runs on a machine of this kind (2 cores). Losses are NCP, a suppressed row
counting 1. On the 45,222 rows it was not measured: there the figures are those of its 30,162 rows.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Arx:
    """Seconds cold and warm, peak megabytes, and quality, as far as they are known."""

    seconds: float
    megabytes: float | None = None
    loss: float | None = None
    suppressed: int | None = None
    warm: float | None = None


LOCAL = Arx(8.6, 576, 0.059, 0)
"""Its local recoding as it comes."""
LOCAL_MILLION = Arx(240, 2300, 0.043, 0)
"""Its default on a million rows."""
FULL_DOMAIN = {
    0.0: Arx(2.9, 392, 0.636, 0, warm=0.16),
    0.02: Arx(4.3, 443, 0.357, 506, warm=1.3),
    1.0: Arx(8.7, 470, 0.228, 2553, warm=4.9),
}
DISTINCT = {0.0: Arx(2.8, 381, 0.625, 0), 0.02: Arx(3.4, 434, 0.278, 522)}
ENTROPY = {0.0: Arx(3.2, 344, 0.679, 0), 0.02: Arx(4.4, 434, 0.307, 518)}
CLOSENESS = {0.0: Arx(3.3, 332, 0.929, 0), 0.02: Arx(5.5, 448, 0.840, 235)}
MILLION = {0.0: Arx(13, 940, suppressed=0), 0.02: Arx(90, 1100, suppressed=19_911)}
MILLION_DISTINCT = Arx(41, 1400, suppressed=17_476)
MILLION_CLOSENESS = Arx(59, 1900, suppressed=12_404)
FIVE_MILLION = {0.0: Arx(78, 2600, suppressed=0), 0.02: Arx(612, 2800, suppressed=68_102)}
