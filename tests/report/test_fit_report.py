"""The page of every method: what each shows of itself, from Python as from the command line."""

import re
import warnings

import numpy as np
import pytest

import unbraid as ub
from tests.facts import facts
from unbraid.estimator.summary import Fact, Section, Summary
from unbraid.methods import METHODS
from unbraid.report.pages import PICTURES
from unbraid.testing.data import needed_evidence
from unbraid.trust.warnings import ConvergenceWarning, TrustWarning

PICTURES_XY = ub.datasets.load("shapes-xy", image_size=16).sample(150, random_state=0)
COMMON = ["The data", "Codes", "Factor maps", "Moving along each code", "Distances"]
TRAINED = {"max_steps": 3, "log_every": 1}
FLOW = {"max_steps": 8, "n_init": 2, "engine": "torch", "architecture": "dense", "hidden": 8, "n_blocks": 2}


def small(name, n_codes=3):
    """(model, X, labels, factors): little data and few steps."""
    method = METHODS[name]
    X, factors = PICTURES_XY
    labels = None
    settings = {"random_state": 0}
    if method.family == "spectral":
        settings |= {"n_factors": 2} | ({} if name == "pca-ica" else {"n_neighbors": 12})
    elif method.family == "autoencoders":
        settings |= TRAINED | {"n_factors": 2 if name == "hessian-autoencoder" else n_codes}
        labels = np.arange(len(X)) % 3 if name == "ivae" else None
    elif name == "contrastive":
        settings |= TRAINED | {"n_factors": n_codes}
        labels = np.arange(len(X)) % 3
    elif name == "self-supervised-gin":
        settings |= FLOW | {"augment": "affine", "n_augmentations": 3}
        X, factors = X[:40, ::4, ::4].copy(), factors[:40]
    elif method.family == "flows":
        X, factors, labels = ub.datasets.load("gin-mixture").sample_conditional(200, random_state=0)
        settings |= FLOW
    else:
        X, factors = ub.datasets.load("product-manifold", manifolds=["S2", "S2"]).sample(300, random_state=0)
        settings |= {"dim": 4} if name == "geomancer" else {}
    model = method.load()(**settings)
    needed = needed_evidence(model, len(X))
    return model, ub.Observations(X, **needed) if needed else X, labels, factors


# Families: their pages are alike.
ONE_OF_EACH = ("hessian-ica", "beta-vae", "contrastive", "gin", "geomancer", "product-manifold")
EXPECTED = {
    "spectral": COMMON,
    "autoencoders": [*COMMON, "Reconstructions", "Training"],
    "contrastive": ["The data", "Codes", "Factor maps", "Distances", "Training"],
    "flows": ["Codes", "Factor maps", "Moving along each code", "Distances", "Spectrum", "Training"],
    "geometry": ["Spectrum", "Subspaces"],
    "product": ["Codes", "Moving along each code"],
}


def headings(page):
    return re.findall("<h2>(.*?)</h2>", page)


def fitted(name):
    """(model, X, factors) of a small fit."""
    model, X, labels, factors = small(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X) if labels is None else model.fit(X, labels)
    return model, X, factors


@pytest.mark.parametrize("name", METHODS)
def test_every_method_is_described(name):
    model, X, factors = fitted(name)
    found = ub.report.describe(model, X, factors if factors.ndim == 2 else None)
    assert {section.picture for section in found.summary.sections} <= {"", *PICTURES}
    if found.summary.n_shown:
        assert found.mcc == pytest.approx(ub.metrics.mcc(factors, model.transform(X)))


@pytest.mark.parametrize(
    "name",
    [name if name in ONE_OF_EACH else pytest.param(name, marks=pytest.mark.slow) for name in METHODS],
)
def test_every_method_has_a_page(name):
    model, X, factors = fitted(name)
    page = ub.report.fit_report(model, X, factors if factors.ndim == 2 else None).html()
    found = headings(page)
    title, expected = METHODS[name].title, EXPECTED[METHODS[name].family]
    assert f"<h1>{title}</h1>" in page
    assert set(expected) | {f"How far to trust {title}"} <= set(found)
    assert len(found) == len(set(found))
    assert page.count("data:image/png;base64,") == page.count("<figure>") >= len(expected) - 1
    summary = model.summary()
    for fact in summary.facts:
        assert f"<td>{fact.name}</td>" in page
    if summary.n_shown:
        shown = float(re.search(r"MCC (0\.\d+|1\.0+)", page).group(1))
        assert shown == pytest.approx(ub.metrics.mcc(factors, model.transform(X)), abs=1e-4)


def test_a_vae_shows_its_codes_by_their_nats():
    model, X, _, _ = small("vae", n_codes=12)
    model.fit(X)
    summary = model.summary()
    assert summary.order == model.kl_.tolist()
    assert summary.n_shown == 10
    assert "Nats per code" in [section.title for section in summary.sections]
    used = next(fact for fact in summary.facts if fact.name == "codes in use")
    assert used.value == f"{int((model.kl_ > 0.01).sum())} of 12"


def test_a_flow_marks_its_informative_latents_and_draws_samples_of_every_class():
    model, X, labels, _ = small("gin")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, labels)
    spectrum, samples, training = model.summary().sections
    assert spectrum.data["n_kept"] == model.n_informative_
    np.testing.assert_array_equal(spectrum.data["values"], model.importance_)
    assert set(samples.data["labels"].tolist()) == set(range(5))
    assert samples.data["samples"].shape[1:] == (10,)
    assert len(training.data["history"]) == len(model.history_)


