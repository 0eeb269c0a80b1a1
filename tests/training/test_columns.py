"""What networks make of columns that do not vary, of rows that do not, and of numbers that float32 cannot hold."""

import numpy as np
import pytest
import torch

import unbraid as ub
from tests.facts import facts

X = np.random.default_rng(0).normal(size=(60, 4))
LABELS = np.arange(60) % 2
PADDED = np.insert(X, [0, 2], [7.0, -3.0], axis=1)  # columns 0 and 3
TINY = {"max_steps": 3, "random_state": 0}
MODELS = {
    "gin": ub.GIN(n_init=2, n_factors=2, **TINY),
    "nice": ub.NICE(n_init=1, n_factors=2, **TINY),
    "continuous": ub.RealNVP(n_init=1, n_factors=2, condition="continuous", **TINY),
    "beta-vae": ub.BetaVAE(2, **TINY),
    "irmae": ub.IRMAE(2, **TINY),
    "hessian-autoencoder": ub.HessianAutoencoder(2, teacher=ub.PCAICA(2), **TINY),
}
quiet = pytest.mark.filterwarnings("ignore::unbraid.trust.warnings.UnbraidWarning")


def fitted(name, rows):
    model = MODELS[name].__class__(**MODELS[name].get_params(deep=False))
    takes = "labels" in model.uses
    return model.fit(rows, LABELS + 0.5 * (name == "continuous")) if takes else model.fit(rows)


@quiet
@pytest.mark.parametrize("name", MODELS)
def test_constant_columns_do_not_change_the_codes(name, tmp_path):
    plain, padded = fitted(name, X), fitted(name, PADDED)
    codes = plain.transform(X)
    assert plain.varying_ is None
    assert padded.varying_.tolist() == [1, 2, 4, 5]
    assert (padded.n_features_in_, padded.row_shape_) == (6, (6,))
    np.testing.assert_array_equal(padded.transform(PADDED), codes)
    decoded = padded.inverse_transform(codes)
    np.testing.assert_array_equal(decoded[:, [1, 2, 4, 5]], plain.inverse_transform(codes))
    assert (decoded[:, 0] == 7).all()
    assert (decoded[:, 3] == -3).all()
    back = ub.load(padded.save(tmp_path / "run"))
    np.testing.assert_array_equal(back.transform(PADDED), codes)
    blocks = ub.Blocks([PADDED[:20], PADDED[20:]])
    np.testing.assert_allclose(fitted(name, blocks).transform(blocks), codes, atol=1e-5)
    graphs = padded._graphs()
    rows = graphs.rows
    assert rows.shape[1:] == (6,)
    encoded = graphs.encoder(torch.from_numpy(rows))
    np.testing.assert_allclose(encoded.detach().numpy(), padded.transform(rows), atol=1e-4)
    again = graphs.decoder(encoded).detach().numpy()
    np.testing.assert_allclose(again, padded.inverse_transform(padded.transform(rows)), atol=1e-3)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("scale", [1e100, 1e-100])
def test_scales_beyond_float32_are_refused_with_the_remedy(name, scale):
    with pytest.raises(ValueError, match=facts("X", "float32", "X / X.std()")):
        fitted(name, X * scale)


@pytest.mark.parametrize("name", MODELS)
def test_rows_that_are_all_the_same_are_refused(name):
    with pytest.raises(ValueError, match=facts("X", "constant")):
        fitted(name, np.ones((60, 3)))


@pytest.mark.parametrize("rows", [np.full((9, 16, 16), 7, np.uint8), np.zeros((9, 16, 16)), np.ones((9, 16, 16), bool)])
def test_pictures_that_are_all_the_same_are_refused(rows):
    with pytest.raises(ValueError, match=facts("X", "constant")):
        ub.BetaVAE(2, **TINY).fit(rows)
