"""Files that lie, lead elsewhere or never end: refused or warned of before they are read."""

import os
import shutil
import tarfile
import zipfile
from pathlib import Path

import h5py
import numpy as np
import pytest
import zarr
from PIL import Image, ImageOps

import unbraid as ub
from tests.facts import facts
from unbraid.data import files as places
from unbraid.data.frames import names_of, read_array
from unbraid.trust.warnings import DataWarning

X = np.random.default_rng(0).normal(size=(30, 3))
PICTURES = np.random.default_rng(0).integers(0, 256, size=(4, 6, 4), dtype=np.uint8)


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def strict(monkeypatch):
    """What is large is large from a kilobyte on, so that no test writes a gigabyte."""
    monkeypatch.setattr(places, "LARGE", 1000)


@pytest.mark.parametrize("kind", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_archives_that_grow_beyond_all_data_are_not_unpacked(kind, strict, monkeypatch):
    np.save("X.npy", np.zeros(300_000))
    with zipfile.ZipFile("a.npz", "w", kind) as archive:
        archive.write("X.npy")
    monkeypatch.setattr(zipfile.ZipExtFile, "read", None)  # it is refused by what it declares
    for opens in (ub.datasets.open, lambda name: read_array(Path(name))):
        with pytest.raises(ValueError, match=facts("a.npz", "packed", 200)):
            opens("a.npz")


def test_sound_archives_are_unpacked(strict):
    np.savez_compressed("a.npz", X=X)
    np.testing.assert_array_equal(ub.datasets.open("a.npz")[:], X)
    np.testing.assert_array_equal(read_array(Path("a.npz")), X)


def test_archives_that_do_not_fit_on_the_disk(strict, monkeypatch):
    np.savez_compressed("a.npz", X=np.tile(X, (20, 1)))
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(100, 90, 10))
    with pytest.raises(ValueError, match=facts("a.npz", "TMPDIR")):
        ub.datasets.open("a.npz")


def test_tars_that_never_end(strict):
    with open("0.bmp", "wb") as file:
        file.write(bytes(20_000_000))
    with tarfile.open("a.tar.gz", "w:gz") as archive:
        archive.add("0.bmp")
    with pytest.raises(ValueError, match=facts("a.tar.gz", "packed", 200)):
        ub.datasets.open("a.tar.gz")


@pytest.mark.parametrize("opens", [ub.datasets.open, *(lambda n, f=f: f(Path(n)) for f in (names_of, read_array))])
def test_pipes_and_devices_behind_the_name_of_a_table(opens):
    os.mkfifo("pipe.csv")
    os.symlink("/dev/zero", "zero.csv")
    for name in ("pipe.csv", "zero.csv"):
        with pytest.raises(ValueError, match=facts(name, "pipe", "device")):
            opens(name)


def write_zarr(name, version=3):
    array = zarr.open_array(name, mode="w", shape=X.shape, chunks=(10, 3), dtype="f8", zarr_format=version)
    array[:] = X
    return f"{name}/c/1/0" if version == 3 else f"{name}/1.0"


@pytest.mark.parametrize("version", [2, 3])
def test_chunks_that_are_no_files(version):
    chunk = write_zarr("a.zarr", version)
    np.testing.assert_array_equal(ub.datasets.open("a.zarr")[:], X)
    os.remove(chunk)
    with pytest.warns(DataWarning, match=facts("UB304", "1 of 3", "a.zarr")):
        ub.datasets.open("a.zarr")
    os.mkdir(chunk)
    with pytest.raises(ValueError, match=facts("a.zarr", "folder")):
        ub.datasets.open("a.zarr")
    os.rmdir(chunk)
    for make in (os.mkfifo, lambda name: os.symlink("/dev/zero", name)):
        make(chunk)
        with pytest.raises(ValueError, match=facts(chunk, "pipe", "device")):
            ub.datasets.open("a.zarr")
        os.remove(chunk)


def test_pipes_in_place_of_the_metadata_of_a_zarr():
    write_zarr("a.zarr")
    os.remove("a.zarr/zarr.json")
    os.mkfifo("a.zarr/zarr.json")
    with pytest.raises(ValueError, match=facts("zarr.json", "pipe")):
        ub.datasets.open("a.zarr")


def test_arrays_that_were_never_filled():
    """Their zeros would be read for days."""
    zarr.open_array("a.zarr", mode="w", shape=(10**10, 100), chunks=(10, 100), dtype="f8")
    with h5py.File("a.h5", "w") as file:
        file.create_dataset("X", shape=(10**12, 100), dtype="f4")
    with h5py.File("b.h5", "w") as file:
        file.create_dataset("X", shape=(10**12, 100), dtype="f4", chunks=(100, 100))
    for name in ("a.zarr", "a.h5", "b.h5"):
        with pytest.raises(ValueError, match=facts(name, "chunks")):
            ub.datasets.open(name)


def test_chunks_of_hdf5_that_were_never_written():
    with h5py.File("a.h5", "w") as file:
        file.create_dataset("X", shape=(100, 3), dtype="f4", chunks=(10, 3))[:20] = 1
        file.create_dataset("Y", shape=(100, 3), dtype="f4")
        file["Z"] = X
        file.create_dataset("W", data=X, chunks=(7, 2), compression="gzip")
    with pytest.warns(DataWarning, match=facts("UB304", "8 of 10", "a.h5")):
        ub.datasets.open("a.h5", "X")
    with pytest.warns(DataWarning, match=facts("UB304", "1 of 1", "a.h5")):
        ub.datasets.open("a.h5", "Y")
    for key in "ZW":
        np.testing.assert_array_equal(ub.datasets.open("a.h5", key)[:], X)


