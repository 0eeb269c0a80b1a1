"""``unbraid doctor``, and the versions of ``unbraid --version``: what is installed here, and how fast it is."""

import os
import platform
import sys
import time
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

import typer

MATTERS = ("numpy", "scipy", "scikit-learn", "numba", "torch")
FOR_DEVELOPERS = ("docs", "test", "dev")
SLOW = 1.0  # seconds of the fit below on a machine that swaps, or whose threads fight; it takes some .1 elsewhere


def versions() -> list[str]:
    """What a report of a bug should say: Python and system, and the packages that matter.

    >>> len(versions())
    2
    """
    packages = ", ".join(f"{name} {installed(name) or 'not installed'}" for name in MATTERS)
    return [f"Python {platform.python_version()}, {platform.platform()}", packages]


def installed(name: str) -> str | None:
    """The version of a distribution, without importing it.

    >>> installed("no-such-distribution") is None
    True
    """
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def extras() -> dict[str, list[str]]:
    """The extras of this package, and what each lacks here.

    >>> "torch" in extras()
    True
    """
    from packaging.requirements import Requirement

    asked = [Requirement(text) for text in requires("unbraid") or []]
    needed: dict[str, set[str]] = {}
    for need in asked:
        for name in _extras_of(str(need.marker or "")):
            below = needed.setdefault(name, set())
            below |= {f"unbraid[{extra}]" for extra in need.extras} if need.name == "unbraid" else {need.name}
    return {name: sorted(_missing(name, needed)) for name in needed if name not in FOR_DEVELOPERS}


def _extras_of(marker: str) -> list[str]:
    return [part.split('"')[1] for part in marker.split(" and ") if part.strip().startswith("extra ==")]


def _missing(extra: str, needed: dict[str, set[str]]) -> set[str]:
    """Distributions that an extra needs, or one that it includes, and that are not installed."""
    found: set[str] = set()
    for name in needed.get(extra, ()):
        if name.startswith("unbraid["):
            found |= _missing(name[len("unbraid[") : -1], needed)
        elif installed(name) is None:
            found.add(name)
    return found


def doctor() -> None:
    """Say what is installed here, which extras are missing, and how fast this machine is, in about ten seconds.

    Paste it into a report of a bug. Nothing is sent anywhere.
    """
    from unbraid import __version__

    typer.echo("\n".join([f"unbraid {__version__}", *versions(), f"installed in {Path(__file__).parents[1]}", ""]))
    typer.echo("Extras:")
    for name, missing in extras().items():
        told = f"missing {', '.join(missing)}: pip install 'unbraid[{name}]'" if missing else "installed"
        typer.echo(f"  {name:13s} {told}")
    typer.echo("\n".join(["", *_threads(), *_folders(), "", "Speed:", *_speed()]))


def _threads() -> list[str]:
    import numpy  # noqa: F401  (its threads are those that count)
    import scipy.linalg  # noqa: F401
    from threadpoolctl import threadpool_info

    pools = ", ".join(f"{pool['internal_api']} {pool['num_threads']}" for pool in threadpool_info())
    asked = os.environ.get("OMP_NUM_THREADS", "not set")
    return [f"Cores: {os.cpu_count()}. Threads: {pools or 'no pool found'}; OMP_NUM_THREADS is {asked}."]


def _folders() -> list[str]:
    from unbraid.datasets.storage import data_folder

    kernels = Path(__file__).parents[1]
    kept = "kept beside the source" if os.access(kernels, os.W_OK) else "kept in the user's cache (NUMBA_CACHE_DIR)"
    held = sum(file.stat().st_size for file in data_folder().rglob("*") if file.is_file()) / 1e6
    return [f"Data folder: {data_folder()}, {held:.0f} MB (UNBRAID_DATA).", f"Compiled kernels: {kept}."]


def _speed() -> list[str]:
    import numpy as np

    import unbraid as ub

    z = np.random.default_rng(0).uniform(size=(3000, 2))
    X = np.column_stack([np.sin(2 * z), np.cos(2 * z)]) @ np.random.default_rng(1).normal(size=(4, 100))
    seconds = []
    for _ in range(3):  # the first builds kernels, where none are kept
        start = time.perf_counter()
        codes = ub.HessianICA(2, 12, random_state=0).fit_transform(X)
        seconds.append(time.perf_counter() - start)
    lines = [
        f"  HessianICA of 3,000 x 100: {min(seconds):.2f} s, {seconds[0]:.1f} s the first time, "
        f"MCC {ub.metrics.mcc(z, codes):.3f}"
    ]
    if min(seconds) > SLOW:
        lines.append("  That is slow. Busy cores? Try OMP_NUM_THREADS=1.")
    if "torch" in sys.modules or installed("torch"):
        import torch

        where = "CUDA" if torch.cuda.is_available() else "CPU only"
        lines.append(f"  torch {torch.__version__}: {where}, {torch.get_num_threads()} threads")
    return lines
