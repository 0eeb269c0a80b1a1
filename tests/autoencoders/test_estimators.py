"""The contract of all autoencoders: scikit-learn's, inputs of every kind, bad input, saving, networks of one's own."""

import os
import socket
import subprocess
import sys

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks
from torch import nn

import unbraid as ub
from tests.facts import facts

METHODS = ["Autoencoder", "IRMAE", "VAE", "BetaVAE", "AnnealedVAE", "FactorVAE", "BetaTCVAE", "DIPVAE"]
VARIATIONAL = METHODS[2:]
QUICK = {"max_steps": 3, "batch_size": 8, "random_state": 0}


def make(method, **settings):
    few = {"n_factors": 3} | ({"teacher": ub.PCAICA(n_factors=2)} if method == "HessianAutoencoder" else {})
    return getattr(ub, method)(**few | QUICK | settings)


def images(n=20, size=32, channels=None, dtype=np.uint8, seed=0):
    shape = (n, size, size) if channels is None else (n, size, size, channels)
    values = np.random.default_rng(seed).integers(0, 256, shape)
    return values.astype(np.uint8) if dtype == np.uint8 else (values / 255).astype(dtype)


@parametrize_with_checks([make(m) for m in [*METHODS, "HessianAutoencoder"]])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("method", [*METHODS, "HessianAutoencoder"])
@pytest.mark.parametrize("channels", [None, 1, 3])
def test_images_go_in_and_come_out_in_their_own_shape(method, channels):
    X = images(channels=channels)
    model = make(method).fit(X)
    codes = model.transform(X)
    assert codes.shape == (20, 2 if method == "HessianAutoencoder" else 3)
    decoded = model.inverse_transform(codes)
    assert decoded.shape == X.shape
    assert decoded.min() >= 0
    assert decoded.max() <= 1
    np.testing.assert_allclose(model.reconstruct(X), decoded)


@pytest.mark.parametrize("method", VARIATIONAL)
def test_encode_gives_means_and_log_variances_of_the_draws(method):
    X = images(5, size=16)
    model = make(method).fit(X)
    mean, log_variance = model.encode(X)
    np.testing.assert_array_equal(mean, model.transform(X))
    draws = model.sample_codes(np.tile(X, (1000, 1, 1)), random_state=0).reshape(1000, 5, -1)
    np.testing.assert_allclose(draws.mean(0), mean, atol=5 * np.exp(0.5 * log_variance).max() / np.sqrt(1000))
    np.testing.assert_allclose(draws.var(0), np.exp(log_variance), rtol=0.2)
    assert model.sample(4, random_state=0).shape == (4, 16, 16)
    expected = 0.5 * (mean**2 + np.exp(log_variance) - 1 - log_variance).mean(0)
    np.testing.assert_allclose(model.kl_, expected, rtol=1e-4)


def test_one_image_has_the_same_codes_whatever_form_it_comes_in(tmp_path):
    X = images(30)
    np.save(tmp_path / "x.npy", X)
    forms = {
        "uint8": X,
        "float32": (X / 255).astype(np.float32),
        "float64": X / 255,
        "memory map": np.load(tmp_path / "x.npy", mmap_mode="r"),
        "channel axis": X[..., None],
    }
    codes = {name: make("VAE").fit_transform(form) for name, form in forms.items()}
    for name, found in codes.items():
        np.testing.assert_allclose(found, codes["uint8"], atol=2e-5, err_msg=name)


def test_hdf5_arrays_are_read_where_they_lie(tmp_path):
    import h5py

    X = images(30)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        stored = file.create_dataset("images", data=X)
        np.testing.assert_allclose(make("VAE").fit_transform(stored), make("VAE").fit_transform(X), atol=1e-6)


def test_black_and_white_bytes_and_booleans_are_one_data_set():
    X = images(30) > 128
    of = [make("VAE").fit(form) for form in (X, X.astype(np.uint8), 255 * X.astype(np.uint8), X.astype(np.float32))]
    assert [m.unit_ for m in of] == [1, 1, 255, 1]
    for model in of[1:]:
        np.testing.assert_array_equal(model.weights_["encoder.1.weight"], of[0].weights_["encoder.1.weight"])
    np.testing.assert_allclose(of[2].transform(X.astype(np.float32)), of[0].transform(X), atol=1e-6)


