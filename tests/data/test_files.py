"""The user's own files: what is read equals what was written, and broken files say what is wrong."""

import tarfile

import h5py
import numpy as np
import pytest
import zarr
from PIL import Image

from tests.facts import facts
from unbraid import datasets

X = np.random.default_rng(0).integers(0, 255, (25, 6, 5, 3), dtype=np.uint8)


def write_npy(folder):
    np.save(folder / "a.npy", X)
    return folder / "a.npy", {}


def write_npz(folder):
    np.savez(folder / "a.npz", images=X, labels=np.arange(25))
    return folder / "a.npz", {"key": "images"}


def write_compressed_npz(folder):
    np.savez_compressed(folder / "c.npz", X)
    return folder / "c.npz", {}


def write_hdf5(folder):
    with h5py.File(folder / "a.h5", "w") as file:
        file["train/images"] = X
        file["labels"] = np.arange(25)
    return folder / "a.h5", {"key": "train/images"}


def write_zarr(folder):
    group = zarr.open_group(folder / "a.zarr", mode="w")
    array = group.create_array("images", shape=X.shape, dtype=X.dtype, chunks=(10, 6, 5, 3))
    array[:] = X
    return folder / "a.zarr", {}


def write_folder(folder):
    for i, image in enumerate(X):
        Image.fromarray(image).save(folder / f"frame{i}.png")
    return folder, {}


def write_tar(folder, name="a.tar", mode="w"):
    (folder / "in").mkdir()
    write_folder(folder / "in")
    with tarfile.open(folder / name, mode) as archive:
        archive.add(folder / "in", "in")
    return folder / name, {}


def write_compressed_tar(folder):
    return write_tar(folder, "a.tar.gz", "w:gz")


WRITERS = [
    write_npy,
    write_npz,
    write_compressed_npz,
    write_hdf5,
    write_zarr,
    write_folder,
    write_tar,
    write_compressed_tar,
]


@pytest.mark.parametrize("write", WRITERS)
def test_what_is_read_is_what_was_written(write, tmp_path):
    path, options = write(tmp_path)
    source = datasets.open(path, **options)
    assert (source.shape, source.dtype, len(source), source.ndim) == (X.shape, X.dtype, 25, 4)
    assert np.array_equal(np.concatenate(list(source.blocks(7))), X)
    assert np.array_equal(np.asarray(source), X)
    assert np.array_equal(source[3:9], X[3:9])
    assert np.array_equal(source[[9, 2, 2]], X[[9, 2, 2]])
    assert np.array_equal(source[-1], X[-1])
    assert source[5:5].shape == (0, 6, 5, 3)


def test_arrays_are_mapped_not_read(tmp_path):
    write_npz(tmp_path)
    read = datasets.open(tmp_path / "a.npz", "images")._read
    assert isinstance(read(np.array([0])), np.memmap) or isinstance(read.__closure__[0].cell_contents, np.memmap)


def test_torch_data_set_and_array():
    import torch

    class Pairs(torch.utils.data.Dataset):
        def __len__(self):
            return len(X)

        def __getitem__(self, i):
            return torch.from_numpy(X[i]).permute(2, 0, 1), i

    assert np.array_equal(np.asarray(datasets.open(Pairs())), X)
    assert np.array_equal(datasets.open(X)[2:4], X[2:4])
    with pytest.raises(TypeError, match=facts("int", ".npy", "torch")):
        datasets.open(3)


@pytest.mark.parametrize("write", [write_npz, write_hdf5])
def test_a_missing_key_lists_the_keys(write, tmp_path):
    path, options = write(tmp_path)
    with pytest.raises(ValueError, match=facts(path.name, options["key"], "labels")):
        datasets.open(path)
    with pytest.raises(ValueError, match=facts(path.name, "'pixels'", options["key"])):
        datasets.open(path, key="pixels")


@pytest.mark.parametrize("name", ["a.npy", "a.npz", "a.h5", "a.tar"])
def test_empty_and_damaged_files(name, tmp_path):
    path = tmp_path / name
    path.touch()
    with pytest.raises(ValueError, match=facts(path.name, 0)):
        datasets.open(path)
    path.write_bytes(b"these are no arrays" * 100)
    with pytest.raises(ValueError, match=facts(path.name)):
        datasets.open(path)


@pytest.mark.parametrize("write", [write_npy, write_npz, write_hdf5])
def test_truncated_files(write, tmp_path):
    path, options = write(tmp_path)
    path.write_bytes(path.read_bytes()[:-700])
    with pytest.raises(ValueError, match=facts(path.name)):
        datasets.open(path, **options)


def test_unreadable_image_is_named_and_can_be_left_out(tmp_path):
    write_folder(tmp_path)
    (tmp_path / "frame7.png").write_bytes(b"no picture")
    with pytest.raises(ValueError, match=facts("frame7.png", "skip_unreadable=True")):
        np.asarray(datasets.open(tmp_path))
    rest = datasets.open(tmp_path, skip_unreadable=True)
    assert np.array_equal(np.asarray(rest), np.delete(X, 7, axis=0))


def test_images_of_different_sizes(tmp_path):
    write_folder(tmp_path)
    Image.fromarray(X[0]).resize((10, 12)).save(tmp_path / "frame3.png")
    with pytest.raises(ValueError, match=facts("frame3.png", (12, 10), "resize=")):
        np.asarray(datasets.open(tmp_path))
    assert np.asarray(datasets.open(tmp_path, resize=(4, 8))).shape == (25, 4, 8, 3)


def test_colour_among_grey_images(tmp_path):
    Image.fromarray(X[0, :, :, 0]).save(tmp_path / "1.png")
    assert datasets.open(tmp_path).shape == (1, 6, 5)
    Image.fromarray(X[1]).save(tmp_path / "2.png")
    with pytest.raises(ValueError, match=facts("2.png", "grey")):
        np.asarray(datasets.open(tmp_path))


def test_what_cannot_be_opened(tmp_path):
    with pytest.raises(FileNotFoundError, match=facts("none.npy", ".npy", ".npz")):
        datasets.open(tmp_path / "none.npy")
    with pytest.raises(ValueError, match=facts(str(tmp_path), ".png")):
        datasets.open(tmp_path)
    (tmp_path / "a.docx").write_text("text")
    with pytest.raises(ValueError, match=facts("a.docx", "'.docx'")):
        datasets.open(tmp_path / "a.docx")
    np.save(tmp_path / "o.npy", np.array([{}, 1], dtype=object))
    with pytest.raises(ValueError, match=facts("o.npy", "pickle")):
        datasets.open(tmp_path / "o.npy")
    np.save(tmp_path / "e.npy", np.empty((0, 4)))
    with pytest.raises(ValueError, match=facts("e.npy", (0, 4))):
        datasets.open(tmp_path / "e.npy")
    np.save(tmp_path / "k.npy", np.zeros(3))
    with pytest.raises(ValueError, match=facts("k.npy", "key")):
        datasets.open(tmp_path / "k.npy", key="x")