def virtual(name, source):
    layout = h5py.VirtualLayout(X.shape, "f8")
    layout[:] = h5py.VirtualSource(source, "X", X.shape)
    with h5py.File(name, "w") as file:
        file.create_virtual_dataset("X", layout)


def test_hdf5_that_takes_its_numbers_from_other_files():
    with open("secret", "wb") as file:
        file.write(bytes(800))
    with h5py.File("storage.h5", "w") as file:
        file.create_dataset("X", shape=(10, 10), dtype="f8", external=[("secret", 0, 800)])
    with h5py.File("part.h5", "w") as file:
        file["X"] = X
    virtual("whole.h5", "part.h5")
    virtual("broken.h5", "gone.h5")
    np.testing.assert_array_equal(ub.datasets.open("whole.h5")[:], X)
    with h5py.File("part.h5", "a") as file:
        file.move("X", "Y")
    for name, words in (("storage", ["secret"]), ("broken", ["gone.h5"]), ("whole", ["part.h5"])):
        with pytest.raises(ValueError, match=facts(f"{name}.h5", *words)):
            ub.datasets.open(f"{name}.h5")


@pytest.mark.parametrize("ending", [".mat", ".h5ad", ".nc"])
def test_links_to_other_files_in_what_is_hdf5_inside(ending):
    with h5py.File("part.h5", "w") as file:
        file["X"] = X
    with h5py.File(f"a{ending}", "w") as file:
        file["X"] = h5py.ExternalLink("part.h5", "X")
    with pytest.raises(ValueError, match=facts(f"a{ending}", "part.h5")):
        ub.datasets.open(f"a{ending}")
    with h5py.File("a.h5", "w") as file:
        file["X"] = h5py.ExternalLink("part.h5", "X")
    with pytest.raises(ValueError, match=facts("a.h5", "links")):
        ub.datasets.open("a.h5")


def test_links_in_a_tar_are_pictures():
    for i, picture in enumerate(PICTURES[:2]):
        Image.fromarray(picture).save(f"{i}.png")
    with tarfile.open("a.tar", "w") as archive:
        for i in range(2):
            archive.add(f"{i}.png", f"d/{i}.png")
        for i, (kind, target) in enumerate([(tarfile.LNKTYPE, "d/1.png"), (tarfile.SYMTYPE, "../d/2.png")], 2):
            link = tarfile.TarInfo(f"d/{i}.png")
            link.type, link.linkname = kind, target
            archive.addfile(link)
    np.testing.assert_array_equal(ub.datasets.open("a.tar")[:], PICTURES[[0, 1, 1, 1]])


@pytest.mark.parametrize("target", ["/etc/passwd", "../gone.png", "a.png"])
def test_links_that_lead_out_of_a_tar_or_in_a_circle(target):
    with tarfile.open("a.tar", "w") as archive:
        link = tarfile.TarInfo("a.png")
        link.type, link.linkname = tarfile.SYMTYPE, target
        archive.addfile(link)
    with pytest.raises(ValueError, match=facts("a.png", "a.tar", "tar --dereference")):
        ub.datasets.open("a.tar")


@pytest.mark.parametrize("ending", [".jpg", ".png", ".webp"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_pictures_are_upright(orientation, ending):
    exif = Image.Exif()
    exif[0x0112] = orientation
    Image.fromarray(PICTURES[0]).save(f"a{ending}", exif=exif)
    with Image.open(f"a{ending}") as image:
        expected = np.asarray(ImageOps.exif_transpose(image))
    found = ub.datasets.open(f"a{ending}")[0]
    assert found.shape[:2] == ((4, 6) if orientation > 4 else (6, 4))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    "name", ["{}\n.png", "a\n{}.png", "\N{GRINNING FACE}{}.png", "{}\N{GRINNING FACE}.png", "é{}.png"]
)
def test_odd_names_keep_the_natural_order(name):
    os.mkdir("d")
    for i in (3, 20, 100, 1):
        Image.fromarray(np.full((4, 4), i, np.uint8)).save(f"d/{name.format(i)}")
    with tarfile.open("a.tar", "w") as archive:
        archive.add("d")
    for source in ("d", "a.tar"):
        assert ub.datasets.open(source)[:][:, 0, 0].tolist() == [1, 3, 20, 100]


def test_names_that_are_not_utf8():
    os.mkdir("d")
    for i, picture in enumerate(PICTURES):
        Image.fromarray(picture).save(os.path.join(b"d", b"\xff%d.png" % i))
    np.testing.assert_array_equal(ub.datasets.open("d")[:], PICTURES)
    with open(b"d/\xff9.png", "wb") as file:
        file.write(b"no picture")
    with pytest.raises(ValueError, match=facts("udcff9.png", "d")) as caught:
        ub.datasets.open("d")[:]
    str(caught.value).encode()
    np.save(os.fsdecode(b"\xfe.npy"), X)
    with pytest.raises(ValueError, match="UTF-8") as caught:
        ub.datasets.open(os.fsdecode(b"\xfe.npy"))
    str(caught.value).encode()
