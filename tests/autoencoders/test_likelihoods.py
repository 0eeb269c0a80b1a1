"""Likelihoods against scipy's densities, what they are good for, missing values, and covariates as inputs."""

import numpy as np
import pytest
import torch
from scipy import stats

import unbraid as ub
from tests.facts import facts
from unbraid.autoencoders.columns import OfColumns, likelihood_of, recognised
from unbraid.autoencoders.counted import NegativeBinomial, Poisson
from unbraid.autoencoders.likelihood import Bernoulli, FittedGaussian
from unbraid.autoencoders.noise import Normal, Student
from unbraid.networks.seen import log_depth

pytestmark = pytest.mark.filterwarnings("ignore:UB")
N, P = 7, 4
RNG = np.random.default_rng(0)
OUTPUT = torch.from_numpy(RNG.normal(size=(N, P)))
KINDS = ("gaussian", "student", "poisson", "negative-binomial")


def drawn(kind):
    """A likelihood with parameters unlike those of its start, in float64, and rows of it."""
    made = likelihood_of(kind, (P,)).double()
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for values in (*made.parameters(), *made.buffers()):
            values += 0.1 * torch.rand(P, generator=generator, dtype=torch.float64)
    rows = RNG.poisson(3, (N, P)) if "i" in kind else RNG.normal(size=(N, P))
    return made, torch.from_numpy(rows.astype(float))


def by_scipy(made, x):
    if isinstance(made, NegativeBinomial | Poisson):
        rate = (made.log_mean + made.slope * OUTPUT).exp().detach().numpy()
        if isinstance(made, NegativeBinomial):
            r = made.r.detach().numpy()
            return stats.nbinom.logpmf(x.numpy(), r, r / (r + rate))
        return stats.poisson.logpmf(x.numpy(), rate)
    scale = made.scale.detach().numpy()
    if isinstance(made, Student):
        return stats.t.logpdf(x.numpy(), made.df.detach().numpy(), OUTPUT.numpy(), scale)
    return stats.norm.logpdf(x.numpy(), OUTPUT.numpy(), scale)


