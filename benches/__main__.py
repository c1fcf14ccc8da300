"""Runs the benchmarks, from the root of the repository.

A full run writes docs/benchmarks.md and docs/benchmarks.json; the first one takes much longer than
others, for the data and the true answers are made then. Any other run only prints.
"""

from __future__ import annotations

import json
import subprocess
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benches.data import ROOT, corpus_file
from benches.machine import describe
from benches.measure import MEASUREMENTS
from benches.report import page
from benches.scale import SCALES


def _measure(name: str, scale: str) -> Any:
    """Measures in a new process, which nothing that ran before can disturb. None if it failed."""
    with TemporaryDirectory() as folder:
        result = Path(folder) / "result.json"
        process = subprocess.run(
            [sys.executable, "-m", "benches.measure", name, scale, str(result)], cwd=ROOT
        )
        return json.loads(result.read_text("utf-8")) if process.returncode == 0 else None


def main() -> int:
    parser = ArgumentParser(
        "python -m benches", description=__doc__, formatter_class=RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--quick", action="store_true", help="little data: to see whether the benchmarks work"
    )
    parser.add_argument(
        "--only", nargs="+", choices=MEASUREMENTS, metavar="NAME", help=", ".join(MEASUREMENTS)
    )
    arguments = parser.parse_args()
    scale = "quick" if arguments.quick else "full"
    names = arguments.only or MEASUREMENTS
    try:
        corpus_file(SCALES[scale])
    except FileNotFoundError as error:
        parser.error(str(error))

    machine = describe()
    results = {}
    for number, name in enumerate(names, 1):
        sys.stderr.write(f"[{number}/{len(names)}] {name}\n")
        results[name] = _measure(name, scale)
    failed = [name for name, result in results.items() if result is None]
    run = {
        "machine": machine,
        "scale": scale,
        "results": {name: result for name, result in results.items() if result is not None},
    }
    text = page(run)
    if scale == "full" and len(run["results"]) == len(MEASUREMENTS):
        docs = ROOT / "docs"
        (docs / "benchmarks.md").write_text(text, "utf-8")
        (docs / "benchmarks.json").write_text(json.dumps(run, indent=1) + "\n", "utf-8")
    sys.stdout.write(text)
    if failed:
        sys.stderr.write(f"failed: {', '.join(failed)}\n")
    return 1 if failed else 0


sys.exit(main())