@pytest.mark.parametrize("method", ["VAE", "HessianAutoencoder"])
def test_frames_go_in_and_come_out_and_their_columns_keep_their_order(method):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(np.random.default_rng(0).normal(size=(40, 4)), columns=list("abcd"))
    model = make(method).set_output(transform="pandas").fit(frame)
    codes = model.transform(frame)
    assert list(codes.columns) == [f"{method.lower()}{i}" for i in range(codes.shape[1])]
    np.testing.assert_array_equal(codes, make(method).fit(frame.to_numpy()).transform(frame.to_numpy()))
    assert model.reconstruct(frame).shape == frame.shape
    with pytest.raises(ValueError, match="same order"):
        model.transform(frame[list("bacd")])


@pytest.mark.parametrize("X", [images(600), np.random.default_rng(0).normal(size=(600, 5))], ids=["images", "vectors"])
def test_a_code_does_not_depend_on_its_batch(X):
    model = make("VAE").fit(X)
    whole = model.transform(X)
    np.testing.assert_allclose(np.concatenate([model.transform(x[None]) for x in X[:20]]), whole[:20], atol=1e-6)
    np.testing.assert_allclose(model.transform(X[::-1])[::-1], whole, atol=1e-6)


def test_blocks_and_tensors_are_read_like_the_array():
    X = images(30)
    codes = make("VAE").fit_transform(X)
    for form in (ub.Blocks([X[:10], X[10:]]), list(X), torch.from_numpy(X), lambda: iter([X[:7], X[7:]])):
        np.testing.assert_allclose(make("VAE").fit_transform(form), codes, atol=1e-6)


def test_a_large_offset_costs_no_digits():
    """Whole numbers beside 1.7e9, as of a clock: float32 would keep steps of 128 only."""
    X = np.random.default_rng(0).integers(0, 1000, size=(60, 4))
    codes = make("VAE").fit_transform(X)
    np.testing.assert_allclose(make("VAE").fit_transform(X + 1_700_000_000), codes, atol=1e-5)


@pytest.mark.parametrize("name", ["dsprites", "shapes-xy"])
def test_data_sets_with_and_without_an_end(name):
    dataset = ub.datasets.load(name)
    model = make("BetaVAE").fit(dataset)
    X = dataset.sample(6, random_state=0)[0]
    assert model.transform(X).shape == (6, 3)
    again = make("BetaVAE").fit(dataset)
    np.testing.assert_array_equal(model.transform(X), again.transform(X))


@pytest.mark.parametrize("size", [(16, 16), (48, 32)])
@pytest.mark.parametrize("preset", ["small", "patches", "paper", "paper-dense"])
def test_any_size_divisible_by_16(size, preset):
    X = np.random.default_rng(0).random((4, *size))
    model = make("VAE", preset=preset, max_steps=1).fit(X)
    assert model.inverse_transform(model.transform(X)).shape == X.shape


def test_vectors_are_standardised_inside_and_given_back_in_their_unit():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(400, 2))
    X = 1000 * Z @ rng.normal(size=(2, 6)) + 5000
    model = ub.Autoencoder(n_factors=2, max_steps=300, learning_rate=3e-3, random_state=0).fit(X)
    error = np.square(model.reconstruct(X) - X).sum() / np.square(X - X.mean(0)).sum()
    assert error < 0.01, "a plane is learned whatever its scale and offset"


def test_bernoulli_on_vectors_needs_the_unit_interval():
    X = np.random.default_rng(0).random((30, 5))
    assert make("VAE", likelihood="bernoulli").fit(X).reconstruct(X).max() <= 1
    with pytest.raises(ValueError, match=facts("bernoulli", "0 to 1", "column")):
        make("VAE", likelihood="bernoulli").fit(X * 3)


def test_rows_of_a_shape_that_no_network_takes_are_refused_for_that():
    with pytest.raises(ValueError, match=facts((1, 1, 2, 3), "reshape")):
        make("VAE").fit(3 * np.random.default_rng(0).normal(size=(30, 1, 1, 2, 3)))


def test_a_vae_of_a_line_learns_its_dimension():
    """One factor behind six features: exactly one code carries information, and it is that factor."""
    rng = np.random.default_rng(0)
    factor = rng.normal(size=(2000, 1))
    X = factor @ rng.normal(size=(1, 6)) * 3
    model = ub.VAE(n_factors=4, max_steps=500, learning_rate=3e-3, random_state=0).fit(X)
    assert (model.kl_ > 0.1).sum() == 1
    code = model.transform(X)[:, model.kl_.argmax()]
    assert abs(np.corrcoef(code, factor[:, 0])[0, 1]) > 0.99


