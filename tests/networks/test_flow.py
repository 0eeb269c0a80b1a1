"""Flows: inverse, Jacobian against autograd, volume, parameter counts, the fused kernel; at random weights."""

import numpy as np
import pytest
import torch

from tests.facts import facts
from unbraid.networks.coupling import CLAMPS, Affine
from unbraid.networks.flow import conv_flow, dense_flow
from unbraid.networks.fused import FusedForward, supports
from unbraid.networks.fused_images import FusedImages
from unbraid.networks.unfolding import Part, off_surface, part_flow, principal_frame, rotation, surface_flow, with_part


def build(shape, affine, n_models, rng):
    if shape == "dense":
        return dense_flow(7, rng, affine=affine, n_models=n_models)
    return conv_flow((1, 4, 8), rng, n_blocks=(2, 2, 1), hidden=(4, 4, 8), affine=affine, n_models=n_models)


def test_parameter_counts_of_the_papers():
    rng = np.random.default_rng(0)
    assert dense_flow(10, rng).n_parameters == 4_480
    assert conv_flow((1, 28, 28), rng).n_parameters == 2_620_192


@pytest.mark.parametrize(("kind", "scale"), [("nice", "mean"), ("realnvp", "mean"), ("gin", "mean"), ("gin", "last")])
@pytest.mark.parametrize(
    ("shape", "clamp"),
    [*(("dense", clamp) for clamp in CLAMPS), ("convolutional", "atan")]
    + [pytest.param("convolutional", clamp, marks=pytest.mark.slow) for clamp in CLAMPS if clamp != "atan"],
)
def test_jacobian_volume_and_inverse(kind, scale, clamp, shape):
    rng = np.random.default_rng(3)
    flow = build(shape, Affine(kind, clamp, scale=scale), 2, rng)
    theta = flow.initial(rng, identity=False).double()
    rows = torch.from_numpy(rng.normal(size=(4, *flow.shape)))
    codes, volume = flow.encode(theta, rows)
    assert (flow.decode(theta, codes) - rows).abs().max() < 1e-5
    assert (codes - rows.flatten(1)).abs().max() > 0.1  # not the identity
    for k in range(2):
        one = flow.select(k)

        def encode(row, one=one, k=k):
            return one.forward(theta[k : k + 1], one.lay_out(row[None]))[0].flatten()

        jacobian = torch.autograd.functional.jacobian(encode, rows[0]).reshape(flow.n_features, -1)
        log_det = torch.linalg.slogdet(jacobian)[1]
        assert abs(log_det - volume[k, 0]) < 1e-6
        if kind != "realnvp":
            assert abs(log_det.exp() - 1) < 1e-6
            assert volume.abs().max() == 0
        else:
            assert abs(log_det) > 1e-3


@pytest.mark.parametrize("kind", ["surface", "whole"])
def test_unfolding_keeps_the_volume_and_is_inverted(kind):
    rng = np.random.default_rng(3)
    flow = surface_flow(5, 2, n_models=2 if kind == "surface" else 1)
    if kind == "whole":
        flow = with_part(flow, part_flow(2, n_models=2))
    theta = flow.initial(rng, identity=False).double()
    rows = torch.from_numpy(rng.normal(size=(4, 5)))
    codes, volume = flow.encode(theta, rows)
    assert volume.abs().max() == 0
    assert (flow.decode(theta, codes) - rows).abs().max() < 1e-6
    for k in range(2):
        one = flow.select(k)
        torch.testing.assert_close(one.encode(theta[k : k + 1], rows)[0][0], codes[k])
        jacobian = torch.autograd.functional.jacobian(
            lambda row, one=one, k=k: one.forward(theta[k : k + 1], one.lay_out(row[None]))[0].flatten(), rows[0]
        )
        assert abs(torch.linalg.slogdet(jacobian)[1]) < 1e-6


