"""Fetch what the tests of the explorer need and pip does not bring: Chromium, and axe-core from npm.

Does nothing where both are there. Chromium comes from Debian's packages when this runs as root; elsewhere it says what
to do. axe-core checks the accessibility of pages; it is used by tests only.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

AXE = "axe-core@4.14.0"
AXE_SHA256 = "20c09fe157a8a34a30e241aaa1fcdade657734f08ab379ecfbeb7d45cc46e878"  # of axe.min.js
AXE_PATH = Path(__file__).resolve().parents[1] / ".browser" / "axe.min.js"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def chromium() -> str | None:
    """The browser: ``UNBRAID_CHROMIUM``, or one on the path."""
    return os.environ.get("UNBRAID_CHROMIUM") or next((p for p in map(shutil.which, BROWSERS) if p), None)


def axe() -> Path | None:
    """The file, if it is there and whole."""
    whole = AXE_PATH.is_file() and hashlib.sha256(AXE_PATH.read_bytes()).hexdigest() == AXE_SHA256
    return AXE_PATH if whole else None


def install_chromium() -> None:
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        sys.exit("Chromium is missing. Install it (Debian: apt-get install chromium), or set UNBRAID_CHROMIUM to it.")
    subprocess.run(["apt-get", "update", "-q"], check=True)
    settings = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    command = ["apt-get", "install", "-y", "-q", "--no-install-recommends", "chromium", "fonts-dejavu-core"]
    subprocess.run(command, check=True, env=settings)


def fetch_axe() -> None:
    if shutil.which("npm") is None:
        sys.exit(f"npm is missing, which brings {AXE}. Install it (Debian: apt-get install npm).")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            ["npm", "pack", AXE, "--silent", "--pack-destination", folder], check=True, stdout=subprocess.DEVNULL
        )
        (packed,) = Path(folder).glob("*.tgz")
        with tarfile.open(packed) as archive:
            member = archive.extractfile("package/axe.min.js")
            text = b"" if member is None else member.read()
    if hashlib.sha256(text).hexdigest() != AXE_SHA256:
        sys.exit(f"{AXE} is not the file that is expected; nothing was kept.")
    AXE_PATH.parent.mkdir(exist_ok=True)
    AXE_PATH.write_bytes(text)


if __name__ == "__main__":
    if chromium() is None:
        install_chromium()
    if axe() is None:
        fetch_axe()
