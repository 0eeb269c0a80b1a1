"""The house rules: which room may import which, what `import unbraid` costs, and the words of the command line."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import unbraid

SRC = Path(unbraid.__file__).parent

# What a room may import of the others. Modules beside the rooms (persistence, progress, ...) are open to all.
MAY_IMPORT = {
    "metrics": set(),
    "datasets": {"networks"},
    "networks": set(),
    "spectral": {"metrics"},
    "geometry": set(),
    "flows": {"networks", "datasets"},
    "autoencoders": {"networks", "datasets", "spectral"},
    "report": {"metrics", "datasets"},
    "study": {"spectral", "geometry", "flows", "autoencoders", "metrics", "datasets"},
}
ROOMS = set(MAY_IMPORT) | {"app", "cli"}


def imports_of(path):
    """(module, names) of every import of this package in a file, at any depth."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "unbraid":
            if node.module == "unbraid":
                yield from (f"unbraid.{a.name}" for a in node.names)
            else:
                yield node.module
        elif isinstance(node, ast.Import):
            yield from (a.name for a in node.names if a.name.split(".")[0] == "unbraid")


def room_of(module):
    parts = module.split(".")
    if len(parts) > 1 and parts[1] in unbraid._ESTIMATORS:
        return unbraid._ESTIMATORS[parts[1]].family
    return parts[1] if len(parts) > 1 and parts[1] in ROOMS else None


@pytest.mark.parametrize("room", sorted(MAY_IMPORT))
def test_imports_point_one_way(room):
    wrong = [
        f"{path.relative_to(SRC)} imports {module}"
        for path in (SRC / room).rglob("*.py")
        for module in imports_of(path)
        if room_of(module) not in {None, room} | MAY_IMPORT[room]
    ]
    assert not wrong


def test_the_direction_test_sees_a_wrong_import(tmp_path):
    bad = tmp_path / "bad.py"
    bad.write_text("def f():\n    from unbraid import HessianICA\n    import unbraid.cli\n")
    assert [room_of(m) for m in imports_of(bad)] == ["spectral", "cli"]


def test_import_is_light():
    """Standard library only, so well under a second on any machine; the time itself is in benchmarks."""
    code = "import sys, unbraid; print(sorted({m.split('.')[0] for m in sys.modules}))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    for heavy in ("torch", "numpy", "scipy", "sklearn", "numba", "matplotlib"):
        assert f"'{heavy}'" not in loaded


def test_import_takes_under_a_second():
    code = "import time; t = time.perf_counter(); import unbraid; print(time.perf_counter() - t)"
    seconds = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
        for _ in range(3)
    ]
    assert min(seconds) < 1


@pytest.mark.parametrize("name", sorted(unbraid._ESTIMATORS))
def test_public_names_resolve(name):
    assert getattr(unbraid, name).__module__.startswith("unbraid.")


def test_unknown_name_lists_the_known_ones():
    with pytest.raises(AttributeError, match="HessianICA"):
        unbraid.NoSuchThing  # noqa: B018


def run_cli(*args):
    return subprocess.run([sys.executable, "-m", "unbraid", *args], capture_output=True, text=True, check=False)


def test_version_and_help():
    assert run_cli("--version").stdout.strip() == f"unbraid {unbraid.__version__}"
    out = run_cli("--help").stdout
    assert "demo" in out
    assert "fit" in out