def test_a_part_changes_its_own_volume():
    """The codes of the part are those of its flow; each of the others gives back an equal share of the volume."""
    rng = np.random.default_rng(0)
    part = part_flow(2)
    theta = part.initial(rng, identity=False).double()
    x = torch.from_numpy(rng.normal(size=(1, 5, 6)))
    order = torch.tensor([[4, 1, 0, 2, 3]])
    y = Part(part, order).forward([p for layer in part.unflatten(theta) for p in layer], x)[0]
    codes, volume = part.forward(theta, x[:, [4, 1]])
    assert volume.abs().max() > 1e-3
    torch.testing.assert_close(y[:, :2], codes)
    torch.testing.assert_close(y[:, 2:], x[:, [0, 2, 3]] * (-volume / 3).exp()[:, None])


def test_distance_from_a_surface():
    """A plane in four dimensions: what is off it is lost, what is on it is kept."""
    flow = surface_flow(4, 2)
    theta = flow.initial(np.random.default_rng(0))
    theta[:, :16] = 0  # no rotation; the shifts start at 0
    x = torch.from_numpy(np.random.default_rng(1).normal(size=(1, 4, 1000)) * np.array([3, 1, 1, 0.5])[:, None]).float()
    expected = x[0, 2:].square().sum() / (x[0] - x[0].mean(1, keepdim=True)).square().sum()
    torch.testing.assert_close(off_surface(flow, theta, x)[0], expected)


def test_rotations_are_the_matrix_exponential_and_start_at_the_principal_components():
    rng = np.random.default_rng(0)
    a = torch.from_numpy(rng.uniform(-1, 1, (2, 7, 7)))
    torch.testing.assert_close(rotation(a), torch.matrix_exp(a - a.transpose(1, 2)), atol=1e-6, rtol=0)
    X = rng.normal(size=(500, 7)) * np.arange(1, 8)
    codes = X @ rotation(torch.from_numpy(principal_frame(X))[None])[0].numpy().T
    covariance = np.cov(codes.T)
    assert np.abs(covariance - np.diag(np.diag(covariance))).max() < 1e-4
    assert (np.diff(np.diag(covariance)) < 0).all()


def test_the_last_scale_is_minus_the_sum_of_the_others():
    affine, a = Affine("gin", scale="last"), torch.randn(2, 6, 4)
    s, t = affine.coefficients(a)
    free = 2 * 0.636 * torch.atan(a[:, :2] / 2)
    torch.testing.assert_close(s, torch.stack((free[:, 0], free[:, 1], -free[:, 0] - free[:, 1]), 1))
    torch.testing.assert_close(t, a[:, 3:])
    assert not affine.has_kernel


@pytest.mark.parametrize("shape", ["dense", "convolutional"])
def test_float32_inverse(shape):
    rng = np.random.default_rng(1)
    flow = build(shape, Affine("gin"), 1, rng)
    theta = flow.initial(rng, identity=False)
    rows = torch.from_numpy(rng.normal(size=(50, *flow.shape)).astype(np.float32))
    assert (flow.decode(theta, flow.encode(theta, rows)[0]) - rows).abs().max() < 1e-4


@pytest.mark.parametrize("shape", ["dense", "convolutional"])
def test_starts_as_a_permutation(shape):
    rng = np.random.default_rng(0)
    flow = build(shape, Affine("gin"), 3, rng)
    rows = torch.from_numpy(rng.normal(size=(5, *flow.shape)).astype(np.float32))
    codes = flow.encode(flow.initial(rng), rows)[0]
    for k in range(3):
        torch.testing.assert_close(codes[k].sort(1).values, rows.flatten(1).sort(1).values)
    assert not torch.equal(codes[0], codes[1])  # every model has its own permutations