def test_irmae_finds_a_lower_rank_than_the_plain_autoencoder():
    rng = np.random.default_rng(0)
    X = np.tanh(rng.normal(size=(1000, 2)) @ rng.normal(size=(2, 12)))
    settings = {"n_factors": 12, "max_steps": 500, "random_state": 0}
    codes = ub.Autoencoder(**settings).fit_transform(X)
    plain = np.linalg.svd(np.cov(codes.T), compute_uv=False)
    irmae = ub.IRMAE(**settings).fit(X).spectrum_

    def share(spectrum):
        return spectrum[:3].sum() / spectrum.sum()

    assert share(irmae) > share(plain)
    assert share(irmae) > 0.95


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (images(5, dtype=np.float64) * 2, facts("[0, 1]", 2)),
        (images(5, dtype=np.float64) - 0.5, facts("[0, 1]", -0.5, 0.5)),
        (images(5).astype(np.int64), facts("[0, 1]", 0, 255)),
        (images(5, size=30), facts("30 x 30", 16, "32 x 32")),
        (np.where(images(5) > 250, np.inf, 0.5), facts("infinity")),
        (images(1), facts("1 sample", (1, 32, 32), 2)),
        (images(5)[:0], facts("0 sample", (0, 32, 32), 2)),
        (images(5).astype(str), facts("X", "<U3")),
        (np.zeros((4, 16, 16, 3, 2)), facts((16, 16, 3, 2), "(n, height, width, channels)")),
    ],
    ids=["above one", "below zero", "integers", "odd size", "infinity", "one sample", "empty", "text", "five axes"],
)
def test_bad_images_are_refused_in_words(X, words):
    with pytest.raises(ValueError, match=words):
        make("VAE").fit(X)


@pytest.mark.parametrize(
    "X", [images(4, size=48), images(4, channels=3), np.zeros((4, 7))], ids=["48", "colour", "vectors"]
)
def test_other_data_than_fitted_on_is_refused(X):
    model = make("VAE").fit(images())
    with pytest.raises(ValueError, match=facts("VAE", 1024)):
        model.transform(X)


def test_bad_codes_are_refused():
    model = make("VAE").fit(images())
    with pytest.raises(ValueError, match=facts((2, 4), "(n, 3)")):
        model.inverse_transform(np.zeros((2, 4)))
    with pytest.raises(ValueError, match="NaN"):
        model.inverse_transform(np.full((2, 3), np.nan))
    for kind in (complex, str):
        with pytest.raises(ValueError, match="real numbers"):
            model.inverse_transform(np.zeros((2, 3)).astype(kind))


@pytest.mark.parametrize(
    ("method", "settings", "words"),
    [
        ("VAE", {"preset": "huge"}, facts("preset", "huge", "small", "patches", "paper", "paper-dense")),
        ("VAE", {"likelihood": "cauchy"}, facts("likelihood", "cauchy", "poisson", "bernoulli", "gaussian")),
        ("VAE", {"n_factors": 0}, facts("n_factors", 0)),
        ("VAE", {"encoder": nn.Identity()}, facts("encoder", "decoder")),
        ("BetaVAE", {"beta": -1}, facts("beta", -1)),
        ("BetaTCVAE", {"estimator": "exact"}, facts("estimator", "exact", "weighted", "stratified")),
        ("DIPVAE", {"kind": "III"}, facts("kind", "III", "I", "II")),
        ("FactorVAE", {"gamma": -1}, facts("gamma", -1)),
        ("AnnealedVAE", {"c_max": -1}, facts("c_max", -1)),
        ("IRMAE", {"n_linear": 0}, facts("n_linear", 0)),
    ],
)
def test_bad_parameters_are_refused_in_words(method, settings, words):
    with pytest.raises(ValueError, match=words):
        make(method, **settings).fit(images())


def test_unknown_parameters_are_refused():
    with pytest.raises(TypeError, match="betta"):
        ub.BetaVAE(betta=3)


def test_convolutional_presets_refuse_vectors():
    with pytest.raises(ValueError, match=facts("preset='paper'", 5, "'small'")):
        make("VAE", preset="paper").fit(np.random.default_rng(0).random((9, 5)))


