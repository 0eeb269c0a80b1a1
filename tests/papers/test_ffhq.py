"""The generator of faces: its W space, its images and what is kept of them, with small networks in its place."""

import importlib.util
import sqlite3
import subprocess
import sys

import numpy as np
import pytest

from tests.facts import facts
from unbraid import datasets
from unbraid.datasets.packages import Package
from unbraid.datasets.storage import data_folder
from unbraid_papers.generators import ffhq, manifold

SPREAD = np.array([5, 9, 3, 2, 1, 1], np.float32)  # of w along its axes: components 0 and 1 are the axes 1 and 0
MIDDLE = np.arange(6, dtype=np.float32)
SIDE = 8


def tiny_mapping(z):
    return MIDDLE + SPREAD * z


def tiny_synthesis(w):
    """Red and green rise with axes 1 and 0 of w, blue from the left to the right."""
    flat = np.ones((SIDE, SIDE), np.float32)
    ramp = np.linspace(-1, 1, SIDE, dtype=np.float32) * flat
    return np.stack([flat * (w[0, 1] - MIDDLE[1]) / 36, flat * (w[0, 0] - MIDDLE[0]) / 20, ramp])[None]


class Networks:
    """Stands for what OpenVINO compiles; counts the images that are drawn, and can fail before one of them."""

    def __init__(self):
        self.drawn, self.fails_at = 0, None

    def compiled(self, path, rows=1):
        return tiny_mapping if path.name == "MappingNetwork.xml" else self.synthesis

    def synthesis(self, w):
        if self.drawn == self.fails_at:
            raise KeyboardInterrupt
        self.drawn += 1
        return tiny_synthesis(w)


@pytest.fixture
def networks(tmp_path, monkeypatch):
    members = {f"random_face/data/{name}Network.xml": 1 for name in ("Mapping", "Synthesis")}
    package = Package("random_face==0", "0" * 64, members, "for tests")
    for path in package.paths(tmp_path):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"x")
    made = Networks()
    monkeypatch.setattr(ffhq, "PACKAGE", package)
    monkeypatch.setattr(ffhq, "compiled", made.compiled)
    monkeypatch.setattr(ffhq.FFHQ, "latent_size", 6)
    monkeypatch.setattr(ffhq.FFHQ, "image_size", SIDE)
    monkeypatch.setattr(manifold, "KEPT_SIZE", 4)
    monkeypatch.setenv("UNBRAID_DATA", str(tmp_path))
    return made


def faces(**options):
    return datasets.load("gan-manifold", generator="ffhq", **{"image_size": 4, "n_samples": 2000} | options)


def test_factors_are_standard_deviations_along_principal_directions_of_w(networks):
    found = faces(n_samples=None)
    assert found.factor_names == ("component_0", "component_1")
    assert found.directions.scales == pytest.approx([9, 5], rel=0.02)  # 20,000 vectors: 0.5 % each
    assert np.abs(found.directions.components) == pytest.approx(np.eye(6)[[1, 0]], abs=0.05)
    assert found.centre == pytest.approx(MIDDLE, abs=0.25)
    X = found.observe([[-2, 0], [2, 0], [0, 2]])
    assert X.shape == (3, 4, 4, 3)
    # 18 of 36 to either side of grey, and 10 of 20: three quarters bright; blue by means of two columns
    red, green = X[:, 0, 0, 0], X[:, 0, 0, 1]
    assert red == pytest.approx([0.25, 0.75, 0.5], abs=0.03)
    assert green == pytest.approx([0.5, 0.5, 0.75], abs=0.03)
    blue = (np.linspace(-1, 1, SIDE).reshape(4, 2).mean(axis=1) + 1) / 2
    assert X[..., 2] == pytest.approx(np.broadcast_to(blue, (3, 4, 4)), abs=0.5 / 255)


def test_an_image_is_drawn_once_at_any_size_and_in_any_sample(networks):
    few, _ = faces().sample(3, random_state=0)
    assert networks.drawn == 1 + 3  # the centre gives the shape
    more, _ = faces().sample(5, random_state=0)
    assert networks.drawn == 1 + 5
    assert np.array_equal(more[:3], few)
    small, _ = faces(image_size=2).sample(5, random_state=0)
    assert networks.drawn == 1 + 5
    assert small == pytest.approx(more.reshape(5, 2, 2, 2, 2, 3).mean(axis=(2, 4)), abs=1e-6)
    large, _ = faces(image_size=8).sample(5, random_state=0)
    assert networks.drawn == 2 * (1 + 5)
    assert large.shape == (5, 8, 8, 3)


def test_an_interrupted_sample_goes_on_where_it_was(networks):
    found = faces()
    networks.fails_at = 4
    with pytest.raises(KeyboardInterrupt):
        found.sample(6, random_state=0)
    networks.fails_at = None
    assert (found.n_drawn(6, random_state=0), found.n_drawn(2, random_state=0)) == (3, 2)
    found.sample(6, random_state=0)
    assert networks.drawn == 1 + 6
    assert found.n_drawn(6, random_state=0) == 6


