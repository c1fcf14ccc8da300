"""What `import diglot` takes in a new process."""

from __future__ import annotations

import subprocess
import sys
from statistics import median
from typing import Any

from benches.scale import Scale

__all__ = ["measure"]

_PROGRAM = """
from time import perf_counter
start = perf_counter()
import diglot
seconds = perf_counter() - start
import sys
if "numpy" in sys.modules:
    sys.exit("numpy was imported before arrays were asked for")
print(seconds)
"""


def measure(scale: Scale) -> dict[str, Any]:
    command = [sys.executable, "-c", _PROGRAM]
    runs = [
        subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        for _ in range(scale.starts + 1)
    ]
    # The first start reads files that later ones find in memory, and may compile some.
    return {"seconds": median(float(run.stdout) for run in runs[1:]), "starts": scale.starts}
