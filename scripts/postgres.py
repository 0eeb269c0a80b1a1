"""Install the PostgreSQL server of the slow tests from Debian's packages; does nothing where it is there."""

import os
import shutil
import subprocess
import sys
from pathlib import Path


def binaries() -> Path | None:
    """The folder of initdb and postgres: ``UNBRAID_POSTGRES``, on the path, or where Debian puts them."""
    if os.environ.get("UNBRAID_POSTGRES"):
        return Path(os.environ["UNBRAID_POSTGRES"])
    found = shutil.which("initdb")
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return Path(found).resolve().parent if found else debian[-1].parent if debian else None


def install() -> None:
    """By apt-get, as root; elsewhere it says what to do."""
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        sys.exit("PostgreSQL is missing. Install it (Debian: apt-get install postgresql), or set UNBRAID_POSTGRES.")
    settings = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", "update", "-q"], check=True)
    command = ["apt-get", "install", "-y", "-q", "--no-install-recommends", "postgresql"]
    subprocess.run(command, check=True, env=settings)


if __name__ == "__main__":
    if binaries() is None:
        install()
    print(f"PostgreSQL: {binaries()}")