def test_images_are_kept_where_the_caller_says(networks, tmp_path):
    faces(cache=tmp_path / "mine").sample(2, random_state=0)
    with sqlite3.connect(tmp_path / "mine" / "ffhq-4.sqlite") as store:
        assert store.execute("SELECT COUNT(*), MIN(LENGTH(pixels)) FROM images").fetchone() == (3, 48)
    store.close()
    assert not (tmp_path / "rendered").exists()
    (tmp_path / "mine" / "ffhq-4.sqlite").write_bytes(b"not a database, but long enough to be read as one" * 50)
    with pytest.raises(ValueError, match=facts("ffhq-4.sqlite", "delete", "cache=")):
        faces(cache=tmp_path / "mine")
    (tmp_path / "other" / "ffhq-4.sqlite").mkdir(parents=True)
    with pytest.raises(ValueError, match=facts("ffhq-4.sqlite", "cache=")):
        faces(cache=tmp_path / "other")


def test_errors_say_what_to_do(networks, tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=facts("'cat'", "'ffhq'", "weights=")):
        datasets.load("gan-manifold", generator="cat")
    with pytest.raises(ValueError, match=facts("image_size=3", SIDE)):
        faces(image_size=3)
    monkeypatch.setenv("UNBRAID_DATA", str(tmp_path / "elsewhere"))
    with pytest.raises(
        FileNotFoundError, match=facts("'ffhq'", str(tmp_path / "elsewhere"), "unbraid datasets get ffhq")
    ):
        faces()


def test_without_openvino_the_error_names_the_extra(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "openvino", None)
    with pytest.raises(ModuleNotFoundError, match=facts("openvino", "pip install 'unbraid[faces]'")):
        ffhq.compiled(tmp_path / "network.xml")


# In a process of its own: OpenVINO may switch on AMX; a signal then needs more stack than pytest's faulthandler has.
NETWORK = """
import sys
from pathlib import Path
import numpy as np, openvino
from unbraid_papers.generators import ffhq

ops, path = openvino.opset13, Path(sys.argv[1])
z = ops.parameter([1, 3], np.float32)
weight = np.array([[1, 0], [2, 1], [0, -1]], np.float32)
graph = openvino.Model([ops.tanh(ops.matmul(z, ops.constant(weight), False, False))], [z])
openvino.save_model(graph, path, compress_to_fp16=False)
rows = np.array([[1.0, 0.5, -1.0], [0.0, 1.0, 2.0]], np.float32)
for number in (2, ffhq.ANY_NUMBER):
    np.testing.assert_allclose(ffhq.compiled(path, number)(rows), np.tanh(rows @ weight), atol=1e-6)
"""
REAL = """
import numpy as np, openvino, torch
from unbraid_papers.generators import ffhq

torch.set_num_threads(1)
faces = ffhq.FFHQ()
settings = {"INFERENCE_NUM_THREADS": 1, "INFERENCE_PRECISION_HINT": "f32"}
exported = openvino.Core().compile_model(faces._files["SynthesisNetwork.xml"], "CPU", settings)
for w in faces.mapping(torch.randn(3, 512, generator=torch.Generator().manual_seed(0))):
    image = faces.synthesis(w[None]).numpy()
    assert image.std() > 0.2
    np.testing.assert_allclose(image, exported(w[None].numpy())[0], atol=1e-3)  # an eighth of a step of bytes
"""


def test_a_network_of_openvino_gives_what_its_graph_says(tmp_path):
    if importlib.util.find_spec("openvino") is None:
        pytest.skip("openvino is not installed")
    subprocess.run([sys.executable, "-c", NETWORK, tmp_path / "network.xml"], check=True)


def test_faces_are_those_of_the_network_as_exported():
    if importlib.util.find_spec("openvino") is None or not ffhq.PACKAGE.is_here(data_folder()):
        pytest.skip("openvino or the weights of ffhq are not here")
    subprocess.run([sys.executable, "-c", REAL], check=True)


def test_the_matrix_of_haar_undoes_its_transform():
    bands = np.random.default_rng(0).standard_normal((4 * 5, 1))
    image = (ffhq.haar_matrix(5) @ bands).reshape(2, 2, 5)  # row, column, channel
    low, details = bands[:5, 0], bands[5:].reshape(5, 3).T
    assert image.sum(axis=(0, 1)) / 2 == pytest.approx(low, abs=1e-6)
    assert (image[0] - image[1]).sum(axis=0) / 2 == pytest.approx(details[0], abs=1e-6)
    assert (image[:, 0] - image[:, 1]).sum(axis=0) / 2 == pytest.approx(details[1], abs=1e-6)
    assert (image[0, 0] - image[0, 1] - image[1, 0] + image[1, 1]) / 2 == pytest.approx(details[2], abs=1e-6)
