"""The house rules: which room may import which, what `import unbraid` costs, and the words of the command line."""

import ast
import json
import subprocess
import sys
from graphlib import TopologicalSorter
from importlib.util import resolve_name
from pathlib import Path

import pytest

import unbraid
from tests.facts import facts

SRC = Path(unbraid.__file__).parent
ROOMS = json.loads((Path(__file__).parents[1] / "docs" / "rooms.json").read_text())  # the docs draw it
# These look a class up in the tables of methods, of public names or of saved runs, and import where it lives.
READ_A_TABLE = {"__init__.py", "methods.py", "saving/encoding.py"}
ANYWHERE = "any room"


def imports_of(path, package="unbraid"):
    """Every module of this package that a file imports or looks up as ``unbraid.name``, at any depth."""
    tree = ast.parse(path.read_text())
    aliases = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for name in node.names:
                if name.name.partition(".")[0] == "unbraid":
                    aliases.add(name.asname or "unbraid")
                    yield name.name
        elif isinstance(node, ast.ImportFrom):
            module = resolve_name("." * node.level + (node.module or ""), package) if node.level else node.module
            if module == "unbraid":
                yield from (f"unbraid.{name.name}" for name in node.names)
            elif module.partition(".")[0] == "unbraid":
                yield module
        elif isinstance(node, ast.Call):
            yield from _imported_by_call(node)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in aliases:
            yield f"unbraid.{node.attr}"


def _imported_by_call(node):
    """``import_module("unbraid.x")``, ``import_module(f"unbraid.{x}")`` and ``__import__``."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name not in ("import_module", "__import__") or not node.args:
        return
    parts = node.args[0].values if isinstance(node.args[0], ast.JoinedStr) else [node.args[0]]
    if not isinstance(parts[0], ast.Constant):
        return  # a name that is not of this package, or one that came as an argument
    text = parts[0].value
    if text.partition(".")[0] == "unbraid":
        yield text if len(parts) == 1 or text.count(".") > 1 else f"unbraid.{ANYWHERE}"


def room_of(module):
    """The room of a module or public name; None for the package itself, whose ``import unbraid`` brings nothing."""
    name = module.split(".")[1] if "." in module else "__version__"
    if name in unbraid._ESTIMATORS:
        return unbraid._ESTIMATORS[name].family
    known = {**unbraid._FUNCTIONS, "warnings": "trust", "__version__": None}.get(name, name)
    return known and known.partition(".")[0]


def wrong_imports(path, room, allowed):
    inside = {None, room, *allowed} | ({ANYWHERE} if path.relative_to(SRC).as_posix() in READ_A_TABLE else set())
    package = ".".join(["unbraid", *path.relative_to(SRC).parts[:-1]])
    return [f"{path.relative_to(SRC)} imports {m}" for m in imports_of(path, package) if room_of(m) not in inside]


def test_the_table_has_every_room():
    there = {p.stem for p in SRC.iterdir() if p.suffix == ".py" or (p / "__init__.py").exists()}
    assert there - {"__init__", "__main__"} == set(ROOMS)


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_imports_point_one_way(room):
    allowed = {*ROOMS, ANYWHERE} if ROOMS[room]["imports"] == "all" else set(ROOMS[room]["imports"])
    files = sorted((SRC / room).rglob("*.py")) or [SRC / f"{room}.py"]
    assert not [wrong for path in files for wrong in wrong_imports(path, room, allowed)]


def test_the_package_itself_reads_the_table_alone():
    assert not wrong_imports(SRC / "__init__.py", "methods", {"runtime"})
    assert not wrong_imports(SRC / "__main__.py", "cli", set())


def test_the_library_does_not_know_its_papers():
    """They are found by entry points alone."""
    assert not [path for path in SRC.rglob("*.py") if "unbraid_papers" in path.read_text(encoding="utf-8")]


def test_the_table_has_no_circles():
    below = {room: set(ROOMS if row["imports"] == "all" else row["imports"]) - {room} for room, row in ROOMS.items()}
    assert set(TopologicalSorter(below).static_order()) == set(ROOMS)


@pytest.mark.parametrize(
    ("line", "room"),
    [
        ("from unbraid import HessianICA", "spectral"),
        ("from unbraid import evaluate", "evaluation"),
        ("from unbraid import metrics", "metrics"),
        ("from unbraid.flows.base import FlowEstimator", "flows"),
        ("from ..report import html", "report"),
        ("import unbraid.cli", "cli"),
        ("import unbraid as ub; ub.BetaVAE", "autoencoders"),
        ("import unbraid; unbraid.theory.entangle", "theory"),
        ("import importlib; importlib.import_module('unbraid.datasets')", "datasets"),
        ("from importlib import import_module; import_module(f'unbraid.networks.{x}')", "networks"),
        ("from importlib import import_module; import_module(f'unbraid.{x}')", ANYWHERE),
        ("__import__('unbraid.training.run')", "training"),
    ],
)
def test_the_direction_test_sees_a_wrong_import(tmp_path, line, room):
    bad = tmp_path / "bad.py"
    bad.write_text(f"def f():\n    {line}\n")
    assert {room_of(m) for m in imports_of(bad, "unbraid.geometry")} - {None} == {room}


def test_import_is_light():
    """A few modules of the standard library only, so well under a second on any machine; the time is in benchmarks."""
    code = "import sys; before = set(sys.modules); import unbraid; print(*sorted(set(sys.modules) - before))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert {name.split(".")[0] for name in loaded} <= {"unbraid", *sys.stdlib_module_names}
    assert len(loaded) < 100


@pytest.mark.parametrize("name", sorted(unbraid._ESTIMATORS))
def test_public_names_resolve(name):
    assert getattr(unbraid, name).__module__.startswith("unbraid.")


def test_unknown_name_lists_the_known_ones():
    with pytest.raises(AttributeError, match=facts("'NoSuchThing'", "HessianICA")):
        unbraid.NoSuchThing  # noqa: B018


def run_cli(*args):
    return subprocess.run([sys.executable, "-m", "unbraid", *args], capture_output=True, text=True, check=False)


def test_version_and_help():
    first, *others = run_cli("--version").stdout.strip().splitlines()
    assert first == f"unbraid {unbraid.__version__}"
    assert all(name in " ".join(others) for name in ("Python 3.", "numpy", "scikit-learn", "torch"))
    out = run_cli("--help").stdout
    assert "demo" in out
    assert "fit" in out
