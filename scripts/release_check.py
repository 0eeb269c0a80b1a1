"""Build the wheels and sdists of the library and of its papers, install the library's in an empty environment without
torch, and use it as a stranger would; then add the papers.

``make release-check`` runs it. It ends with sizes and seconds, or at the first thing that does not work.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

WITHOUT_TORCH = """
import importlib.util
import unbraid as ub

assert importlib.util.find_spec("torch") is None, "torch is installed; the check is about an install without it"
try:
    ub.GIN()
except ModuleNotFoundError as error:
    assert "pip install 'unbraid[torch]'" in str(error), error
else:
    raise AssertionError("ub.GIN() works without torch")
"""

WITHOUT_PAPERS = """
from unbraid.cli.reproduce import find_paper

try:
    find_paper("geomancer")
except ModuleNotFoundError as error:
    assert "pip install unbraid-papers" in str(error), error
else:
    raise AssertionError("a paper is found that was not installed")
"""
WITH_PAPERS = """
from unbraid import datasets
from unbraid.cli.reproduce import find_paper

assert find_paper("geomancer").name == "geomancer"
assert "gan-manifold" in datasets.names()
"""


def run(*command: str | Path, cwd: Path) -> str:
    """Run a command with no access to the sources or to kernels built before; its failure ends the check."""
    clean = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "NUMBA_CACHE_DIR")}
    print("$", *(str(part) if len(str(part)) < 80 else "..." for part in command), flush=True)
    before, began = os.times(), time.perf_counter()
    subprocess.run(command, cwd=cwd, env=clean, check=True)
    after = os.times()
    processor = after.children_user + after.children_system - before.children_user - before.children_system
    return f"{time.perf_counter() - began:.1f} s ({processor:.1f} s of the processor)"


def megabytes(folder: Path) -> float:
    """What the files of a folder hold."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file() and not file.is_symlink()) / 1e6


def largest(folder: Path, count: int = 8) -> str:
    """The packages that take most room."""
    sizes = {item.name: megabytes(item) for item in folder.iterdir() if item.is_dir()}
    leaders = sorted(sizes, key=lambda name: -sizes[name])[:count]
    return ", ".join(f"{name} {sizes[name]:.0f}" for name in leaders)


def readme_lines() -> str:
    """The Python example of the README."""
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    return code


def check(folder: Path) -> None:
    """Build into ``folder``, install there, and use what was installed."""
    dist = folder / "dist"
    for source in (ROOT, ROOT / "papers"):
        run(sys.executable, "-m", "build", "--outdir", dist, source, cwd=folder)
    (wheel,), (papers,) = dist.glob("unbraid-*.whl"), dist.glob("unbraid_papers-*.whl")
    venv.create(folder / "empty", with_pip=True)
    python = folder / "empty" / "bin" / "python"
    run(python, "-m", "pip", "install", "-q", "-c", ROOT / "constraints.txt", wheel, cwd=folder)
    (site,) = (folder / "empty" / "lib").glob("python*/site-packages")
    shutil.rmtree(site / "pip")
    found = {"installed": f"{megabytes(site):.0f} MB, largest: {largest(site)}"}
    run(python, "-c", WITHOUT_TORCH, cwd=folder)
    found["import unbraid"] = run(python, "-c", "import unbraid", cwd=folder)
    found["the lines of the README, first use"] = run(python, "-c", readme_lines(), cwd=folder)
    found["the lines of the README again"] = run(python, "-c", readme_lines(), cwd=folder)
    unbraid = folder / "empty" / "bin" / "unbraid"
    run(unbraid, "--version", cwd=folder)
    found["unbraid --help"] = run(unbraid, "--help", cwd=folder)
    run(unbraid, "datasets", "list", cwd=folder)
    found["unbraid demo"] = run(unbraid, "demo", "--out", folder / "demo", cwd=folder)
    if not (folder / "demo" / "report.html").is_file():
        raise FileNotFoundError(f"unbraid demo wrote no report.html into {folder / 'demo'}")
    run(python, "-c", WITHOUT_PAPERS, cwd=folder)
    run(sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps", papers, cwd=folder)
    run(python, "-c", WITH_PAPERS, cwd=folder)
    for file in sorted(dist.iterdir()):
        print(f"{file.name}: {file.stat().st_size / 1e6:.2f} MB")
    for what, figure in found.items():
        print(f"{what}: {figure}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="unbraid-release-") as name:
        check(Path(name))
