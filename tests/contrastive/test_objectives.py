"""The three objectives against their formulas, written out in numpy."""

import numpy as np
import pytest
import torch
from torch import nn

from unbraid.contrastive.infonce import InfoNCE
from unbraid.contrastive.permutation import Permutation
from unbraid.contrastive.segments import Segments, features, unmix
from unbraid.metrics import mcc
from unbraid.networks.contrastive import Marginal
from unbraid.networks.manhattan import manhattan

B, D = 7, 3


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def drawn(module, seed=1):
    """The module with all its parameters drawn, so that no term is 0."""
    for p in module.parameters():
        nn.init.normal_(p, std=0.7, generator=generator(seed))
    return module


def codes(unit=False):
    both = np.random.default_rng(0).normal(size=(2, B, D))
    return both / np.linalg.norm(both, axis=2, keepdims=True) if unit else both


def tensors(both):
    return [torch.from_numpy(c).float() for c in both]


def array(parameter):
    return parameter.detach().double().numpy()


def marginal(g, c):
    """sum_i sum_k v_ik log(1 + exp(w_ik c_i + b_ik)) of each row."""
    w, b, v = array(g.slope), array(g.place), array(g.weight)
    units = [(i, k) for i in range(D) for k in range(16)]
    return np.array([sum(v[u] * np.log1p(np.exp(w[u] * row[u[0]] + b[u])) for u in units) for row in c])


def test_l1_distances_and_their_gradient_are_those_of_torch():
    a, b = (c.requires_grad_() for c in tensors(codes()))
    with torch.no_grad():
        b[2] = a[4]  # a distance of 0, whose gradient is 0
    weights = torch.randn(B, B - 1, generator=generator())
    found, known = (
        (d, *torch.autograd.grad((d * weights).sum(), (a, b))) for d in (f(a, b[1:]) for f in (manhattan, l1))
    )
    for part, right in zip(found, known):
        torch.testing.assert_close(part, right)


def l1(a, b):
    return torch.cdist(a, b, p=1.0)


def test_the_marginal_is_a_sum_over_codes():
    g, (c, _) = drawn(Marginal(D, generator())), codes()
    np.testing.assert_allclose(array(g(torch.from_numpy(c).float())), marginal(g, c), rtol=1e-4)


@pytest.mark.parametrize("decays", [False, True])
@pytest.mark.parametrize("distance", ["l1", "l2", "cosine"])
def test_infonce_written_out(distance, decays):
    decays = decays and distance != "cosine"
    head, (c, p) = drawn(InfoNCE(D, distance, decays, generator())), codes(unit=distance == "cosine")
    tau, rho = np.exp(array(head.log_scale)[0]), 1 / (1 + np.exp(-array(head.logit_decay))) if decays else np.ones(D)
    apart = {
        "l1": lambda a, b: np.abs(a - b).sum(),
        "l2": lambda a, b: np.square(a - b).sum(),
        "cosine": lambda a, b: 1 - a @ b / np.sqrt((a @ a) * (b @ b)),
    }[distance]
    g = np.zeros(B) if distance == "cosine" else marginal(head.marginal, p)
    logits = np.array([[-tau * apart(rho * c[i], p[j]) + g[j] for j in range(B)] for i in range(B)])
    loss = -np.mean([logits[i, i] - np.log(np.exp(logits[i]).sum()) for i in range(B)])
    found = head(*tensors((c, p)))
    assert found["loss"].item() == pytest.approx(loss, rel=1e-4)
    assert found["information"].item() == pytest.approx(np.log(B) - loss, rel=1e-4)


def test_permutation_written_out():
    head, (c, p) = drawn(Permutation(D, generator())), codes()
    alpha, beta = np.exp(array(head.log_scale))
    g, h = (marginal(m, x) for m, x in zip(head.marginals, (p, c)))
    apart = np.array([[np.abs(alpha * p[j] - beta * c[i]).sum() for j in range(B)] for i in range(B)])
    r = head.bias.item() - apart + g + h[:, None]
    real = np.mean([np.log1p(np.exp(-r[i, i])) for i in range(B)])
    permuted = np.mean([np.log1p(np.exp(r[i, j])) for i in range(B) for j in range(B) if i != j])
    assert head(*tensors((c, p)))["loss"].item() == pytest.approx((real + permuted) / 2, rel=1e-4)
    np.testing.assert_allclose(array(head.decay), beta / alpha, rtol=1e-5)


def test_a_regression_that_knows_nothing_loses_log_2():
    c = torch.zeros(B, D)
    assert Permutation(D, generator())(c, c)["loss"].item() == pytest.approx(np.log(2), rel=1e-5)
    assert InfoNCE(D, "l1", True, generator())(c, c)["information"].item() == pytest.approx(0, abs=1e-5)


def test_segments_written_out_and_rows_without_one_left_out():
    head, (c, _) = drawn(Segments(D, 4)), codes()
    segments = np.array([0, 1, 3, 2, -1, 0, 3])
    logits = c @ array(head.linear.weight).T + array(head.linear.bias)
    loss = -np.mean([logits[i, u] - np.log(np.exp(logits[i]).sum()) for i, u in enumerate(segments) if u >= 0])
    found = head(torch.from_numpy(c).float(), torch.from_numpy(segments))
    assert found["loss"].item() == pytest.approx(loss, rel=1e-4)
    assert found["accuracy"].item() == pytest.approx(np.mean(logits.argmax(1) == segments))


def test_the_last_ica_separates_squares_and_leaves_the_regression_as_it_was():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(3000, D))
    encoder, head = features(nn.Identity(), D), drawn(Segments(D, 4))
    nn.init.orthogonal_(encoder[-1].weight, generator=generator(3))
    x = torch.from_numpy(z).float()
    before = encoder(x)
    logits = array(head.linear(before))
    assert mcc(z**2, array(before)) < 0.9, "the features are mixed"
    unmix(encoder, head, array(before))
    found = array(encoder(x))
    assert mcc(z**2, found) > 0.99
    assert (np.array([np.corrcoef(z.T**2, found.T)[:D, D:].max(0)]) > 0.99).all(), "a code grows with the square"
    np.testing.assert_allclose(array(head.linear(encoder(x))), logits, atol=1e-3)