def test_samples_of_pictures_have_one_class_per_column():
    X, factors = PICTURES_XY
    small_pictures = X[:, ::2, ::2].copy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ub.NICE(**FLOW, random_state=0).fit(small_pictures, np.where(factors[:, 0] > 0.5, "right", "left"))
    samples = next(section for section in model.summary().sections if section.title == "Samples")
    assert samples.data["names"] == ["left", "right"]
    assert samples.data["images"].shape == (6, 2, 8, 8)


def test_the_trust_in_a_hessian_autoencoder_is_that_in_its_teacher():
    model, X, _, _ = small("hessian-autoencoder")
    model.fit(X)
    summary, teacher = model.summary(), model.teacher_.summary()
    assert summary.concerns == teacher.concerns
    assert summary.choices == teacher.choices
    assert {fact.name for fact in teacher.facts} < {fact.name for fact in summary.facts}


class Doubtful:
    """An estimator of a user's own: codes are the data, and it warns."""

    def __init__(self, note="all is well"):
        self.note = note

    def fit_transform(self, X):
        warnings.warn("the rotation is uncertain", TrustWarning, stacklevel=1)
        warnings.warn("gaps: few points", TrustWarning, stacklevel=1)
        warnings.warn("not done", ConvergenceWarning, stacklevel=1)
        return X

    def transform(self, X):
        return np.asarray(X)

    def inverse_transform(self, codes):
        return codes

    def summary(self):
        section = Section("Mine", ("words",), picture="nothing" if self.note == "wrong" else "")
        return Summary("Own", [Fact("a", "1", "b")], concerns=["gaps"], sections=[section], n_shown=2)


def test_warnings_become_concerns_and_remarks_once():
    z = np.random.default_rng(0).uniform(size=(60, 2))
    fitted = ub.report.measured_fit(Doubtful(), z, factors=z)
    assert fitted.concerns == ["gaps", "the rotation is uncertain"]
    assert fitted.remarks == ["not done"]
    assert fitted.mcc == pytest.approx(1)
    assert fitted.seconds >= 0
    page = ub.report.fit_report(Doubtful(), z).html()
    assert "note look" in page
    assert "Mine" in headings(page)


def test_unknown_pictures_and_factors_of_other_rows_are_refused():
    z = np.random.default_rng(0).uniform(size=(60, 2))
    with pytest.raises(ValueError, match=facts("'nothing'", "eigenvalues")):
        ub.report.fit_report(Doubtful("wrong"), z)
    with pytest.raises(ValueError, match=facts("factors", 50, "X", 60)):
        ub.report.fit_report(Doubtful(), z, z[:50])


def test_of_many_rows_some_are_looked_at_and_all_are_scored():
    z = np.random.default_rng(0).uniform(size=(8000, 2))
    fitted = ub.report.measured_fit(ub.PCAICA(2, random_state=0), z, factors=z)
    assert fitted.codes.shape == (8000, 2)
    assert len(fitted.sample) == 5000
    assert len(fitted.distances.lengths) <= 8 * 5000
    assert fitted.distances.isometry > 0.99
    assert fitted.mcc > 0.99
    np.testing.assert_allclose(fitted.model.transform(fitted.sample), fitted.sample_codes)
    later = ub.report.describe(fitted.model, z, z)
    assert len(later.codes) == len(later.factors) == 5000
    assert later.mcc == pytest.approx(ub.metrics.mcc(later.factors, later.codes))


def test_a_frame_keeps_its_names():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(np.random.default_rng(0).uniform(size=(80, 3)), columns=["a", "b", "c"])
    model = ub.PCAICA(2, random_state=0).fit(frame)
    np.testing.assert_allclose(ub.report.describe(model, frame).codes, model.transform(frame))


@pytest.mark.parametrize("kind", ["bytes", "blocks", "data set"])
def test_what_a_model_reads_a_page_reads(kind):
    X, _ = PICTURES_XY
    model = ub.PCAICA(2, random_state=0)
    source = {
        "bytes": np.round(255 * X).astype(np.uint8),
        "blocks": ub.Blocks([X[:70], X[70:]]),
        "data set": ub.datasets.load("shapes-xy", image_size=16),
    }[kind]
    fitted = ub.report.describe(model.fit(source), source)
    assert 0 <= fitted.sample.min() <= fitted.sample.max() <= 1
    np.testing.assert_allclose(fitted.codes, model.transform(fitted.sample), atol=1e-5)


def test_known_factors_that_score_below_the_bound_are_a_concern():
    z = np.random.default_rng(0).uniform(size=(600, 2))
    for factors, below in ((z, False), (z @ [[1.0, 1.0], [-1.0, 1.0]], True)):  # their own axes, and the diagonals
        fitted = ub.report.measured_fit(ub.PCAICA(2, random_state=0), z @ [[1, 0, 2], [0, 1, 1]], factors=factors)
        low = fitted.model.diagnostics_.expected_mcc.low
        assert (fitted.mcc < low) == below
        assert [f"{fitted.mcc:.2f}" in c and f"{low:.2f}" in c for c in fitted.concerns] == [True] * below