@pytest.mark.parametrize("kind", KINDS)
def test_the_loss_is_minus_scipys_log_density_and_leaves_out_gaps(kind):
    made, x = drawn(kind)
    known = -by_scipy(made, x)
    np.testing.assert_allclose(made(OUTPUT, x).detach(), known.sum(axis=1), rtol=1e-6)
    x[1, 2] = x[1, 3] = torch.nan
    assert made(OUTPUT, x)[1].item() == pytest.approx(known[1, :2].sum(), rel=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_are_those_of_small_steps_also_beside_gaps(kind):
    made, x = drawn(kind)
    x[0, 0] = torch.nan
    output = OUTPUT.clone().requires_grad_()
    assert torch.autograd.gradcheck(lambda out, *_: made(out, x).sum(), (output, *made.parameters()))


def test_means_and_depth():
    made, x = drawn("negative-binomial")
    torch.testing.assert_close(made.mean(OUTPUT), (made.log_mean + made.slope * OUTPUT).exp())
    made.depth = True
    depth = log_depth(x, made.log_mean.exp())
    np.testing.assert_allclose(depth.exp()[:, 0], x.sum(1) / made.log_mean.exp().sum())
    made.depth, shifted = False, OUTPUT + depth / made.slope
    known = made(shifted, x)
    made.depth = True
    torch.testing.assert_close(made(OUTPUT, x), known)


def test_the_sum_over_unlike_columns():
    kinds = ["poisson", "bernoulli", "gaussian", "poisson"]
    made = OfColumns(kinds)
    x = torch.tensor([[2.0, 1.0, 0.3, 0.0]])
    output = torch.tensor([[0.1, 0.5, 0.2, -0.4]])
    parts = {"poisson": Poisson((2,)), "bernoulli": Bernoulli(), "gaussian": Normal((1,))}
    columns = {"poisson": [0, 3], "bernoulli": [1], "gaussian": [2]}
    known = sum(parts[kind](output[:, of], x[:, of]) for kind, of in columns.items())
    torch.testing.assert_close(made(output, x), known)
    torch.testing.assert_close(made.mean(output)[0, [0, 3]], output[0, [0, 3]].exp())
    assert made.mean(output)[0, 2] == output[0, 2]


@pytest.mark.parametrize("depth", [False, True])
def test_gaps_have_no_influence_on_loss_and_gradients(depth):
    """Also in a row without any count, whose depth nobody knows."""
    made, rng = OfColumns(["gaussian", *KINDS, "poisson", "bernoulli"], depth).double(), np.random.default_rng(2)
    x = torch.from_numpy(np.c_[rng.normal(size=(N, 3)), rng.poisson(3, (N, 3)), rng.integers(0, 2, N)])
    gaps = torch.from_numpy(rng.random(x.shape) < 0.3)
    gaps[0, 3:6] = True
    x[gaps] = torch.nan
    found = []
    for inside in (0.0, 7.0):
        output = torch.linspace(-1, 1, x.numel()).reshape(x.shape).double()
        output[gaps] += inside
        loss = made(output.requires_grad_(), x)
        found.append([loss, *torch.autograd.grad(loss.sum(), [output, *made.parameters()])])
        assert (found[-1][1][gaps] == 0).all()
    for first, second in zip(*found):
        assert first.isfinite().all()
        torch.testing.assert_close(first, second)


def test_depth_is_that_of_all_counts_of_a_row():
    """A count must not be told to the decoder by being its own depth."""
    made = OfColumns(["poisson", "negative-binomial", "negative-binomial"], depth=True)
    x, output = torch.tensor([[4.0, 1.0, 1.0]]), torch.zeros(1, 3)
    rate, r = 2.0, made.parts["negative-binomial"].r.detach().numpy()
    known = -stats.poisson.logpmf(4, rate) - stats.nbinom.logpmf([1, 1], r, r / (r + rate)).sum()
    assert made(output, x).item() == pytest.approx(known, rel=1e-5)


def test_the_fitted_noise_is_that_of_observed_values():
    x = torch.tensor([[0.05, torch.nan], [-0.05, 0.05]])
    found = FittedGaussian(0.01)(torch.zeros(2, 2), x)
    np.testing.assert_allclose(found, [0.5 + np.log(0.05), 2 * (0.5 + np.log(0.05))], rtol=1e-5)


def rates(n=400, p=15, seed=0):
    rng = np.random.default_rng(seed)
    z = rng.uniform(-1, 1, size=(n, 2))
    return z, np.exp(z @ rng.normal(size=(2, p)) + rng.normal(size=p)), rng


def fitted(X, cls=ub.VAE, **settings):
    given = {name: settings.pop(name) for name in ("covariates", "y") if name in settings}
    steps = settings.pop("max_steps", 300)
    return cls(2, max_steps=steps, random_state=0, **settings).fit(X, **given)


def correlation(truth, found):
    return np.corrcoef(truth.ravel(), found.ravel())[0, 1]


def test_counts_are_recognised_and_their_rates_found_better_than_by_a_gaussian():
    z, mu, rng = rates()
    X = rng.poisson(mu)
    auto, plain = fitted(X), fitted(X, likelihood="gaussian")
    assert auto.likelihood_ == "negative-binomial"
    errors = [np.abs(np.log(mu) - np.log(np.maximum(m.reconstruct(X), 0.05))).mean() for m in (auto, plain)]
    assert errors[0] < 0.85 * errors[1]


@pytest.mark.parametrize("cls", [ub.VAE, ub.IVAE, ub.AdaGVAE, ub.SlowVAE, ub.HessianAutoencoder, ub.Autoencoder])
def test_rates_start_at_the_means_of_columns_and_logarithms_are_seen_standardised(cls):
    _, mu, rng = rates()
    X, rows = rng.poisson(mu), np.arange(400)
    known = {ub.IVAE: {"y": rows % 5}, ub.AdaGVAE: {"pairs": rows.reshape(-1, 2)}, ub.SlowVAE: {"time": rows}}
    model = cls(2, likelihood="poisson", max_steps=1, random_state=0).fit(X, **known.get(cls, {}))
    np.testing.assert_allclose(model.weights_["likelihood.log_mean"], np.log(X.mean(0)), rtol=1e-4, atol=1e-5)
    encoder = model._network["encoder"]
    seen = encoder.view(torch.from_numpy(X).float())
    np.testing.assert_allclose(seen.mean(0), 0, atol=1e-5)
    assert seen.square().mean().item() == pytest.approx(1, rel=1e-4)


def test_heavy_tails_bend_the_codes_less():
    z, mu, rng = rates()
    clean = np.log(mu)
    X = clean + 0.1 * rng.standard_t(1.1, size=clean.shape)
    found = {kind: correlation(clean, fitted(X, likelihood=kind).reconstruct(X)) for kind in ("student", "gaussian")}
    assert found["student"] > 0.9
    assert found["student"] > found["gaussian"] + 0.1


def test_unlike_columns_are_recognised_saved_and_decoded():
    z, mu, rng = rates(seed=3)
    X = np.c_[rng.poisson(mu[:, :8]), 1e3 * np.log(mu[:, 8:12]), rng.random((400, 3)) < 1 / (1 + 1 / mu[:, 12:])]
    assert recognised([X], X) == ["negative-binomial"] * 8 + ["gaussian"] * 4 + ["bernoulli"] * 3
    X = np.c_[X, np.full(400, 7.0)]  # a constant column is left out, and comes back
    model = fitted(X)
    assert model.likelihood_ == "mixed"
    back = model.reconstruct(X)
    assert np.all(back[:, -1] == 7)
    assert min(correlation(np.log(mu[:, j]), back[:, j]) for j in range(8, 12)) > 0.8
    assert back[:, :8].min() >= 0
    assert 0 <= back[:, 12:15].min() <= back[:, 12:15].max() <= 1
    with pytest.raises(ValueError, match=facts("negative-binomial", "column 0", "-1")):
        model.transform(np.where(np.arange(16) == 0, -1, X))
    again = fitted(X, likelihood=[*model.kinds_, "gaussian"])
    np.testing.assert_array_equal(again.transform(X), model.transform(X))


def test_rare_values_count_when_columns_are_recognised():
    rng = np.random.default_rng(0)
    X = np.c_[rng.poisson(2, (12_000, 6)), np.zeros((12_000, 3))]
    X[:, 8] = np.nan
    for column, values in enumerate(([0, 0, 1], [0, 2, 1], [1, 4, 2]), start=6):
        X[[3, 6, 8], column] = values  # not among the 5,000 rows from which counts are told
    model = fitted(X, max_steps=2)
    assert model.kinds_ == ["negative-binomial"] * 6 + ["bernoulli"] + ["negative-binomial"] * 2
    assert np.isfinite(model.transform(X)).all()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"likelihood": ["gaussian"]}, facts("likelihood", 1, 15)),
        ({"likelihood": ["cauchy"] * 15}, facts("cauchy", "student")),
        ({"counts": "depth", "likelihood": "gaussian"}, facts("depth", "gaussian", "poisson")),
        ({"likelihood": "poisson"}, facts("poisson", "column 0")),
        ({"likelihood": "bernoulli"}, facts("bernoulli", "column", "0 to 1")),
    ],
)
def test_what_does_not_fit_is_refused(settings, words):
    X = rates()[1]
    with pytest.raises(ValueError, match=words):
        fitted(X, max_steps=2, **settings)


