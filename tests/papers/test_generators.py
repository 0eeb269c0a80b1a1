"""GANSpace against a linear generator, and the manifold of faces that the data set ``gan-manifold`` draws."""

import numpy as np
import pytest
import torch

from tests.facts import facts
from unbraid import datasets
from unbraid_papers.generators.dcgan import DCGANGenerator
from unbraid_papers.generators.ganspace import ganspace


def test_ganspace_finds_the_singular_vectors_of_a_linear_generator():
    weight = np.linalg.qr(np.random.default_rng(0).standard_normal((12, 12)))[0][:, :5] * [9, 5, 3, 2, 1]
    network = torch.nn.Linear(5, 12, bias=False)
    network.weight.data = torch.from_numpy(weight.astype(np.float32))
    found = ganspace(network, layer="", latent_size=5, n_samples=20_000, n_components=3)
    assert found.scales == pytest.approx([9, 5, 3], rel=0.03)
    unit = found.components * found.scales[:, None]
    assert np.abs(unit) == pytest.approx(np.eye(5)[:3], abs=0.05)
    mapped = ganspace(network, network, latent_size=5, n_samples=20_000, n_components=3)
    assert np.abs(mapped.components @ weight / mapped.scales[:, None]) == pytest.approx(np.eye(5)[:3], abs=0.05)
    with pytest.raises(ValueError, match=facts("layer", "'nose'")):
        ganspace(network, layer="nose", latent_size=5)


def test_gan_manifold_of_faces(shared, tmp_path):
    path = shared.path("data/generators/digiface_dcgan64.pt")
    if path is None:
        path = tmp_path / "small.pt"
        torch.save({"netG_state_dict": DCGANGenerator(width=4).state_dict()}, path)
    faces = datasets.load("gan-manifold", weights=path, components=(2, 0), n_samples=300)
    assert faces.factor_names == ("component_2", "component_0")
    assert faces.shape == (64, 64, 3)
    ends = faces.observe([[-2, 0], [0, 0], [2, 0]])
    assert np.abs(ends[0] - ends[2]).mean() > np.abs(ends[0] - ends[1]).mean() > 0
    # the centre is a latent vector of ordinary length, without a part along the two directions
    assert 6 < np.linalg.norm(faces.centre) < 13
    along = faces.directions.components[[2, 0]] @ (faces.centre - faces.directions.mean)
    assert along == pytest.approx(0, abs=1e-4)
    middle = datasets.load("gan-manifold", weights=path, n_samples=100, centre="mean")
    assert np.array_equal(middle.centre, middle.directions.mean)
    with pytest.raises(ValueError, match=facts("centre", (100,), "'nose'")):
        datasets.load("gan-manifold", weights=path, n_samples=100, centre="nose")
    with pytest.raises(ValueError, match=facts("'component_2'", "[-2, 2]", 3)):
        faces.observe([[3, 0]])
    with pytest.raises(FileNotFoundError, match=facts("none.pt", "StyleGAN2")):
        datasets.load("gan-manifold", weights=tmp_path / "none.pt")
    (tmp_path / "bad.pt").write_bytes(b"not weights")
    with pytest.raises(ValueError, match=facts("bad.pt", "UnpicklingError")):
        datasets.load("gan-manifold", weights=tmp_path / "bad.pt")
