"""Loaders of the original files: what they read, and the error for each way a file can be wrong."""

import gzip

import h5py
import numpy as np
import pytest

from tests.datasets import originals
from tests.facts import facts
from unbraid import datasets


@pytest.mark.parametrize("write", [originals.dsprites_npz, originals.dsprites_hdf5])
def test_dsprites_file(write, tmp_path):
    path, images = write(tmp_path)
    data = datasets.load("dsprites", file=path)
    assert data.factor_sizes == (3, 2, 2, 2, 2)
    assert np.array_equal(data.observe(originals.grid(3, 2, 2, 2, 2)), images)
    assert datasets.load("dsprites", file=path, dtype="uint8").rows([5])[0].max() == 255


def test_shapes3d_file(tmp_path):
    images = originals.shapes3d(tmp_path)
    data = datasets.load("shapes3d", folder=tmp_path)
    assert data.factor_sizes == (2, 2, 3, 2, 2, 2)
    assert np.array_equal(data.observe([[1, 0, 2, 1, 0, 1]])[0], images[1 * 48 + 2 * 8 + 5])
    assert np.array_equal(np.concatenate([X for X, _ in data.blocks(7)]), images)


def test_mpi3d_file(tmp_path):
    images = originals.mpi3d(tmp_path, "mpi3d_toy.npz")
    data = datasets.load("mpi3d-toy", folder=tmp_path, factor_sizes=(2, 2, 2, 3, 2, 1, 2))
    assert np.array_equal(data.rows(np.arange(96))[0], images)
    with pytest.raises(ValueError, match=facts((96, 64, 64, 3), "1036800, 460800")):
        datasets.load("mpi3d-toy", folder=tmp_path)
    originals.mpi3d(tmp_path, "mpi3d_real.npz", images.reshape(2, 2, 2, 3, 2, 1, 2, 64, 64, 3))
    nested = datasets.load("mpi3d-real", folder=tmp_path, factor_sizes=(2, 2, 2, 3, 2, 1, 2))
    assert np.array_equal(nested.rows([95, 0, 50])[0], images[[95, 0, 50]])


def test_cars3d_files(tmp_path):
    cars = originals.cars3d(tmp_path)
    data = datasets.load("cars3d", folder=tmp_path, image_size=128)
    assert data.factor_sizes == (4, 24, 3)
    assert np.array_equal(data.observe([[3, 17, 1]])[0], cars[1, :, :, :, 17, 3])
    assert datasets.load("cars3d", folder=tmp_path).shape == (64, 64, 3)


def test_smallnorb_files(tmp_path):
    kept = originals.smallnorb(tmp_path)
    data = datasets.load("smallnorb", folder=tmp_path, image_size=96)
    assert data.factor_sizes == (2, 4, 3, 2, 2)
    # toys 0, 1 (test) and 4, 6 (train) become instances 0 to 3
    images, table = kept["training"]
    row = np.flatnonzero((table == [1, 6, 2, 2, 0]).all(axis=1))[0]
    assert np.array_equal(data.observe([[1, 3, 2, 1, 0]])[0], images[row, 0])
    assert len(datasets.load("smallnorb", folder=tmp_path, split="test")) == 48
    with pytest.raises(ValueError, match=facts("split", "all, train, test", "'both'")):
        datasets.load("smallnorb", folder=tmp_path, split="both")


def test_mnist_files(tmp_path, shared):
    images, labels = originals.mnist(tmp_path)
    data = datasets.load("mnist", split="test", folder=tmp_path)
    X, factors, y = data.sample_conditional(60, random_state=0)
    rows = np.array([np.flatnonzero((images == x).all(axis=(1, 2)))[0] for x in X])
    assert sorted(rows) == list(range(60))
    assert np.array_equal(labels[rows], y)
    assert np.array_equal(factors[:, 0], y)
    assert np.array_equal(data.observe([[3]])[0], images[3])
    real = shared.path("data/mnist")
    if real is not None:
        train = datasets.load("mnist", folder=real)
        assert len(train) == 60_000
        assert train.factors_at(np.arange(5))[:, 0].tolist() == [5, 0, 4, 1, 9]


