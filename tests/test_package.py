import subprocess
import sys
from pathlib import Path

import pytest

import diglot


def run(code):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    ).stdout


def test_exports_what_it_says():
    assert sorted(diglot.__all__) == diglot.__all__ or set(diglot.__all__)
    for name in diglot.__all__:
        assert getattr(diglot, name) is not None
    public = {name for name in vars(diglot) if not name.startswith("_")}
    modules = {name for name in public if type(getattr(diglot, name)).__name__ == "module"}
    assert public - modules == set(diglot.__all__) - {"__version__"}


def test_every_public_name_is_documented():
    for name in diglot.__all__:
        value = getattr(diglot, name)
        if name == "__version__":
            continue
        assert value.__doc__, name
        if isinstance(value, type):
            for member, function in vars(value).items():
                if not member.startswith("_") and callable(function):
                    assert function.__doc__, f"{name}.{member}"


def test_importing_it_loads_nothing_heavy():
    loaded = run("import sys, diglot; print(*sys.modules)").split()
    for name in ("numpy", "asyncio", "concurrent", "logging", "pytest"):
        assert name not in loaded


def test_its_types_are_for_everyone():
    assert (Path(diglot.__file__).parent / "py.typed").exists()


def test_the_server_that_does_nothing_uses_what_there_is():
    subprocess.run(
        [sys.executable, "-c", "import benches.server_nothing, benches.measure.serving"],
        check=True,
        cwd=Path(__file__).parent.parent,
    )


def test_the_stub_agrees_with_the_binary():
    pytest.importorskip("mypy", reason="mypy is not installed: the stub is not checked")
    result = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "diglot._engine"],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parent.parent,
    )
    assert result.returncode == 0, result.stdout + result.stderr
