"""Conditions: the loss against its formula, batches, labels of every kind, assumption checks."""

import numpy as np
import pytest
import torch

import unbraid as ub
from tests.facts import facts
from unbraid.data.labels import parse_labels, warn_of_few_conditions
from unbraid.flows.checks import class_groups, warn_of_small_classes
from unbraid.flows.conditions import Classes, Continuous, Sets, SoftLabels
from unbraid.flows.families import FAMILIES, family
from unbraid.flows.spectrum import class_information
from unbraid.trust.warnings import AssumptionWarning


def equation_10(codes, labels):
    """GIN's Eq. 10 to 12, written out: codes (batch, d)."""
    total = 0
    for c in np.unique(labels):
        w = codes[labels == c]
        mean, var = w.mean(0), w.var(0)
        total += ((w - mean) ** 2 / (2 * var) + 0.5 * np.log(2 * np.pi * var)).sum()
    return total / len(codes)


def test_class_loss_is_equation_10():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], 20)
    condition = Classes(family("normal"), labels, 60)
    codes = rng.normal(size=(60, 4)) * [1, 2, 0.01, 5] + labels[:, None]
    loss = condition.loss(torch.from_numpy(codes.T[None]), None, None)
    np.testing.assert_allclose(loss[0], equation_10(codes, labels), rtol=1e-5)


def test_variance_has_two_passes():
    """std 0.01 around 300 in float32: E[z^2] - E[z]^2 has no digit left there."""
    r = (300 + 0.01 * torch.randn(1, 1, 4000, generator=torch.Generator().manual_seed(0), dtype=torch.float64)).float()
    loss = Classes(family("normal"), np.zeros(4000, int), 4000).loss(r, None, None)
    exact = 0.5 * np.log(2 * np.pi * np.e * r.double().var(unbiased=False).item())
    assert abs(loss.item() - exact) < 1e-2


def test_batches_are_class_balanced_and_go_through_all():
    labels = np.array([0] * 90 + [1] * 10)
    condition = Classes(family("normal"), labels, 20)
    rng = np.random.default_rng(0)
    seen = [condition.draw(rng) for _ in range(9)]
    assert all((labels[b] == [0] * 10 + [1] * 10).all() for b in seen)
    assert set(np.concatenate(seen)) == set(range(100))
    np.testing.assert_allclose(condition.shares, [0.9, 0.1])


def test_soft_labels_of_0_and_1_are_classes():
    rng = np.random.default_rng(1)
    labels = np.repeat([0, 1], 30)
    codes = torch.from_numpy(rng.normal(size=(1, 3, 60)) + labels)
    for name in FAMILIES:
        hard = Classes(family(name), labels, 60).loss(codes, None, None)
        soft = SoftLabels(family(name), np.eye(2)[labels], 60).loss(codes, np.arange(60), None)
        np.testing.assert_allclose(hard, soft, rtol=1e-5)


def test_soft_loss_is_weighted():
    rng = np.random.default_rng(2)
    weights = rng.dirichlet([1, 1, 1], 50).astype(np.float32)
    codes = rng.normal(size=(50, 2))
    expected = 0
    for w in weights.T.astype(float):
        mean = w @ codes / w.sum()
        var = w @ (codes - mean) ** 2 / w.sum()
        expected += (w[:, None] * ((codes - mean) ** 2 / (2 * var) + 0.5 * np.log(2 * np.pi * var))).sum() / 50
    loss = SoftLabels(family("normal"), weights, 50).loss(torch.from_numpy(codes.T[None]), np.arange(50), None)
    np.testing.assert_allclose(loss[0], expected, rtol=1e-5)


def test_set_loss_is_equation_7():
    rng = np.random.default_rng(3)
    codes = rng.normal(size=(6, 10, 4))
    expected = equation_10(codes.reshape(60, 4), np.repeat(np.arange(6), 10))
    loss = Sets(family("normal"), 6, 6, 10).loss(torch.from_numpy(codes.reshape(60, 4).T[None]), np.arange(6), None)
    np.testing.assert_allclose(loss[0], expected, rtol=1e-6)