def test_images_have_no_counts():
    with pytest.raises(ValueError, match=facts("poisson", (16, 16), "bernoulli")):
        ub.VAE(2, likelihood="poisson", max_steps=2).fit(np.random.default_rng(0).random((20, 16, 16)))


def test_depth_is_not_coded():
    _, mu, rng = rates(seed=1)
    depth = rng.lognormal(0, 0.7, (400, 1))
    X = rng.poisson(3 * mu * depth)
    share = {}
    for counts in ("given", "depth"):
        codes = fitted(X, counts=counts).transform(X)
        share[counts] = max(abs(np.corrcoef(np.log(depth[:, 0]), code)[0, 1]) for code in codes.T)
    assert share["depth"] < 0.3 < share["given"]


SETTINGS = [
    (ub.VAE, {"likelihood": "student"}, "real"),
    (ub.VAE, {"counts": "depth"}, "counts"),
    (ub.Autoencoder, {"likelihood": "poisson"}, "counts"),
    (ub.IVAE, {"likelihood": "negative-binomial"}, "counts"),
    (ub.FactorVAE, {}, "mixed"),
]


def table(what, n=120):
    z, mu, rng = rates(n)
    if what == "real":
        return np.log(mu)
    X = rng.poisson(mu).astype(float)
    return X if what == "counts" else np.c_[X, rng.random((n, 2)) < 0.5, np.log(mu[:, :2])]


