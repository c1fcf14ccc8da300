"""The store of docs/typescript.md: type-checked, and run in Node against a server."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from serving import serving

pytest.importorskip("uvicorn", reason="diglot[server] is not installed")
pytest.importorskip("msgspec", reason="diglot[server] is not installed")

ROOT = Path(__file__).parents[1]
DOCUMENT = (ROOT / "docs" / "typescript.md").read_text(encoding="utf-8")
PROJECT = ROOT / "tests" / "typescript"


def tool(name):
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"{name} is not installed: the TypeScript of docs/typescript.md is not run")
    return path


def run(*command, cwd):
    done = subprocess.run(command, cwd=cwd, capture_output=True, encoding="utf-8", errors="replace")
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def project():
    """Where the compiler is installed, which is kept for the next run."""
    node, npm = tool("node"), tool("npm")
    version = run(node, "--version", cwd=ROOT)[1]
    if int(version.removeprefix("v").split(".")[0]) < 18:
        pytest.skip(f"Node {version.strip()} has no fetch: the TypeScript is not run")
    folder = ROOT / "target" / "typescript"
    folder.mkdir(parents=True, exist_ok=True)
    for file in PROJECT.iterdir():
        shutil.copy(file, folder)
    # What npm writes last.
    if not (folder / "node_modules" / ".package-lock.json").exists():
        status, output = run(npm, "install", "--no-audit", "--no-fund", cwd=folder)
        if status:
            pytest.skip(f"npm cannot install the TypeScript compiler: {output[-300:]}")
    return folder


def test_the_store_for_vertana_is_one(project):
    first, _ = re.findall(r"^```ts\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL)
    (project / "store.ts").write_text(first, encoding="utf-8")
    compiler = project / "node_modules" / "typescript" / "bin" / "tsc"
    options = ["--strict", "--target", "es2022", "--module", "nodenext", "--skipLibCheck"]
    files = ["store.ts", "check.ts", "vertana.d.ts"]
    node = tool("node")
    status, output = run(node, str(compiler), *options, "--outDir", "out", *files, cwd=project)
    assert (status, output) == (0, "")
    with serving() as server:
        status, output = run(node, os.path.join("out", "check.js"), server.url, cwd=project)
    assert (status, output) == (0, "done\n")
