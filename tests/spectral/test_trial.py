"""Choosing a setting takes settings and an embedding function, and nothing else."""

from dataclasses import replace

import numpy as np
import pytest

from tests.facts import facts
from unbraid.spectral.eigen import Spectrum
from unbraid.spectral.trial import Settings, choose, metric_root

GRID = np.random.default_rng(0).uniform(size=(300, 2))


def truth_at(sizes):
    """An embedding that is right for neighbourhoods of these sizes, and noise otherwise."""

    def embed(points, near, distances, d, rng):
        vectors = points[:, :d] if near.shape[1] in sizes else rng.standard_normal((len(points), d))
        vectors = np.linalg.qr(vectors - vectors.mean(axis=0))[0]
        return Spectrum(vectors, np.arange(1.0, d + 2))

    return embed


@pytest.mark.parametrize("contrast", [None, "kurtosis"])
@pytest.mark.parametrize("rule", ["combined", "edges", "closest"])
def test_the_size_that_keeps_distances_is_chosen(rule, contrast):
    settings = Settings("Test", truth_at([]), 2, "auto", (2,), smallest=6, rule=rule, contrast=contrast)
    seen = []
    every = choose(GRID, settings, np.random.RandomState(0), seen.append).candidates
    sizes = [c.n_neighbors for c in every]
    assert sum(seen) == len(sizes) >= 5
    right = sizes[3]
    choice = choose(GRID, replace(settings, embed=truth_at([right])), np.random.RandomState(0), lambda amount: None)
    assert choice.candidate.n_neighbors == right
    assert choice.candidate.edges > 0.99
    assert choice.rule == rule


def test_a_given_setting_is_only_solved():
    settings = Settings("Test", truth_at([12]), 2, 12, (2,), smallest=6)
    choice = choose(GRID, settings, np.random.RandomState(0), lambda amount: None)
    assert (choice.rule, choice.rotation, len(choice.candidates)) == ("given", None, 1)
    assert not settings.open
    assert replace(settings, n_neighbors="auto", pca_sizes=(2, 3)).at(choice.candidate) == settings


def test_messages_name_the_method():
    settings = Settings("TheMethod", truth_at([]), 2, 12, (2,), smallest=20)
    with pytest.raises(ValueError, match=facts("n_neighbors=12", "TheMethod", 20)):
        choose(GRID, settings, np.random.RandomState(0), lambda amount: None)
    with pytest.raises(ValueError, match=facts("n_samples = 20", "TheMethod", 20)):
        choose(GRID[:20], settings, np.random.RandomState(0), lambda amount: None)


def test_metric_root_undoes_a_linear_map():
    rng = np.random.default_rng(0)
    steps, A = rng.normal(size=(200, 3)), rng.normal(size=(3, 3))
    root = metric_root(steps, np.linalg.norm(steps @ A.T, axis=1))
    np.testing.assert_allclose(root.T @ root, A.T @ A, atol=1e-9)


def test_a_pca_size_that_loses_at_every_small_neighborhood_is_not_tried_at_wide_ones():
    P = np.c_[GRID, 0.01 * np.random.default_rng(1).normal(size=300), np.zeros(300)]
    solved = []

    def embed(points, near, distances, d, rng):
        solved.append((points.shape[1], near.shape[1]))
        vectors = points[:, :d] + (0.2 * rng.standard_normal((len(points), d)) if points.shape[1] == 4 else 0)
        return Spectrum(np.linalg.qr(vectors - vectors.mean(axis=0))[0], np.arange(1.0, d + 2))

    settings = Settings("Test", embed, 2, "auto", (3, 4), smallest=6)
    choice = choose(P, settings, np.random.RandomState(0), lambda amount: None)
    sizes = sorted({k for _, k in solved})
    assert [k for m, k in solved if m == 3] == sizes
    assert [k for m, k in solved if m == 4] == sizes[:3]
    assert choice.candidate.pca_components == 3
    assert "3" in choice.candidates[-1].excluded
