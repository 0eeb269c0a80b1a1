"""Build wheel and sdist, install the wheel in an empty environment without torch, and use it as a stranger would.

``make release-check`` runs it. It ends with the sizes of both files, or at the first thing that does not work.
"""

import os
import re
import subprocess
import sys
import tempfile
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


def run(*command: str | Path, cwd: Path) -> None:
    """Run a command with no access to the sources; its failure ends the check."""
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    print("$", *(str(part) if len(str(part)) < 80 else "..." for part in command), flush=True)
    subprocess.run(command, cwd=cwd, env=clean, check=True)


def ten_lines() -> str:
    """The Python example of the README."""
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    return code


def check(folder: Path) -> None:
    """Build into ``folder``, install there, and use what was installed."""
    dist = folder / "dist"
    run(sys.executable, "-m", "build", "--outdir", dist, ROOT, cwd=folder)
    (wheel,), (sdist,) = dist.glob("*.whl"), dist.glob("*.tar.gz")
    venv.create(folder / "empty", with_pip=True)
    python = folder / "empty" / "bin" / "python"
    run(python, "-m", "pip", "install", "-q", "-c", ROOT / "constraints.txt", wheel, cwd=folder)
    run(python, "-c", WITHOUT_TORCH, cwd=folder)
    run(python, "-c", ten_lines(), cwd=folder)
    unbraid = folder / "empty" / "bin" / "unbraid"
    run(unbraid, "--version", cwd=folder)
    run(unbraid, "datasets", "list", cwd=folder)
    run(unbraid, "demo", "--out", folder / "demo", cwd=folder)
    if not (folder / "demo" / "report.html").is_file():
        raise FileNotFoundError(f"unbraid demo wrote no report.html into {folder / 'demo'}")
    for file in (wheel, sdist):
        print(f"{file.name}: {file.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="unbraid-release-") as name:
        check(Path(name))
