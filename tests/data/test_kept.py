"""Rows are read once: in memory, or in a file that goes away."""

import gc

import numpy as np
import pytest
from PIL import Image

import unbraid as ub
from unbraid.data import images, pictures


@pytest.fixture
def decoded(monkeypatch):
    """Names of the files that are decoded, in order."""
    names = []
    decode = images.decode
    monkeypatch.setattr(images, "decode", lambda file, name: names.append(name) or decode(file, name))
    return names


def write_photos(folder, count, size=8):
    folder.mkdir()
    rng = np.random.default_rng(0)
    for i in range(count):
        Image.fromarray(rng.integers(0, 255, (size, size), dtype=np.uint8)).save(folder / f"{i:03d}.png")
    return folder


def test_every_picture_is_decoded_once(tmp_path, decoded):
    source = ub.datasets.open(write_photos(tmp_path / "photos", 20))
    some, whole, again = source[[3, 1, 3]], source[:], np.asarray(source)
    assert np.array_equal(some, whole[[3, 1, 3]])
    assert np.array_equal(whole, again)
    assert sorted(decoded) == sorted({f"{i:03d}.png" for i in range(20)})


@pytest.mark.parametrize("skip_unreadable", [False, True])
def test_stacks_and_doubtful_files_are_decoded_once(tmp_path, decoded, skip_unreadable):
    folder = write_photos(tmp_path / "photos", 3)
    frames = [Image.fromarray(np.full((8, 8), value, np.uint8)) for value in (10, 20, 30)]
    frames[0].save(folder / "stack.tif", save_all=True, append_images=frames[1:])
    if skip_unreadable:
        (folder / "broken.png").write_bytes(b"not a picture")
    source = ub.datasets.open(folder, skip_unreadable=skip_unreadable)
    assert source[:].shape[0] == 6
    assert len(source[[5, 0]]) == 2
    assert len(decoded) == len(set(decoded)) == (5 if skip_unreadable else 4)


def test_beyond_the_budget_rows_lie_in_a_file_that_is_removed(tmp_path, monkeypatch, decoded):
    monkeypatch.setattr(images, "MEMORY_BUDGET", 100)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(images.tempfile, "tempdir", None)
    source = ub.datasets.open(write_photos(tmp_path / "photos", 5))
    assert isinstance(source._read.rows, np.memmap)
    (folder,) = tmp_path.glob("unbraid-*")
    assert np.array_equal(source[:], source[:])
    assert len(decoded) == 5
    del source
    gc.collect()
    assert not folder.exists()


def test_a_picture_that_cannot_be_read_is_not_kept(tmp_path):
    folder = write_photos(tmp_path / "photos", 3)
    (folder / "001.png").write_bytes(b"not a picture")
    source = ub.datasets.open(folder)
    for _ in range(2):
        with pytest.raises(ValueError, match=r"001\.png"):
            source[:]
    assert pictures.decode(folder / "002.png", "002.png").shape == (1, 8, 8)
