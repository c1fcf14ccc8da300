"""The OpenAPI document: whether it is true, as schemathesis finds out by asking."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from serving import serving

CONFIGURATION = Path(__file__).with_name("schemathesis.toml")

# Cases to an operation and phase.
EXAMPLES = os.environ.get("SCHEMATHESIS_EXAMPLES", "4")

# Records have fields that must agree, which JSON Schema cannot say, and files are of a format.
DEPENDENT = "records|import|export"


@pytest.mark.parametrize(
    "options",
    [
        ("--exclude-path-regex", DEPENDENT),
        ("--include-path-regex", DEPENDENT, "--exclude-checks", "positive_data_acceptance"),
    ],
)
def test_the_document_is_true(options: tuple[str, ...], tmp_path: Path) -> None:
    with serving() as server:
        command = [sys.executable, "-m", "schemathesis.cli", "--no-color"]
        command += ["--config-file", str(CONFIGURATION), "run"]
        command += [f"{server.url}/openapi.json", "--checks", "all", "--phases", "fuzzing,stateful"]
        command += ["--max-examples", EXAMPLES, "--seed", "1", "--generation-deterministic"]
        # A machine that does much else takes its time to make up requests.
        command += ["--suppress-health-check", "too_slow"]
        # However slow the machine.
        command += ["--suppress-health-check", "all"]
        ran = subprocess.run(
            [*command, *options],
            capture_output=True,
            text=True,
            cwd=tmp_path,
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        assert "Tested:" in ran.stdout
        assert not [line for line in server.log if "ERROR" in line]
