"""Files from packages: a wheel made here and served from a folder, through the pip of this interpreter."""

import hashlib
import os
import zipfile
from dataclasses import replace

import pytest

from tests.facts import facts
from unbraid import datasets
from unbraid.datasets import packages, registry
from unbraid.datasets.packages import Package, fetch, unpack

WEIGHTS = bytes(range(256)) * 100
WHEEL = "toy_weights-1.0-py3-none-any.whl"
METADATA = "Metadata-Version: 2.1\nName: toy-weights\nVersion: 1.0\nRequires-Python: <3\nRequires-Dist: absent\n"


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A package whose wheel lies in the only place where pip looks."""
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    with zipfile.ZipFile(shelf / WHEEL, "w", zipfile.ZIP_DEFLATED) as wheel:
        wheel.writestr("toy_weights/__init__.py", "raise SystemExit('code of the package ran')")
        wheel.writestr("toy_weights/data/w.bin", WEIGHTS)
        wheel.writestr("../../evil.bin", b"evil")
        wheel.writestr("toy_weights-1.0.dist-info/METADATA", METADATA)
        wheel.writestr("toy_weights-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr("toy_weights-1.0.dist-info/RECORD", "")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shelf))
    checksum = hashlib.sha256((shelf / WHEEL).read_bytes()).hexdigest()
    return Package("toy_weights==1.0", checksum, {"toy_weights/data/w.bin": len(WEIGHTS)}, "for tests only")


def names_below(folder):
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


def test_get_brings_the_named_files_and_nothing_else(toy, tmp_path, monkeypatch, capsys):
    root = tmp_path / "data"
    monkeypatch.setitem(registry.PACKAGES, "ffhq", toy)
    monkeypatch.setenv("UNBRAID_DATA", str(root))
    (weights,) = (entry for entry in registry.WEIGHTS if entry.name == "ffhq")
    assert weights.here() == "no"
    (path,) = datasets.get("ffhq")
    assert path == root / "toy_weights-1.0" / "w.bin"
    assert path.read_bytes() == WEIGHTS
    assert "for tests only" in capsys.readouterr().err
    assert names_below(root) == ["toy_weights-1.0/LICENCE.txt", "toy_weights-1.0/w.bin"]
    assert weights.here() == "yes"
    monkeypatch.setattr(packages, "download_wheel", None)  # a second download would fail
    assert datasets.get("ffhq") == [path]
    assert capsys.readouterr().err == ""


def test_damaged_files_are_fetched_again(toy, tmp_path):
    folder = tmp_path / "data" / "toy_weights-1.0"
    folder.mkdir(parents=True)
    (folder / "w.bin").write_bytes(WEIGHTS[:10])
    fetch(toy, tmp_path / "data")
    assert (folder / "w.bin").read_bytes() == WEIGHTS


def test_a_wrong_checksum_leaves_everything_as_it_was(toy, tmp_path):
    folder = tmp_path / "data" / "toy_weights-1.0"
    folder.mkdir(parents=True)
    (folder / "w.bin").write_bytes(b"before")
    with pytest.raises(ValueError, match=facts(WHEEL, toy.sha256, "0000")):
        fetch(replace(toy, sha256="0000"), tmp_path / "data")
    assert names_below(tmp_path / "data") == ["toy_weights-1.0/w.bin"]
    assert (folder / "w.bin").read_bytes() == b"before"


def test_what_pip_cannot_find_says_how_to_do_without_a_network(toy, tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    with pytest.raises(
        ConnectionError, match=facts("toy_weights==1.0", "ERROR", "pip download --no-deps", "PIP_FIND_LINKS")
    ):
        fetch(toy, tmp_path / "data")
    assert names_below(tmp_path / "data") == []


def test_without_pip_the_error_says_how_to_get_it(toy, tmp_path, monkeypatch):
    monkeypatch.setattr(packages.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match=facts("pip", "ensurepip")):
        fetch(toy, tmp_path / "data")


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ({"toy_weights/data/w.bin": 7}, ("w.bin", 25_600, 7)),
        ({"toy_weights/data/absent.bin": 7}, ("absent.bin", WHEEL)),
    ],
)
def test_members_that_differ_are_refused(toy, tmp_path, members, said):
    with pytest.raises(ValueError, match=facts(*said)):
        unpack(tmp_path / "shelf" / WHEEL, replace(toy, members=members), tmp_path / "files")


def test_a_member_outside_its_folder_lands_in_it(toy, tmp_path):
    unpack(tmp_path / "shelf" / WHEEL, replace(toy, members={"../../evil.bin": 4}), tmp_path / "files")
    assert names_below(tmp_path) == ["files/LICENCE.txt", "files/evil.bin", f"shelf/{WHEEL}"]


def test_a_file_that_is_no_wheel_is_refused(toy, tmp_path):
    (tmp_path / WHEEL).write_bytes(b"<html>sign in</html>")
    with pytest.raises(ValueError, match=facts(WHEEL)):
        unpack(tmp_path / WHEEL, toy, tmp_path / "files")


def test_weights_are_fetched_and_not_loaded():
    with pytest.raises(ValueError, match=facts("'ffhq'", "gan-manifold", "shapes-xy")):
        datasets.load("ffhq")


def test_every_package_is_pinned():
    assert {entry.name for entry in registry.WEIGHTS} | {"dsprites", "place-cells"} == set(registry.PACKAGES)
    for package in registry.PACKAGES.values():
        assert package.requirement.count("==") == 1
        assert len(package.sha256) == 64
        assert all(size > 0 for size in package.members.values())
        assert package.licence
