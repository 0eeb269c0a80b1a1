"""The Hessian autoencoder: new images, landmarks, any teacher, data sets without end."""

import numpy as np
import pytest

import unbraid as ub
from tests.facts import facts


@pytest.fixture(scope="module")
def squares():
    dataset = ub.datasets.load("shapes-xy", image_size=32)
    X, factors = dataset.sample(1100, random_state=0)
    return X[:700], factors[:700], X[700:], factors[700:]


@pytest.fixture(scope="module")
def model(squares):
    return ub.HessianAutoencoder(2, max_steps=300, random_state=0).fit(squares[0])


def test_encodes_and_decodes_images_that_it_never_saw(model, squares):
    X, factors, new, new_factors = squares
    assert ub.metrics.mcc(factors, model.teacher_.transform(X)) > 0.99
    assert ub.metrics.mcc(new_factors, model.transform(new)) > 0.98
    error = np.square(model.reconstruct(new) - new).mean() / new.var(0).mean()
    assert error < 0.25


def test_codes_are_the_teachers_in_the_teachers_unit(model, squares):
    codes, taught = model.transform(squares[0]), model.teacher_.transform(squares[0])
    assert np.abs(codes - taught).mean() < 0.1 * taught.std()
    np.testing.assert_allclose(model.code_std_, taught.std(0), rtol=0.02)


def test_the_papers_loss_is_in_the_teachers_unit(squares):
    """Sum over rows of |E(x) - y|^2 + |D(y) - x|^2 with the teacher's own y, per row; one full batch before a step."""
    X = squares[0][:300]
    model = ub.HessianAutoencoder(2, standardise=False, max_steps=1, log_every=1, random_state=0).fit(X)
    taught = model.teacher_.transform(X)
    assert (model.code_mean_.tolist(), model.code_std_.tolist()) == ([0, 0], [1, 1])
    spread = np.square(taught).sum(1)
    assert 0.5 < model.history_[0]["codes"] / spread.mean() < 2, "untrained codes are near 0: the error is their square"
    codes = model.transform(X)
    assert np.abs(model.inverse_transform(codes) - model.reconstruct(X)).max() < 1e-6


def test_decoding_a_teachers_code_gives_the_image(model, squares):
    decoded = model.inverse_transform(model.teacher_.transform(squares[2]))
    assert np.square(decoded - squares[2]).mean() < 0.25 * squares[2].var(0).mean()


def test_the_teacher_may_see_a_part_only(squares):
    X, _, new, new_factors = squares
    model = ub.HessianAutoencoder(2, teacher_points=300, max_steps=200, random_state=0).fit(X)
    assert len(model.teacher_.maps_.points) <= 300
    assert ub.metrics.mcc(new_factors, model.transform(new)) > 0.97


def test_any_estimator_can_teach(squares):
    X, factors, _, _ = squares
    model = ub.HessianAutoencoder(teacher=ub.PCAICA(n_factors=3, random_state=0), max_steps=3, random_state=0).fit(X)
    assert model.n_factors_ == 3
    assert model.transform(X).shape == (700, 3)
    assert model.diagnostics_ is model.teacher_.diagnostics_


def test_the_number_of_factors_is_the_teachers_when_not_given(squares):
    model = ub.HessianAutoencoder(max_steps=2, random_state=0).fit(squares[0][:400])
    assert model.n_factors_ == model.teacher_.n_factors_ == 2
    assert model.diagnostics_ is model.teacher_.diagnostics_


def test_a_data_set_without_end_is_coded_batch_by_batch():
    dataset = ub.datasets.load("shapes-xy", image_size=32)
    model = ub.HessianAutoencoder(2, teacher_points=300, max_steps=150, random_state=0).fit(dataset)
    X, factors = dataset.sample(300, random_state=9)
    assert ub.metrics.mcc(factors, model.transform(X)) > 0.9


@pytest.mark.parametrize(
    ("settings", "words"),
    [({"n_factors": "two"}, ("two", "auto")), ({"teacher_points": 1}, (1, 2)), ({"n_factors": 0}, (0, "auto"))],
)
def test_bad_parameters(settings, words, squares):
    with pytest.raises(ValueError, match=facts(*settings, *words)):
        ub.HessianAutoencoder(**settings).fit(squares[0])
