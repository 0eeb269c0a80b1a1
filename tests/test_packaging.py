"""What is written for other machines: workflows, recipe, image and metadata say what ``pyproject.toml`` says."""

import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
USER = """
import numpy as np

import unbraid as ub

X = np.zeros((10, 2))
verdict: str = ub.diagnose(X).verdict
model: ub.HessianICA = ub.HessianICA(2).fit(X)
score: float = ub.metrics.mcc(X, X)
page: ub.report.Report = ub.report.fit_report(model, X)
"""


def read(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_is_well_formed_and_its_commands_exist(path):
    flow = read(path)
    assert {"name", "jobs", "permissions"} <= {*flow}
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for job in flow["jobs"].values():
        assert job["runs-on"]
        for step in job["steps"]:
            assert ("run" in step) != ("uses" in step)
            assert "@" in step.get("uses", "@"), "an action without a version"
            command = step.get("run", "")
            for target in re.findall(r"^make ([\w-]+)", command):
                assert re.search(rf"^{target}:", makefile, re.MULTILINE)
            for script in re.findall(r"python (scripts/\S+)", command):
                assert (ROOT / script).is_file()
        assert {*job.get("needs", "").split()} <= {*flow["jobs"]}


def test_three_systems_and_every_python_that_is_promised():
    (matrix,) = [job["strategy"]["matrix"] for job in read(WORKFLOWS[-1])["jobs"].values() if "strategy" in job]
    assert {name.split("-")[0] for name in matrix["os"]} == {"ubuntu", "macos", "windows"}
    promised = [re.search(r"3\.\d+$", line) for line in PROJECT["classifiers"] if "Python :: 3." in line]
    assert matrix["python"] == [found[0] for found in promised]


def test_the_recipe_needs_what_the_package_needs():
    run = {
        need.split()[0]: need.split()[1]
        for need in read(ROOT / "packaging" / "conda" / "recipe.yaml")["requirements"]["run"]
    }
    names = {"matplotlib": "matplotlib-base"}
    for need in PROJECT["dependencies"]:
        name, least = re.match(r"([\w-]+)(>=.*)", need).groups()
        assert run.pop(names.get(name, name)) == least
    assert run == {"python": PROJECT["requires-python"]}


def test_the_image_of_a_worker_copies_what_is_there_and_installs_extras_that_exist():
    text = (ROOT / "packaging" / "worker" / "Dockerfile").read_text(encoding="utf-8")
    for line in re.findall(r"^COPY (.*) \S+$", text, re.MULTILINE):
        assert all((ROOT / name).exists() for name in line.split())
    (extras,) = re.findall(r'"\.\[(.*)\]"', text)
    assert {*extras.split(",")} <= {*PROJECT["optional-dependencies"]}
    (torch,) = re.findall(r"torch==(\S+)", text)
    assert f"torch=={torch}" in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize(
    "path", sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")), ids=lambda path: path.stem
)
def test_a_template_asks_something(path):
    form = read(path)
    assert form["name"]
    assert form["description"]
    assert all(field["attributes"]["label"] for field in form["body"])


@pytest.mark.slow
def test_types_are_seen_from_outside(tmp_path):
    """``py.typed`` is installed, a right use passes, and a wrong one is found."""
    pytest.importorskip("mypy")
    (tmp_path / "user.py").write_text(USER, encoding="utf-8")
    (tmp_path / "wrong.py").write_text(f"{USER}verdict = score\nub.HessianICA(tangent_weight=X)\n", encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--follow-imports=silent",
        "--ignore-missing-imports",
        "--cache-dir",
        ".types",
    ]
    outcome = {}
    for name in ("user.py", "wrong.py"):
        outcome[name] = subprocess.run([*command, name], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert outcome["user.py"].returncode == 0, outcome["user.py"].stdout
    assert outcome["wrong.py"].returncode == 1
    assert "float" in outcome["wrong.py"].stdout
    assert "tangent_weight" in outcome["wrong.py"].stdout


def test_stubs_hold_every_name_that_loads_on_first_use():
    spec = importlib.util.spec_from_file_location("stubs", ROOT / "scripts" / "stubs.py")
    stubs = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(stubs)
    old = [package for package in stubs.LAZY if stubs.place(package).read_text(encoding="utf-8") != stubs.stub(package)]
    assert not old, "run python scripts/stubs.py"
