"""What runs on ``unbraid fit photos/``: the files that the docs list, and one decoding of each picture."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from unbraid.cli import app
from unbraid.data import images

PAGE = Path(__file__).parents[1] / "docs" / "architecture.rst"
MOST_FILES = 66
BUILDS_KERNELS = "runtime/kernels.py"  # runs where compiled kernels are not in the cache yet

# Runs the command of its arguments, and prints the files with a function that ran outside of imports.
WATCH = """
import json, os, sys, threading
import matplotlib.figure, numba, rich.table, scipy.stats, sklearn.decomposition, sklearn.neighbors  # quicker unwatched
import unbraid
from unbraid.cli import main

matplotlib.figure.Figure.savefig = lambda self, file, **options: file.write(b"")  # drawing runs no file of ours
source = os.path.dirname(unbraid.__file__)
seen, ran, decoded = set(), set(), []

def imported(frame):
    while frame is not None and frame.f_code.co_name != "<module>":
        frame = frame.f_back
    return frame is not None and frame.f_code.co_filename.startswith(source)

def note(frame, event, argument):
    code = frame.f_code
    if event != "call" or code in seen:
        return
    if not code.co_flags & 1 or not code.co_filename.startswith(source):  # the body of a module or class is no function
        seen.add(code)
        return
    file = os.path.relpath(code.co_filename, source)
    if code.co_name == "decode" and file == "data/pictures.py":
        decoded.append(frame.f_locals["name"])
        ran.add(file)
    elif not imported(frame):
        seen.add(code)
        ran.add(file)

threading.setprofile(note)
sys.setprofile(note)
try:
    main()
except SystemExit as stop:
    assert not stop.code
finally:
    sys.setprofile(None)
print("\\n" + json.dumps({"ran": sorted(ran), "decoded": decoded}))
"""


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    """JPEGs of a bright spot whose position is the two factors."""
    folder = tmp_path_factory.mktemp("data") / "photos"
    folder.mkdir()
    rng = np.random.default_rng(0)
    grid = np.arange(24)
    for i, (x, y) in enumerate(rng.uniform(6, 18, (120, 2))):
        spot = np.exp(-((grid[:, None] - y) ** 2 + (grid - x) ** 2) / 20)
        Image.fromarray((255 * spot).astype(np.uint8)).save(folder / f"{i:03d}.jpg", quality=95)
    return folder


def listed_files():
    section = PAGE.read_text().split("\nWhat happens on", 1)[1]
    return re.findall(r"^- ``([\w/]+\.py)``", section, re.MULTILINE)


def test_the_docs_list_the_files_that_run(photos, tmp_path):
    options = ["fit", f"{photos}/", "--resize", "32x32", "--out", str(tmp_path / "run")]
    watched = subprocess.run([sys.executable, "-c", WATCH, *options], capture_output=True, text=True)
    assert not watched.returncode, watched.stderr
    found = json.loads(watched.stdout.splitlines()[-1])
    listed = listed_files()
    assert len(listed) == len(set(listed)) <= MOST_FILES
    assert set(listed) == {BUILDS_KERNELS, *found["ran"]}
    assert sorted(found["decoded"]) == sorted(photo.name for photo in photos.iterdir())


def test_a_given_method_decodes_each_picture_once(photos, tmp_path, monkeypatch):
    decoded, decode = [], images.decode
    monkeypatch.setattr(images, "decode", lambda file, name: decoded.append(name) or decode(file, name))
    options = ["fit", str(photos), "--factors", "2", "--method", "hessian-ica", "--out", str(tmp_path / "run")]
    result = CliRunner().invoke(app, options)
    assert result.exit_code == 0, result.output
    assert sorted(decoded) == sorted(photo.name for photo in photos.iterdir())