@pytest.mark.parametrize("method", [*METHODS, "HessianAutoencoder"])
def test_saved_and_loaded_gives_the_same_codes_and_images(method, tmp_path):
    X = images()
    model = make(method).fit(X)
    loaded = ub.load(model.save(tmp_path / "run"))
    assert type(loaded) is type(model)
    np.testing.assert_array_equal(loaded.transform(X), model.transform(X))
    np.testing.assert_array_equal(loaded.reconstruct(X), model.reconstruct(X))
    assert loaded.history_ == model.history_


@pytest.mark.parametrize("method", METHODS)
def test_clone_keeps_every_parameter(method):
    model = make(method, max_steps=7, likelihood="gaussian")
    assert clone(model).get_params() == model.get_params()
    assert {"n_factors", "preset", "checkpoint", "random_state"} <= set(model.get_params())


class Encoder(nn.Module):
    def __init__(self, n_out):
        super().__init__()
        self.linear = nn.Linear(3 * 16 * 16, n_out)

    def forward(self, x):
        assert x.is_contiguous(memory_format=torch.channels_last)
        return self.linear(x.flatten(1))


def decoder():
    return nn.Sequential(nn.Linear(3, 3 * 16 * 16), nn.Unflatten(1, (3, 16, 16)))


def test_networks_of_ones_own(tmp_path):
    X = images(size=16, channels=3)
    encoder = Encoder(6)
    before = encoder.linear.weight.clone()
    model = make("VAE", encoder=encoder, decoder=decoder()).fit(X)
    assert torch.equal(encoder.linear.weight, before), "the given modules are copied, not trained"
    codes = model.transform(X)
    loaded = ub.load(model.save(tmp_path / "run"))
    with pytest.raises(ValueError, match=facts("Encoder", "Sequential", "set_params")):
        loaded.transform(X)
    loaded.set_params(encoder=Encoder(6), decoder=decoder())
    np.testing.assert_array_equal(loaded.transform(X), codes)


def test_networks_that_do_not_fit_are_refused():
    X = images(size=16, channels=3)
    with pytest.raises(ValueError, match=facts("encoder", (2, 3), (2, 6))):
        make("VAE", encoder=Encoder(3), decoder=decoder()).fit(X)
    with pytest.raises(ValueError, match=facts("decoder", (2, 5), (2, 3, 16, 16))):
        make("VAE", encoder=Encoder(6), decoder=nn.Linear(3, 5)).fit(X)


def test_accelerate_on_one_process_trains_the_same_model():
    X = images()
    plain, accelerated = make("FactorVAE").fit(X), make("FactorVAE", accelerate=True, device="cpu").fit(X)
    np.testing.assert_allclose(accelerated.transform(X), plain.transform(X), atol=1e-6)


@pytest.mark.slow
def test_two_processes_train_the_model_of_one(tmp_path):
    """Each takes half of every batch; averaged gradients make the steps of one process on the whole batch."""
    script = tmp_path / "fit.py"
    script.write_text(
        "import sys, numpy as np, unbraid as ub\n"
        "X = (np.random.default_rng(0).random((40, 16, 16)) > 0.6).astype(np.float32)\n"
        "model = ub.VAE(3, batch_size=8, max_steps=6, random_state=0, accelerate=True, device='cpu',\n"
        "               checkpoint=sys.argv[1] + '/c').fit(X)\n"
        "from accelerate import PartialState\n"
        "state = PartialState()\n"
        "assert state.num_processes == 2\n"
        "np.save(f'{sys.argv[1]}/codes{state.process_index}.npy', model.transform(X))\n"
        "state.destroy_process_group()\n"
    )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    common = {
        "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
        "OMP_NUM_THREADS": "1",
        "ACCELERATE_USE_CPU": "1",
    }
    common |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2"}
    command = [sys.executable, str(script), str(tmp_path)]
    both = [
        subprocess.Popen(command, env=os.environ | common | {"RANK": r, "LOCAL_RANK": r}, stderr=subprocess.PIPE)
        for r in ("0", "1")
    ]
    for process in both:
        error = process.communicate(timeout=300)[1]
        assert process.returncode == 0, error[-2000:]
    X = (np.random.default_rng(0).random((40, 16, 16)) > 0.6).astype(np.float32)
    whole = ub.VAE(3, batch_size=8, max_steps=6, random_state=0, device="cpu").fit(X).transform(X)
    for rank in (0, 1):
        np.testing.assert_allclose(np.load(tmp_path / f"codes{rank}.npy"), whole, atol=1e-5)
