import json
import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).parent.parent
SHARED = ROOT.parent / "shared"

sys.path.insert(0, str(ROOT / "examples"))
pytest.register_assert_rewrite("diglot.testing")

# Servers of tests are on this machine, wherever else requests go through a proxy.
os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1,localhost"

# A shell lets what it starts in the background ignore Ctrl-C, and so would all that tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# What commands print does not depend on where the tests were started.
for name in ("COLUMNS", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
    os.environ.pop(name, None)

# A shared machine can be slow at any time, which is no reason for a test to fail. Examples are the
# same in each run, so that a change is not refused for what it has nothing to do with; to look for
# what nobody thought of is what "thorough" is for.
COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("default", max_examples=25, derandomize=True, **COMMON)
settings.register_profile("thorough", max_examples=500, **COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def conformance(name):
    """The lines of a file of recorded answers of the reference."""
    path = SHARED / "conformance" / name
    if not path.exists():
        pytest.skip(f"the folder {path.parent} is missing: nothing to compare with")
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
