"""Where and when the benchmarks ran."""

from __future__ import annotations

import os
import platform
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path

__all__ = ["describe"]


def _field(file: str, name: str) -> str:
    lines = Path(file).read_text().splitlines()
    return next(
        (line.partition(":")[2].strip() for line in lines if line.startswith(name)), "unknown"
    )


def describe() -> dict[str, str]:
    """What the times depend on. If the load before the run was not near 0, they are too long."""
    memory = int(_field("/proc/meminfo", "MemTotal").split()[0]) / 2**20
    return {
        "date": datetime.now(timezone.utc).date().isoformat(),
        "processor": _field("/proc/cpuinfo", "model name"),
        "cores": str(os.cpu_count()),
        "memory": f"{memory:.0f} GiB",
        "system": f"{platform.system()} {platform.machine()}",
        "Python": platform.python_version(),
        **{
            name: version(name)
            for name in ("diglot", "lxml", "rapidfuzz", "tantivy", "translate-toolkit")
        },
        "load before": f"{os.getloadavg()[0]:.2f}",
    }