def test_continuous_condition_starts_as_a_standard_normal():
    rng = np.random.default_rng(4)
    condition = Continuous(family("normal"), rng.normal(size=(30, 2)), 30, 3)
    codes = rng.normal(size=(1, 3, 30))
    loss = condition.loss(torch.from_numpy(codes), np.arange(30), condition.initial(rng, 1).double())
    np.testing.assert_allclose(loss[0], (0.5 * codes**2 + 0.5 * np.log(2 * np.pi)).sum(1).mean(), rtol=1e-6)


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (np.array([1, 2, 1, 2]), "classes"),
        (np.array(["a", "b", "a", "b"]), "classes"),
        (np.array([1.0, 2.0, 1.0, 2.0]), "classes"),
        (np.array([True, False, True, False]), "classes"),
        (np.array([[0.5, 0.5], [0.1, 0.9], [1, 0], [0, 1]]), "soft"),
        (np.array([0.1, 0.2, 0.7, 0.4]), "continuous"),
        (np.array([[0.1, 5], [2, 3], [1, 1], [0, 9]]), "continuous"),
    ],
)
def test_labels_are_understood(labels, kind):
    assert parse_labels(labels, 4).kind == kind


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.zeros(3, int), ("labels", (3,), 4)),
        (np.array([0.5, np.nan, 1, 2]), ("labels", 1, "NaN")),
        (np.arange(4), (4, "condition='continuous'")),
        (np.full((4, 1), 0.5), ("constant", "labels")),
    ],
)
def test_wrong_labels(labels, message):
    with pytest.raises(ValueError, match=facts(*message)):
        parse_labels(labels, 4)


def test_one_class_with_one_member_is_left_out():
    with pytest.warns(UserWarning, match=facts("UB303", "1 of 3", "[2]")):
        labels = parse_labels(np.array([0, 0, 1, 1, 2]), 5)
    assert labels.values.tolist() == [0, 0, 1, 1, -1]
    assert labels.classes.tolist() == [0, 1]


def test_warnings_have_figures():
    with pytest.warns(AssumptionWarning, match=facts("UB104", 3, 2, 5)):
        warn_of_few_conditions(3, 2)
    with pytest.warns(AssumptionWarning, match=facts("UB103", "1 of 2", 8, "25%")):
        warn_of_small_classes(np.array([0] * 100 + [1] * 8), np.array([0, 1]))


def test_few_conditions_of_a_flow_that_needs_none():
    X, quick = np.random.default_rng(0).normal(size=(60, 2)), {"max_steps": 2, "random_state": 0, "null": "off"}
    ub.RealNVP(**quick).fit(X)
    with pytest.raises(ValueError, match=facts("one class", "[0]", "RealNVP")):
        ub.RealNVP(**quick).fit(X, np.zeros(60, int))
    with pytest.warns(AssumptionWarning, match=facts("UB104", 2, 5)):
        ub.RealNVP(**quick).fit(X * np.where(np.arange(60) < 30, 1, 3)[:, None], np.arange(60) // 30)


def test_groups_of_classes():
    rng = np.random.default_rng(0)
    labels = np.arange(2000) % 4
    X = rng.normal(size=(2000, 3)) + np.array([0, 1.5, 30, 31.5])[labels][:, None]
    assert class_groups(X, labels, rng)[0].tolist() == [0, 0, 1, 1]


def test_information_of_classes_far_apart_is_their_entropy():
    rng = np.random.default_rng(0)
    labels = np.arange(4000) % 2
    z = rng.normal(size=(4000, 2)) + np.array([[-50, 0], [50, 0]])[labels]
    logs = -0.5 * (z[:, None] - np.array([[-50, 0], [50, 0]])) ** 2
    np.testing.assert_allclose(class_information(logs, labels, np.array([0.5, 0.5])), [np.log(2), 0], atol=1e-9)


def test_sets_share_one_spread_once_the_training_settles():
    """Sets of very different spreads: first the mean of their log stds, then the log of their root mean square."""
    rng = np.random.default_rng(0)
    stds = np.array([0.1, 1.0, 4.0])
    codes = rng.normal(size=(3, 5, 2)) * stds[:, None, None] + 7 * np.arange(3)[:, None, None]
    condition = Sets(family("normal"), 3, 3, 5, shared_spread=True)
    r = torch.from_numpy(codes.reshape(15, 2).T[None].copy())
    constant = 1 + np.log(2 * np.pi)  # of two latents, half of it each
    var = codes.var(1)
    own = condition.loss(r, np.arange(3), None)
    np.testing.assert_allclose(own[0], 0.5 * np.log(var).mean(0).sum() + constant, rtol=1e-6)
    condition.settle()
    shared = condition.loss(r, np.arange(3), None)
    np.testing.assert_allclose(shared[0], 0.5 * np.log(var.mean(0)).sum() + constant, rtol=1e-6)
    plain = Sets(family("normal"), 3, 3, 5)
    plain.settle()
    np.testing.assert_allclose(plain.loss(r, np.arange(3), None), own)