@pytest.mark.parametrize(("cls", "settings", "what"), SETTINGS)
def test_saving_resuming_and_gaps(cls, settings, what, tmp_path):
    X, rng = table(what), np.random.default_rng(5)
    labels = {"y": np.arange(len(X)) % 5} if cls is ub.IVAE else {}
    gappy = np.where(rng.random(X.shape) < 0.2, np.nan, X)
    run = {"checkpoint": tmp_path / "run.safetensors", **settings}
    model = fitted(gappy, cls, max_steps=20, **settings, **labels)
    fitted(gappy, cls, max_steps=20, max_seconds=0, **run, **labels)
    np.testing.assert_array_equal(fitted(gappy, cls, max_steps=20, **run, **labels).transform(X), model.transform(X))
    assert model.missing_ == pytest.approx(0.2, abs=0.03)
    masked = np.ma.masked_invalid(gappy)
    np.testing.assert_array_equal(model.transform(masked), model.transform(gappy))
    back = ub.load(model.save(tmp_path / "saved"))
    np.testing.assert_array_equal(back.transform(gappy), model.transform(gappy))
    np.testing.assert_array_equal(back.reconstruct(gappy), model.reconstruct(gappy))
    assert "missing" in [fact.name for fact in model.summary().facts]
    with pytest.raises(ValueError, match="NaN"):
        fitted(X, cls, max_steps=2, **settings, **labels).transform(gappy)


def test_rows_with_gaps_get_the_codes_of_whole_rows():
    z, mu, rng = rates(800)
    X = np.log(mu) + 0.1 * rng.normal(size=mu.shape)
    gappy = np.where(rng.random(X.shape) < 0.2, np.nan, X)
    model = fitted(gappy, max_steps=400)
    whole, part = model.transform(X), model.transform(gappy)
    assert min(correlation(whole[:, j], part[:, j]) for j in range(2)) > 0.95
    assert correlation(X[np.isnan(gappy)], model.reconstruct(gappy)[np.isnan(gappy)]) > 0.9


def test_gaps_that_cannot_be_learned_from_are_refused():
    X = np.random.default_rng(0).normal(size=(40, 5))
    empty = X.copy()
    empty[:, 2] = np.nan
    with pytest.raises(ValueError, match=facts("column 2", "NaN")):
        fitted(empty, max_steps=2)
    model = fitted(np.where(X > 2, np.nan, X), max_steps=2)
    with pytest.raises(ValueError, match=facts("2 rows", "NaN")):
        model.transform(np.full((2, 5), np.nan))
    with pytest.raises(ValueError, match=facts("NaN", "PCAICA")):
        ub.AdditiveVAE(2, max_steps=2).fit(np.where(X > 2, np.nan, X))


def test_pictures_with_gaps():
    X = ub.datasets.load("shapes-xy", image_size=16).sample(60, random_state=0)[0] / 255.0
    X[::2, 3:6, 3:6] = np.nan
    model = ub.VAE(2, max_steps=5, random_state=0).fit(X)
    assert np.isfinite(model.transform(X)).all()
    assert np.isfinite(model.reconstruct(X)).all()