@pytest.mark.parametrize(("subset", "classes", "first"), [("digits", 10, 0), ("letters", 26, 1), ("balanced", 47, 0)])
def test_emnist_is_put_upright(subset, classes, first, tmp_path):
    images, labels = originals.emnist(tmp_path, subset, classes, first)
    data = datasets.load(f"emnist-{subset}", folder=tmp_path)
    assert data.factor_sizes == (classes,)
    assert np.array_equal(data.rows([7])[0][0], images[7].T)
    assert data.factors_at([7])[0, 0] == labels[7] - first


def test_celeba_folder(tmp_path):
    attributes = originals.celeba(tmp_path)
    data = datasets.load("celeba", folder=tmp_path)
    assert data.factor_names == ("Bald", "Hat", "Smiling", "Young")
    assert data.shape == (64, 64, 3)
    assert np.array_equal(data.factors_at(np.arange(50)), attributes > 0)
    assert datasets.load("celeba", folder=tmp_path, image_size=None).rows([0])[0].shape == (1, 218, 178, 3)
    table = tmp_path / "list_attr_celeba.txt"
    table.write_text("\n".join(table.read_text().splitlines()[:-9]))
    with pytest.raises(ValueError, match=facts("list_attr_celeba.txt", 50, 41)):
        datasets.load("celeba", folder=tmp_path)


@pytest.mark.parametrize("name", ["shapes3d", "cars3d", "smallnorb", "mpi3d-real", "mnist", "emnist-digits", "celeba"])
def test_a_missing_file_says_what_to_put_where(name, tmp_path):
    with pytest.raises(FileNotFoundError, match=facts(str(tmp_path), "UNBRAID_DATA", "folder=")):
        datasets.load(name, folder=tmp_path)


def test_missing_key(tmp_path):
    with h5py.File(tmp_path / "3dshapes.h5", "w") as file:
        file["pictures"] = np.zeros((2, 64, 64, 3))
    with pytest.raises(ValueError, match=facts("3dshapes.h5", "'images'", "pictures")):
        datasets.load("shapes3d", folder=tmp_path)


def test_wrong_shape(tmp_path):
    with h5py.File(tmp_path / "3dshapes.h5", "w") as file:
        file["images"], file["labels"] = np.zeros((8, 64, 64, 3)), np.zeros((7, 6))
    with pytest.raises(ValueError, match=facts("3dshapes.h5", (8, 64, 64, 3), (480000, 64, 64, 3))):
        datasets.load("shapes3d", folder=tmp_path)
    with h5py.File(tmp_path / "3dshapes.h5", "w") as file:
        file["images"], file["labels"] = np.zeros((8, 64, 64, 3)), np.zeros((8, 6))
    with pytest.raises(ValueError, match=facts("3dshapes.h5", (8, 6), (1, 1, 1, 1, 1, 1))):
        datasets.load("shapes3d", folder=tmp_path)


def test_truncated_files(tmp_path):
    originals.mpi3d(tmp_path, "mpi3d_toy.npz")
    originals.smallnorb(tmp_path)
    originals.mnist(tmp_path)
    path = tmp_path / "mpi3d_toy.npz"
    path.write_bytes(path.read_bytes()[:-5000])
    with pytest.raises(ValueError, match=facts("mpi3d_toy.npz", "zip")):
        datasets.load("mpi3d-toy", folder=tmp_path, factor_sizes=(2, 2, 2, 3, 2, 1, 2))
    path = tmp_path / "smallnorb-5x01235x9x18x6x2x96x96-testing-dat.mat"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ValueError, match=facts("-dat.mat", 884736, 884636)):
        datasets.load("smallnorb", folder=tmp_path)
    path = tmp_path / "train-images-idx3-ubyte.gz"
    whole = path.read_bytes()
    path.write_bytes(gzip.compress(gzip.decompress(whole)[:-3]))
    with pytest.raises(ValueError, match=facts("train-images-idx3-ubyte.gz", 47040, 47037)):
        datasets.load("mnist", folder=tmp_path)
    path.write_bytes(whole[:-100])
    with pytest.raises(ValueError, match=facts("train-images-idx3-ubyte.gz", "end-of-stream")):
        datasets.load("mnist", folder=tmp_path)
