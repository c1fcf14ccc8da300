"""Runs one measurement: `python -m benches.measure NAME SCALE RESULT`."""

import json
import sys
from importlib import import_module
from pathlib import Path

from benches.scale import SCALES

name, scale, result = sys.argv[1:]
measured = import_module(f"benches.measure.{name}").measure(SCALES[scale])
Path(result).write_text(json.dumps(measured), "utf-8")
