"""Decoders that are sums of parts."""

import warnings

import numpy as np
import pytest
import torch
from torch.autograd.functional import hessian as hessian_of

import unbraid as ub
from tests.facts import facts
from unbraid.networks.autoencoder import Additive
from unbraid.trust.warnings import AssumptionWarning, TrustWarning


@pytest.fixture(scope="module")
def objects():
    return ub.datasets.load("two-objects", image_size=16).sample(200, random_state=0)[0]


def test_the_decoder_is_the_sum_of_its_parts_and_has_no_cross_derivatives():
    torch.manual_seed(0)
    decoder = Additive(
        [torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3)) for _ in range(2)], 2
    )
    z = torch.randn(4)
    hessian = torch.stack([hessian_of(lambda z, i=i: decoder(z[None])[0, i], z) for i in range(3)])
    assert torch.count_nonzero(hessian[:, :2, 2:]) == 0  # the definition: d2 x / dz_B dz_B' = 0
    assert torch.count_nonzero(hessian[:, :2, :2]) > 0
    torch.testing.assert_close(decoder(z[None]), sum(decoder.parts_of(z[None])))


@pytest.mark.parametrize("name", ["AdditiveAutoencoder", "AdditiveVAE"])
def test_shares_and_decoding_follow_from_the_parts(name, objects):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = getattr(ub, name)(4, block_size=2, max_steps=60, random_state=0).fit(objects)
    codes = model.transform(objects)
    decoded = model.inverse_transform(codes)
    parts = [model.inverse_transform(np.where(np.arange(4) // 2 == b, codes, codes[:1])) for b in (0, 1)]
    shown = decoded[:1] + (parts[0] - decoded[:1]) + (parts[1] - decoded[:1])  # moved one block at a time
    inside = (decoded > 0) & (decoded < 1) & (parts[0] > 0) & (parts[1] > 0)  # pictures are clipped to [0, 1]
    assert inside.mean() > 0.1
    assert np.abs(shown - decoded)[inside & (decoded[:1] > 0)].max() < 1e-5
    total = objects.reshape(200, -1).var(axis=0, ddof=1).sum()
    error = np.square(objects - decoded).reshape(200, -1).mean(axis=0).sum()
    assert model.explained_ == pytest.approx(1 - error / total, abs=0.05)  # clipping aside


def test_a_short_training_is_warned_of(objects):
    with pytest.warns((AssumptionWarning, TrustWarning), match="UB130"):
        model = ub.AdditiveAutoencoder(2, max_steps=3, random_state=0).fit(objects)
    assert any("UB130" in text for text in model.summary().concerns)


def test_the_start_with_the_lowest_loss_is_trained_on(objects, monkeypatch):
    seen = []
    train = ub.Autoencoder._train

    def noted(self, networks, *rest):
        seen.append(networks["encoder"][1].weight.detach().clone())
        train(self, networks, *rest)

    monkeypatch.setattr(ub.Autoencoder, "_train", noted)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one, six, again = (
            ub.AdditiveAutoencoder(2, n_init=n_init, max_steps=40, random_state=3).fit(objects).history_[-1]["loss"]
            for n_init in (1, 6, 6)
        )
    assert six < one  # it had a start, and the best of six
    assert torch.equal(seen[1], seen[2])
    assert not torch.equal(seen[0], seen[1])
    assert again == six


def test_blocks_must_fit(objects):
    with pytest.raises(ValueError, match=facts("n_factors", 3, "block_size", 2)):
        ub.AdditiveAutoencoder(3, block_size=2).fit(objects)


def test_objects_are_sums_and_the_corner_is_missing():
    both = ub.datasets.load("two-objects", objects=("square", "ring"), moves="freely", support="corner")
    factors = both.sample_factors(500, random_state=0)
    assert not both.unseen(factors).any()
    assert (factors[:, 0] > 0.5).any()
    X = both.observe(factors[:1])
    moved = factors[:1].copy()
    moved[:, 2:] = 1 - moved[:, 2:]
    other = both.observe(moved)
    assert np.array_equal(X[:, :, :16], other[:, :, :16])  # each object stays in its half
    assert not np.array_equal(X[:, :, 16:], other[:, :, 16:])
    for bad in ({"objects": ("cube", "ball")}, {"moves": "down"}, {"support": "none"}):
        with pytest.raises(ValueError, match=facts(*bad)):
            ub.datasets.load("two-objects", **bad)
