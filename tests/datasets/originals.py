"""Small files in the formats of the original data sets, for the tests of their loaders."""

import gzip
import struct
import zipfile

import h5py
import numpy as np
from PIL import Image

RNG = np.random.default_rng(0)


def pixels(*shape):
    return RNG.integers(0, 256, shape, dtype=np.uint8)


def grid(*sizes):
    return np.stack(np.unravel_index(np.arange(np.prod(sizes)), sizes), axis=1)


def dsprites_npz(folder):
    classes = np.c_[np.zeros(48, int), grid(3, 2, 2, 2, 2)]
    images = RNG.integers(0, 2, (48, 64, 64), dtype=np.uint8)
    order = RNG.permutation(48)  # the loader goes by the classes, not by the order
    path = folder / "dsprites_ndarray_co1sh3sc6or40x32y32_64x64.npz"
    pickled = np.array({"author": "an object, which is never unpickled"}, dtype=object)
    np.savez_compressed(path, imgs=images[order], latents_classes=classes[order], metadata=pickled)
    return path, images


def dsprites_hdf5(folder):
    images = RNG.integers(0, 2, (48, 64, 64), dtype=np.uint8)
    path = folder / "dsprites_ndarray_co1sh3sc6or40x32y32_64x64.hdf5"
    with h5py.File(path, "w") as file:
        file["imgs"] = images
        file["latents/classes"] = np.c_[np.zeros(48, int), grid(3, 2, 2, 2, 2)]
    return path, images


def shapes3d(folder):
    labels = grid(2, 2, 3, 2, 2, 2)
    images = pixels(len(labels), 64, 64, 3)
    with h5py.File(folder / "3dshapes.h5", "w") as file:
        file["images"], file["labels"] = images, labels * 0.1
    return images


def mpi3d(folder, name, images=None):
    images = pixels(96, 64, 64, 3) if images is None else images
    np.savez_compressed(folder / name, images=images)
    return images


def cars3d(folder):
    from scipy.io import savemat

    place = folder / "cars"
    place.mkdir()
    cars = pixels(3, 128, 128, 3, 24, 4)
    for i, car in enumerate(cars):
        savemat(place / f"car_{i:03d}_mesh.mat", {"im": car})
    return cars


def smallnorb(folder):
    """Two categories, two toys per split, three elevations, two azimuths, two lights; .gz in one split."""
    kept = {}
    for part, toys, ending in (("training", "46789", ".mat.gz"), ("testing", "01235", ".mat")):
        stem = f"smallnorb-5x{toys}x9x18x6x2x96x96-{part}"
        table = grid(2, 2, 3, 2, 2)
        order = RNG.permutation(len(table))
        table = table[order]
        table[:, 1] = np.array([int(toys[0]), int(toys[1])])[table[:, 1]]
        table[:, 3] *= 2
        images = pixels(len(table), 2, 96, 96)
        for kind, array, code in (
            ("dat", images, 0x1E3D4C55),
            ("cat", table[:, 0].astype("<i4"), 0x1E3D4C54),
            ("info", np.ascontiguousarray(table[:, 1:].astype("<i4")), 0x1E3D4C54),
        ):
            path = folder / f"{stem}-{kind}{ending}"
            header = struct.pack("<ii", code, array.ndim)
            sizes = [*array.shape, *[1] * (3 - array.ndim)]
            data = header + struct.pack(f"<{len(sizes)}i", *sizes) + array.tobytes()
            path.write_bytes(gzip.compress(data) if ending.endswith(".gz") else data)
        kept[part] = images, table
    return kept


def idx(array):
    return bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape) + array.tobytes()


def mnist(folder):
    images, labels = pixels(60, 28, 28), np.arange(60, dtype=np.uint8) % 10
    for stem in ("train", "t10k"):
        (folder / f"{stem}-images-idx3-ubyte.gz").write_bytes(gzip.compress(idx(images)))
        (folder / f"{stem}-labels-idx1-ubyte").write_bytes(idx(labels))
    return images, labels


def emnist(folder, subset, n_classes, first=0):
    images = pixels(60, 28, 28)
    labels = (np.arange(60) % n_classes + first).astype(np.uint8)
    with zipfile.ZipFile(folder / "gzip.zip", "w") as archive:
        for split in ("train", "test"):
            archive.writestr(f"gzip/emnist-{subset}-{split}-images-idx3-ubyte.gz", gzip.compress(idx(images)))
            archive.writestr(f"gzip/emnist-{subset}-{split}-labels-idx1-ubyte.gz", gzip.compress(idx(labels)))
    return images, labels


def celeba(folder):
    place = folder / "img_align_celeba"
    place.mkdir()
    attributes = RNG.choice([-1, 1], (50, 4))
    attributes[0] = 1
    lines = ["50", "Bald Hat Smiling Young"]
    for i, row in enumerate(attributes):
        Image.fromarray(pixels(218, 178, 3)).save(place / f"{i + 1:06d}.jpg")
        lines.append(f"{i + 1:06d}.jpg " + " ".join(f"{v:2d}" for v in row))
    (folder / "list_attr_celeba.txt").write_text("\n".join(lines) + "\n")
    return attributes


def place_cells(folder):
    """A minute on a Lissajous figure, fifty times a second, with a gap."""
    times = np.delete(np.arange(0, 60, 0.02), slice(500, 505))
    places = 0.5 + 0.45 * np.sin(times[:, None] * [0.31, 0.47])
    np.savez(folder / "sargolini.npz", t=times, pos=places)
    return times, places


def write(name, folder):
    """The files of one loaded data set; the options that load() needs for them."""
    options = {"folder": folder}
    if name == "place-cells":
        place_cells(folder)
        return {"file": folder / "sargolini.npz", "n_directions": 5}
    if name.startswith("emnist"):
        subset = name.removeprefix("emnist-")
        classes = {"letters": 26, "digits": 10, "mnist": 10}.get(subset, 47)
        emnist(folder, subset, classes, first=int(subset == "letters"))
    elif name.startswith("mpi3d"):
        file = {"mpi3d-complex": "real3d_complicated_shapes_ordered.npz"}.get(name, name.replace("-", "_") + ".npz")
        mpi3d(folder, file)
        options["factor_sizes"] = (2, 2, 2, 3, 2, 1, 2)
    else:
        {"shapes3d": shapes3d, "cars3d": cars3d, "smallnorb": smallnorb, "mnist": mnist, "celeba": celeba}[name](folder)
    return options
