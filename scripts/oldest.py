"""Print the lowest versions that pyproject.toml promises, as a constraints file for pip.

``make test-oldest`` installs them. Only what a user's install brings is held down: the tools of the dev, docs and test
extras are left free, and torch stays at the version of constraints.txt, since others bring gigabytes of GPU libraries.
"""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TOOLS = {"dev", "docs", "test"}  # extras that only developers install
BOUND = re.compile(r"(?P<name>[\w.-]+)(\[[\w,]+\])?>=(?P<version>[\w.]+)")


def lowest(project: dict) -> dict[str, str]:
    """Name and lowest version of every direct dependency.

    >>> lowest({"dependencies": ["numpy>=1.26", "dask[array]>=2024.1"], "optional-dependencies": {"dev": ["ruff"]}})
    {'numpy': '1.26', 'dask': '2024.1'}
    """
    extras = project["optional-dependencies"]
    needed = [*project["dependencies"], *(line for name in extras if name not in TOOLS for line in extras[name])]
    versions = {}
    for requirement in needed:
        if requirement.startswith("unbraid["):
            continue
        bound = BOUND.fullmatch(requirement)
        if bound is None:
            raise ValueError(f"{requirement!r} in pyproject.toml names no lowest version. Write it as name>=version.")
        versions[bound["name"]] = bound["version"]
    return versions


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pinned = dict(line.split("==") for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").split())
    for name, version in lowest(project).items():
        print(f"{name}=={pinned[name] if name == 'torch' else version}")


if __name__ == "__main__":
    main()