@pytest.mark.parametrize("shape", ["dense", "convolutional"])
def test_models_are_independent(shape):
    """Model k of a batched flow is the flow with its parameters alone."""
    rng = np.random.default_rng(2)
    flow = build(shape, Affine("realnvp"), 3, rng)
    theta = flow.initial(rng, identity=False).double()
    rows = torch.from_numpy(rng.normal(size=(5, *flow.shape)))
    codes, volume = flow.encode(theta, rows)
    alone, volume_alone = flow.select(1).encode(theta[1:2], rows)
    torch.testing.assert_close(codes[1], alone[0])
    torch.testing.assert_close(volume[1], volume_alone[0])


def test_clamps_bound_the_scale():
    s = torch.linspace(-1e4, 1e4, 11)
    for clamp in CLAMPS.values():
        assert clamp(s, 2.0).abs().max() <= 2.0


def test_images_that_cannot_be_halved_twice():
    with pytest.raises(ValueError, match=facts("30 x 28", 4)):
        conv_flow((1, 30, 28), np.random.default_rng(0))


@pytest.mark.parametrize(("features", "models", "batch"), [(10, 2, 1100), (7, 1, 130), (4, 1, 50), (13, 1, 30)])
def test_fused_kernel_computes_the_same(features, models, batch):
    rng = np.random.default_rng(0)
    flow = dense_flow(features, rng, n_models=models)
    theta = flow.initial(rng, identity=False)
    rows = torch.from_numpy(3 * rng.normal(size=(batch, features)).astype(np.float32))
    weights = torch.from_numpy(rng.normal(size=(models, features, batch)))
    compare_with_double(flow, FusedForward(flow), theta, rows, weights)


@pytest.mark.parametrize(
    ("shape", "hidden", "models", "batch"),
    [
        ((1, 8, 8), (4, 4, 8), 2, 30),
        ((3, 4, 8), (4, 4, 8), 1, 30),
        ((1, 12, 20), (5, 7, 8), 2, 49),
        ((1, 4, 4), (3, 16, 8), 1, 1),
        ((1, 28, 28), (16, 32, 8), 1, 24),
    ],
)
def test_fused_images_compute_the_same(shape, hidden, models, batch):
    rng = np.random.default_rng(4)
    flow = conv_flow(shape, rng, hidden=hidden, n_models=models)
    theta = flow.initial(rng, identity=False)
    rows = torch.from_numpy(rng.normal(size=(batch, *shape)).astype(np.float32))
    weights = torch.from_numpy(rng.normal(size=(models, flow.n_features, batch)))
    compare_with_double(flow, FusedImages(flow), theta, rows, weights)


def test_fused_images_let_nan_through():
    rng = np.random.default_rng(5)
    flow = conv_flow((1, 8, 8), rng, hidden=(4, 4, 8))
    rows = torch.zeros(30, 1, 8, 8)
    rows[3, 0, 2, 2] = torch.nan
    codes = FusedImages(flow)(flow.initial(rng, identity=False), flow.lay_out(rows))[0]
    assert codes[0].isnan().any(0).nonzero().tolist() == [[3]]


def compare_with_double(flow, forward, theta, rows, weights):
    """Codes and gradient against torch in double precision."""
    exact = theta.double().requires_grad_()
    z, _ = flow.forward(exact, flow.lay_out(rows.double()))
    (z * weights).sum().backward()
    theta = theta.clone().requires_grad_()
    fused, volume = forward(theta, flow.lay_out(rows))
    (fused * weights.float()).sum().backward()
    assert volume is None
    assert (fused - z).abs().max() < 2e-5 * z.abs().max()
    assert (theta.grad - exact.grad).abs().max() < 1e-5 * exact.grad.abs().max()


def test_fused_kernel_refuses_what_it_does_not_compute():
    flow = dense_flow(4, np.random.default_rng(0), affine=Affine("realnvp"))
    assert not supports(flow)
    with pytest.raises(ValueError, match=facts("GIN", "clamp='atan'", 64, "engine='auto'")):
        FusedForward(flow)