def batches(n=600, seed=0):
    """Clean rows, rows whose batches explain half of the variance, and the batches."""
    _, mu, rng = rates(n, seed=seed)
    clean = np.log(mu)
    batch = rng.integers(0, 3, n)
    offset = rng.normal(size=(3, clean.shape[1]))[batch]
    return clean, clean + offset * np.sqrt(clean.var(axis=0).sum() / offset.var(axis=0).sum()), batch


@pytest.mark.parametrize("cls", [ub.VAE, ub.IVAE])
def test_covariates_are_inputs_so_that_codes_do_not_carry_them(cls, tmp_path):
    clean, X, batch = batches()
    days = np.array(["mo", "tu", "we"])[batch]
    labels = {"y": np.arange(len(X)) % 5} if cls is ub.IVAE else {}
    model = fitted(X[:500], cls, covariates=days[:500], **{k: v[:500] for k, v in labels.items()})
    data, codes = model.explained_by_covariates_
    assert data == pytest.approx(0.5, abs=0.05)
    assert codes < 0.05
    new = ub.Observations(X[500:], covariates=days[500:])
    assert correlation(X[500:], model.reconstruct(new)) > 0.95
    at_mean = model.inverse_transform(model.transform(new))
    assert correlation(clean[500:] - clean.mean(0), at_mean - at_mean.mean(0)) > 0.9
    moved_codes = ub.Observations(np.zeros((3, 2)), covariates=["mo", "tu", "we"])
    moved = model.inverse_transform(moved_codes)
    assert correlation(np.stack([X[batch == b].mean(0) for b in range(3)]), moved) > 0.95
    np.testing.assert_array_equal(
        model.transform(X[:500]), model.transform(ub.Observations(X[:500], covariates=days[:500]))
    )
    back = ub.load(model.save(tmp_path / "run"))
    np.testing.assert_array_equal(back.transform(new), model.transform(new))
    with pytest.raises(ValueError, match="no covariates"):
        fitted(X, max_steps=2).inverse_transform(moved_codes)
    assert "covariates explain" in [fact.name for fact in model.summary().facts]
    with pytest.raises(ValueError, match=facts("100", "covariates=")):
        model.transform(X[500:])
    with pytest.raises(ValueError, match=facts("'su'", "mo, tu, we")):
        model.transform(ub.Observations(X[500:], covariates=np.full(100, "su")))


@pytest.mark.parametrize("cls", [ub.VAE, ub.IVAE])
def test_covariates_beside_gaps(cls, tmp_path):
    clean, X, batch = batches()
    gappy = np.where(np.random.default_rng(1).random(X.shape) < 0.2, np.nan, X)
    labels = {"y": np.arange(len(X)) % 5} if cls is ub.IVAE else {}
    model = fitted(gappy, cls, covariates=batch, **labels)
    assert model.missing_ == pytest.approx(0.2, abs=0.02)
    assert model.explained_by_covariates_[1] < 0.05
    at_mean = model.inverse_transform(model.transform(gappy))
    assert correlation(clean - clean.mean(0), at_mean - at_mean.mean(0)) > 0.9
    gaps = np.isnan(gappy)
    assert correlation(X[gaps], model.reconstruct(gappy)[gaps]) > 0.9
    new = ub.Observations(gappy[:9], covariates=batch[:9])
    np.testing.assert_allclose(ub.load(model.save(tmp_path / "run")).transform(new), model.transform(gappy)[:9])


def test_pairs_and_time_carry_covariates_too():
    _, X, batch = batches(100)
    pairs, few = np.arange(100).reshape(-1, 2), {"max_steps": 3, "random_state": 0}
    assert ub.AdaGVAE(2, **few).fit_transform(X, pairs=pairs, covariates=batch).shape == (100, 2)
    assert ub.SlowVAE(2, **few).fit_transform(X, time=np.arange(100), covariates=batch).shape == (100, 2)
    pictures = ub.datasets.load("shapes-xy", image_size=16).sample(100, random_state=0)[0]
    assert ub.VAE(2, **few).fit_transform(pictures, covariates=batch).shape == (100, 2)
    with pytest.raises(ValueError, match=facts("AdditiveVAE", "covariates")):
        ub.AdditiveVAE(2, **few).fit(ub.Observations(X, covariates=batch))
