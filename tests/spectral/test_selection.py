"""Choosing k, the PCA size and the number of factors, on drawn pictures and real ones."""

from dataclasses import replace

import numpy as np
import pytest

import unbraid as ub
from tests.spectral.manifolds import bent_sheets
from unbraid.manifold.reduction import fit_reduction
from unbraid.trust.support import mutual_information


def test_selection_records_every_candidate():
    X, factors = bent_sheets(600, 2)
    model = ub.HessianICA(n_factors=2, random_state=0).fit(X)
    record = model.selection_
    assert record.rule == "combined"
    assert record.chosen in record.candidates
    assert len(record.candidates) >= 5
    assert model.n_neighbors_ == record.chosen.n_neighbors
    best = max((c for c in record.candidates if not c.excluded), key=lambda c: (c.edges + c.closest - c.dependence) / 2)
    assert best == record.chosen
    assert "eigengap" in str(record)


@pytest.mark.parametrize("rule", ["edges", "closest"])
def test_the_other_rules_maximise_what_they_say(rule):
    X, _ = bent_sheets(500, 2, n_features=12)
    record = ub.HessianICA(n_factors=2, selection=rule, random_state=0).fit(X).selection_
    assert getattr(record.chosen, rule) == max(getattr(c, rule) for c in record.candidates if not c.excluded)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_number_of_factors_is_found(d):
    X, factors = bent_sheets(800, d, n_features=30)
    model = ub.HessianICA(n_factors="auto", n_neighbors=25, random_state=0).fit(X)
    assert model.n_factors_ == d
    assert "dimension" in model.selection_.dimension
    assert model.diagnostics_.eigengap > 2


def test_noise_is_survived():
    X, factors = bent_sheets(1500, 2, noise=0.03)
    model = ub.HessianICA(n_factors=2, random_state=0)
    assert ub.metrics.mcc(factors, model.fit_transform(X)) > 0.99
    assert model.pca_components_ <= 6


def test_noise_floor_of_the_pca():
    rng = np.random.default_rng(0)
    signal = rng.normal(size=(2000, 3)) @ rng.normal(size=(3, 50))
    assert fit_reduction(signal + 0.5 * rng.normal(size=(2000, 50)), n_components=None).noise_size == 3


def test_mutual_information_of_a_known_joint():
    codes = np.repeat([[0.0, 0.0], [1.0, 1.0]], 500, axis=0)
    codes += 1e-6 * np.random.default_rng(0).uniform(size=codes.shape)
    assert mutual_information(codes, n_bins=2) == pytest.approx(np.log(2))


@pytest.mark.parametrize("name", ["shapes-xy", "shapes-xc"])
def test_shapes(name):
    X, factors = ub.datasets.load(name).sample(800, random_state=0)
    codes = ub.HessianICA(n_factors=2, n_neighbors=14, random_state=0).fit_transform(X)
    assert ub.metrics.mcc(factors, codes) > 0.99


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "options"), [("shapes-xy", {}), ("shapes-xc", {}), ("shapes-xy", {"image_size": 256})]
)
def test_shapes_automatic(name, options):
    X, factors = ub.datasets.load(name, **options).sample(3000, random_state=0)
    if options:
        X = np.repeat((X * 255).astype(np.uint8)[..., None], 3, axis=-1) if X.ndim == 3 else X
        assert X.shape == (3000, 256, 256, 3)
    codes = ub.HessianICA(n_factors=2, random_state=0).fit_transform(X)
    assert ub.metrics.mcc(factors, codes) > 0.99


def test_settings_that_were_not_tried_have_no_part_in_the_range_of_scores():
    X = bent_sheets(200, 2)[0]
    model = ub.HessianICA(2, random_state=0).fit(X)
    record = model.selection_
    skipped = replace(record.chosen, edges=np.nan, closest=np.nan, dependence=np.nan, excluded="not tried")
    model.selection_ = replace(record, candidates=[skipped, *record.candidates])
    words = [text for section in model.summary().sections for text in section.text]
    assert words
    assert "nan" not in " ".join(words)
