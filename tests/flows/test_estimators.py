"""The estimators' contract: fit, transform and back, scores, samples, transfer, resume, saving, errors."""

import warnings

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import unbraid as ub
from tests.facts import facts
from unbraid.flows.base import FlowEstimator
from unbraid.flows.spectrum import agreement
from unbraid.flows.training import FlowTrainer
from unbraid.trust.warnings import AssumptionWarning

from .artificial import augmented, mcc, mixture

QUICK = {"max_steps": 30, "n_init": 2, "engine": "torch", "random_state": 0}
FLOWS = [ub.NICE, ub.RealNVP, ub.GIN]
quiet = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.fixture(scope="module")
def data():
    """Three overlapping classes in 4 dimensions, two of them noise."""
    rng = np.random.default_rng(0)
    labels = np.arange(600) % 3
    X = rng.normal(size=(600, 4)) * [1, 0.7, 0.01, 0.01] + labels[:, None] * [1.0, -0.5, 0, 0]
    return X, labels


@pytest.fixture(scope="module")
def fitted(data):
    """GIN on these data, for tests that do not train it differently."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return ub.GIN(**QUICK).fit(*data)


class Shaken:
    """An augmentation whose name, and so that of a test, is the same in every process."""

    def __call__(self, X, rng):
        return X + 0.1 * rng.normal(size=X.shape)

    def __repr__(self):
        return "shaken"


shaken = Shaken()


@quiet
def test_the_papers_optimiser_can_be_chosen(data):
    """Adam's usual betas, and a drop of the rate at a share of the steps; the last scale as minus the sum."""
    usual, at = [], []

    class Watched(FlowTrainer):
        def _drop(self):
            at.append(self.optimizers["flow"].state_dict()["state"][0]["step"].item())
            usual.append(self.optimizers["flow"].param_groups[0]["betas"])
            super()._drop()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("unbraid.flows.base.FlowTrainer", Watched)
        model = ub.GIN(**QUICK, scale="last", betas=(0.9, 0.999), drop=0.25, patience=100).fit(*data)
    assert (usual, at) == ([(0.9, 0.999)], [7])  # of 30 steps
    codes = model.transform(data[0])
    np.testing.assert_allclose(model.inverse_transform(codes), data[0], atol=1e-5)


SMALL = {"n_blocks": 2, "hidden": 4, "max_steps": 2, "n_init": 1, "engine": "torch", "random_state": 0}
CHECKED = [f(**SMALL) for f in FLOWS]
CHECKED.append(ub.SelfSupervisedGIN(shaken, n_augmentations=3, **SMALL))


@quiet
@parametrize_with_checks(CHECKED)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@quiet
@pytest.mark.parametrize("cls", FLOWS)
def test_there_and_back(cls, data, fitted):
    X, labels = data
    model = fitted if cls is ub.GIN else cls(**QUICK | {"max_steps": 10}).fit(X, labels)
    codes = model.transform(X)
    assert codes.shape == X.shape
    np.testing.assert_allclose(model.inverse_transform(codes), X, atol=1e-5)
    new = X[:7] + 0.1
    np.testing.assert_allclose(model.inverse_transform(model.transform(new)), new, atol=1e-5)
    assert (np.diff(model.importance_) <= 0).all()
    assert model.inverse_transform(codes[:, :2]).shape == X.shape


@quiet
def test_untrained_score_is_the_normal_density(data):
    """A flow of one small step is nearly the identity, so the density is that of class-wise normals."""
    from scipy.stats import norm

    X, labels = data
    model = ub.GIN(max_steps=1, learning_rate=1e-9, n_init=1, engine="torch", random_state=0).fit(X, labels)
    noisy = [np.sqrt(X[labels == c].var(0) + model.noise_**2) for c in range(3)]
    expected = np.stack([norm(X[labels == c].mean(0), noisy[c]).logpdf(X).sum(1) for c in range(3)])
    np.testing.assert_allclose(model.score_samples(X, labels), expected[labels, np.arange(600)], atol=0.35)
    mixed = np.logaddexp.reduce(expected - np.log(3), axis=0)
    np.testing.assert_allclose(model.score_samples(X), mixed, atol=0.35)


@quiet
def test_density_integrates_to_1():
    rng = np.random.default_rng(0)
    labels = np.arange(400) % 2
    X = rng.normal(size=(400, 2)) + labels[:, None]
    for cls in FLOWS:
        model = cls(max_steps=30, n_init=1, engine="torch", random_state=0).fit(X, labels)
        axis = np.linspace(-8, 9, 100)
        grid = np.stack(np.meshgrid(axis, axis), -1).reshape(-1, 2)
        total = np.exp(model.score_samples(grid)).sum() * (axis[1] - axis[0]) ** 2
        assert abs(total - 1) < 0.02


@quiet
def test_samples_follow_the_class(data, fitted):
    (X, labels), model = data, fitted
    for c in range(3):
        drawn = model.sample(3000, label=c, random_state=0)
        np.testing.assert_allclose(drawn[:, :2].mean(0), X[labels == c][:, :2].mean(0), atol=0.2)
    cold = model.sample(500, label=1, temperature=0.1, random_state=0)
    assert cold[:, 0].std() < 0.2
    clean = model.sample(500, label=1, n_factors=2, random_state=0)
    assert model.transform(clean)[:, 2:].std(0).max() < 1e-6
    np.testing.assert_array_equal(model.sample(5, random_state=3), model.sample(5, random_state=3))
    with pytest.raises(ValueError, match=facts(7, "0, 1, 2")):
        model.sample(2, label=7)


@quiet
def test_transfer_keeps_style_and_changes_class(data, fitted):
    (X, labels), model = data, fitted
    moved = model.transfer(X[labels == 0], 0, 2)
    style = model._whiten(model.transform(X[labels == 0]), model._parameters_of(0, 200))
    again = model._whiten(model.transform(moved), model._parameters_of(2, 200))
    np.testing.assert_allclose(style, again, atol=1e-4)
    np.testing.assert_allclose(model.transfer(moved, 2, 0), X[labels == 0], atol=1e-4)
    assert abs(moved[:, 0].mean() - X[labels == 2][:, 0].mean()) < 0.2


@quiet
@pytest.mark.parametrize("latent", ["lognormal", "inverse-gaussian", "gamma", "inverse-gamma", "beta"])
def test_other_families_fit_sample_and_invert(latent, data):
    X, labels = data
    model = ub.GIN(latent=latent, **QUICK | {"max_steps": 10, "n_init": 1}).fit(X * 0.5, labels)
    codes = model.transform(X * 0.5)
    assert (codes > 0).all()
    np.testing.assert_allclose(model.inverse_transform(codes), X * 0.5, atol=1e-5)
    assert np.isfinite(model.score_samples(X * 0.5)).all()
    assert np.isfinite(model.sample(20, label=1, random_state=0)).all()
    back = model.transfer(model.transfer(X[:5] * 0.5, labels[:5], 1), 1, labels[:5])
    np.testing.assert_allclose(back, X[:5] * 0.5, atol=1e-3)


@quiet
def test_soft_and_continuous_conditions(data):
    X, labels = data
    soft = np.eye(3)[labels] * 0.9 + 0.1 / 3
    model = ub.GIN(**QUICK | {"max_steps": 10}).fit(X, soft)
    assert model.condition_ == "soft"
    assert np.isfinite(model.score_samples(X)).all()
    values = labels + np.random.default_rng(0).normal(size=600) * 0.1
    model = ub.GIN(**QUICK | {"max_steps": 100, "n_init": 1}).fit(X, values)
    assert model.condition_ == "continuous"
    low, high = model.sample(500, label=0.0, random_state=0), model.sample(500, label=2.0, random_state=0)
    assert high[:, 0].mean() - low[:, 0].mean() > 1
    with pytest.raises(ValueError, match=facts("continuous", "score_samples", "labels")):
        model.score_samples(X)


@quiet
@pytest.mark.parametrize("cls", [ub.GIN, ub.RealNVP])
def test_save_and_load(cls, data, fitted, tmp_path):
    X, labels = data
    model = fitted if cls is ub.GIN else cls(**QUICK | {"max_steps": 10}).fit(X, labels)
    model.save(tmp_path / "run")
    again = ub.load(tmp_path / "run")
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    np.testing.assert_array_equal(again.sample(3, label=1, random_state=0), model.sample(3, label=1, random_state=0))


@quiet
def test_repeatable_and_global_seeds_untouched(data, fitted):
    X, labels = data
    state = torch.get_rng_state()
    numpy_state = np.random.get_state()[1].copy()  # noqa: NPY002
    again = clone(fitted).fit(X, labels)
    np.testing.assert_array_equal(again.transform(X), fitted.transform(X))
    assert torch.equal(state, torch.get_rng_state())
    assert (numpy_state == np.random.get_state()[1]).all()  # noqa: NPY002


class Judged(ub.GIN):
    """GIN whose starts have scores that are told."""

    told = (3.0, np.nan, 1.0, 2.0)

    def _evaluation(self, *given):
        return lambda theta, extra: np.array(self.told)


@pytest.fixture
def starts(monkeypatch):
    """All starts of the fits that follow: their trainers."""
    made = []

    class Kept(FlowTrainer):
        def __init__(self, *given):
            super().__init__(*given)
            made.append(self)

    monkeypatch.setattr("unbraid.flows.base.FlowTrainer", Kept)
    return made


def assert_kept(model, trainer, best, X):
    """The weights and the permutations are those of this start, and of no other."""
    assert model.best_init_ == best
    flow, theta = trainer.flow, trainer.theta
    codes = [flow.select(k).encode(theta[k : k + 1].double(), torch.from_numpy(X))[0][0].numpy() for k in range(4)]
    found = np.empty_like(codes[0])
    found[:, model.order_] = model.transform(X)
    errors = [np.abs(found - c).max() for c in codes]
    assert errors[best] < 1e-6
    assert min(e for k, e in enumerate(errors) if k != best) > 1e-3, "the starts must differ"


@quiet
def test_the_start_of_the_best_score_is_kept(data, starts):
    X, labels = data
    model = Judged(**QUICK | {"n_init": 4, "max_steps": 5}).fit(X, labels)
    np.testing.assert_array_equal(model.init_scores_, [-3, -np.inf, -1, -2])
    assert_kept(model, starts[0], 2, X)


@quiet
def test_the_score_of_a_start_is_its_held_out_likelihood(data, starts):
    """The scores of the starts, taken on new points of the same law, come out the same."""
    X, labels = data
    model = ub.GIN(**QUICK | {"n_init": 4, "max_steps": 100}).fit(X, labels)
    assert model.best_init_ == model.init_scores_.argmax()
    rng = np.random.default_rng(5)
    new = rng.normal(size=(3000, 4)) * [1, 0.7, 0.01, 0.01] + (np.arange(3000) % 3)[:, None] * [1.0, -0.5, 0, 0]
    new += model.noise_ * rng.normal(size=new.shape)
    assert model.score(new, np.arange(3000) % 3) == pytest.approx(model.init_scores_.max(), abs=0.3)


@quiet
def test_self_supervision_keeps_the_start_that_agrees(data, starts, monkeypatch):
    """The kept start is the one that the others find again best, not that of the best score."""
    X, _ = data
    monkeypatch.setattr("unbraid.flows.selfsupervised.agreement", lambda codes: np.array([0.3, 0.9, 0.2, 0.1]))
    quick = QUICK | {"n_init": 4, "max_steps": 5, "n_augmentations": 4}
    for_score = ub.SelfSupervisedGIN(augment=shaken, consensus=False, **quick).fit(X)
    assert_kept(for_score, starts[0], 1, X)


def test_agreement_is_least_for_the_start_that_is_turned():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(400, 3)) * [2, 1, 0.01]
    turned = z @ np.linalg.qr(rng.normal(size=(3, 3)))[0]
    scores = agreement(np.stack([turned, 2 * z[:, [1, 0, 2]], -z, z + 0.3 * rng.normal(size=z.shape)]))
    assert scores.argmin() == 0
    assert scores.argmax() in (1, 2)


@quiet
@pytest.mark.parametrize("method", CHECKED, ids=lambda m: type(m).__name__)
def test_a_code_does_not_depend_on_its_batch(method, data):
    X, labels = data
    model = clone(method).fit(X, labels)
    whole = model.transform(X)
    np.testing.assert_allclose(
        np.concatenate([model.transform(X[i : i + 1]) for i in range(20)]), whole[:20], atol=1e-9
    )
    np.testing.assert_allclose(model.transform(X[::-1].astype(np.float32))[::-1], whole, atol=1e-5)


@quiet
@pytest.mark.parametrize("method", CHECKED, ids=lambda m: type(m).__name__)
def test_frames_go_in_and_come_out_and_their_columns_keep_their_order(method, data):
    pandas = pytest.importorskip("pandas")
    X, labels = data
    frame = pandas.DataFrame(X, columns=list("abcd"))
    model = clone(method).set_output(transform="pandas").fit(frame, labels)
    codes = model.transform(frame)
    name = type(method).__name__.lower()
    assert list(codes.columns) == list(model.get_feature_names_out()) == [f"{name}{i}" for i in range(4)]
    np.testing.assert_array_equal(codes, clone(method).fit(X, labels).transform(X))
    with pytest.raises(ValueError, match="same order"):
        model.transform(frame[list("bacd")])


@quiet
def test_engines_agree(data):
    X, labels = data
    quick = {**QUICK, "max_steps": 10}
    plain = ub.GIN(**quick).fit(X, labels)
    fused = ub.GIN(**{**quick, "engine": "fused"}).fit(X, labels)
    np.testing.assert_allclose(fused.init_scores_, plain.init_scores_, atol=0.05)


@quiet
def test_pictures_come_back_in_the_unit_interval_and_numbers_in_their_own():
    rng = np.random.default_rng(0)
    pictures, labels = rng.integers(0, 256, (60, 4, 8)).astype(np.uint8), np.arange(60) % 2
    quick = {
        "hidden": (4, 4, 16),
        "n_blocks": (2, 1, 1),
        "max_steps": 4,
        "n_init": 1,
        "batch_size": 40,
        "random_state": 0,
    }
    model = ub.GIN(**quick).fit(pictures, labels)
    assert (model.unit_, model.is_picture_, model.row_shape_) == (255, True, (4, 8))
    drawn = model.sample(50, random_state=0)
    assert drawn.min() >= 0
    assert drawn.max() <= 1
    np.testing.assert_allclose(model.transform(pictures / 255), model.transform(pictures), atol=1e-4)
    with pytest.raises(ValueError, match=facts("[0, 1]", 0, 255)):
        model.transform(pictures.astype(float))
    numbers = ub.GIN(**quick, learning_rate=1e-4).fit(pictures.astype(float) - 100, labels)
    assert numbers.inverse_transform(numbers.transform(pictures - 100.0)).max() > 100
    with pytest.raises(ValueError, match=facts("uint8", "X / 255")):
        numbers.transform(pictures)


@quiet
def test_images_go_through_convolutions():
    rng = np.random.default_rng(0)
    labels = np.arange(60) % 2
    images = np.zeros((60, 8, 8), np.uint8)
    images[:, 2:6, 2:6] = rng.integers(100, 255, (60, 4, 4))
    images[labels == 1] //= 2
    quick = {"n_blocks": (2, 1, 1), "hidden": (4, 4, 16), "max_steps": 2, "batch_size": 40, "random_state": 0}
    model = ub.GIN(n_init=2, learning_rate=1e-3, **quick).fit(images, labels)
    codes = model.transform(images)
    assert codes.shape == (60, 64)
    np.testing.assert_allclose(model.inverse_transform(codes), images / 255, atol=1e-4)
    assert model.sample(3, label=0, random_state=0).shape == (3, 8, 8)
    colour = np.repeat(images[..., None] / 255, 3, -1)
    model = ub.NICE(n_init=1, **quick).fit(colour, labels)
    np.testing.assert_allclose(model.inverse_transform(model.transform(colour)), colour, atol=1e-5)


@pytest.mark.parametrize(
    ("X", "labels", "message"),
    [
        (np.ones((20, 3)), np.zeros(20, int), ("class", [0], "RealNVP")),
        (np.ones((20, 3)), None, ("GIN", "requires y", "SelfSupervisedGIN")),
        (np.ones((20, 3)), np.arange(19) % 2, ("labels", (19,), 20)),
        (np.full((20, 3), np.nan), np.arange(20) % 2, ("NaN", 20)),
        (np.array([["a", "b"]] * 20), np.arange(20) % 2, ("X", "<U1")),
        (np.ones((20, 1)), np.arange(20) % 2, ("n_features = 1",)),
        (np.ones((20, 3)), np.arange(20) % 2, ("X", "constant")),
        (np.ones((20, 3)), np.arange(20), (20, "condition='continuous'")),
    ],
)
def test_wrong_data(X, labels, message):
    with pytest.raises(ValueError, match=facts(*message)):
        ub.GIN(**QUICK).fit(X, labels)


@pytest.mark.parametrize(
    "wrong",
    [{"latent": "cauchy"}, {"engine": "gpu"}, {"architecture": "mlp"}, {"noise": -1}, {"noise": "big"},
     {"max_steps": 0}, {"learning_rate": 0}, {"condition": "labels"}, {"n_factors": 99}, {"clamp": "none"},
     {"hidden": (4, 4, 4)}, {"n_blocks": [2]}],
)  # fmt: skip
@quiet
def test_wrong_parameters(wrong, data):
    with pytest.raises(ValueError, match=facts(*wrong, *wrong.values())):
        ub.GIN(**{**QUICK, **wrong}).fit(*data)


@pytest.mark.parametrize("sizes", [{"hidden": 8}, {"n_blocks": (2, 2)}])
def test_the_convolutional_network_has_three_sizes(sizes):
    with pytest.raises(ValueError, match=facts(*sizes, "three", (1, 8, 8))):
        ub.GIN(**QUICK, **sizes).fit(np.random.default_rng(0).random((30, 8, 8)), np.arange(30) % 2)


@quiet
def test_constant_features_do_no_harm(data):
    X, labels = data
    padded = np.concatenate((X, np.zeros((600, 3)), np.ones((600, 1))), 1)
    quick = QUICK | {"max_steps": 10}
    model = ub.GIN(**quick).fit(padded, labels)
    assert np.isfinite(model.transform(padded)).all()
    assert np.isfinite(model.score_samples(padded)).all()
    assert model.n_features_in_ == 8
    with pytest.warns(UserWarning, match=facts("UB302", "4 of 8", "noise=0")):  # of pictures no pixel is left out
        ub.GIN(**quick, noise=0).fit(padded.reshape(600, 2, 4), labels)


@pytest.mark.filterwarnings("ignore:UB252")  # of a short training
def test_disjoint_clusters_are_warned_of():
    X, _, labels = mixture(0, n=1500, n_classes=4, apart=True)
    with pytest.warns(AssumptionWarning, match=facts("UB102", "[[0], [1, 3], [2]]")):
        ub.GIN(max_steps=1, n_init=1, engine="torch", n_factors=1, random_state=0).fit(X, labels)


@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 20))])
@quiet
def test_no_nan_loss(seed):
    X, _, labels = mixture(seed, n=1000)
    model = ub.GIN(max_steps=40, n_init=1, engine="torch", batch_size=200, random_state=seed).fit(X, labels)
    assert np.isfinite([h["loss"] for h in model.history_]).all()


@quiet
def test_gin_finds_the_factors():
    X, factors, labels = mixture(2, n=4000)
    model = ub.GIN(max_steps=400, n_init=1, random_state=0).fit(X, labels)
    codes = model.transform(X)
    assert model.n_informative_ == 2
    assert mcc(factors, codes[:, :2]) > 0.97


@quiet
def test_self_supervised_takes_functions_and_sets():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)) * [2, 1, 0.01, 0.01]
    shake = np.array([0.5, 0.5, 0, 0])
    quick = {"max_steps": 5, "n_init": 1, "engine": "torch", "random_state": 0, "n_augmentations": 4}
    sets = X[:, None] + rng.normal(size=(300, 6, 4)) * shake

    def plain(points):
        return points + np.random.default_rng(len(points)).normal(size=points.shape) * shake

    def with_rng(points, rng):
        return points + rng.normal(size=points.shape) * shake

    def as_sets(points, generator):
        return points[:, None] + generator.normal(size=(len(points), 5, 4)) * shake

    for augment, members in ((plain, 4), (with_rng, 4), (as_sets, 5)):
        model = ub.SelfSupervisedGIN(augment, **quick).fit(X)
        assert model.n_members_ == members
        np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-5)
    model = ub.SelfSupervisedGIN(**quick).fit(sets)
    assert model.transform(X).shape == (300, 4)
    assert model.transform(sets).shape == (300, 6, 4)
    assert model.n_members_ == 6


def test_self_supervised_errors():
    X = np.random.default_rng(0).normal(size=(50, 3))
    with pytest.raises(ValueError, match=facts("(n, M, ...)", (50, 3), "augment")):
        ub.SelfSupervisedGIN().fit(X)
    with pytest.raises(ValueError, match=facts((50, 1, 3), 2)):
        ub.SelfSupervisedGIN().fit(X[:, None])
    with pytest.raises(ValueError, match=facts("augment", (50, 2), (50, 3), "(50, M, 3)")):
        ub.SelfSupervisedGIN(augment=lambda x: x[:, :2]).fit(X)
    with pytest.raises(ValueError, match=facts("augment", "'flip'", "'affine'")):
        ub.SelfSupervisedGIN(augment="flip").fit(X)


@quiet
def test_affine_recipe():
    images = np.random.default_rng(0).uniform(size=(3, 8, 8))
    quick = {"max_steps": 2, "n_init": 1, "batch_size": 3, "hidden": 8, "architecture": "dense", "random_state": 0}
    model = ub.SelfSupervisedGIN("affine", **quick).fit(images)
    assert model.n_members_ == 8
    assert model.transform(images).shape == (3, 64)
    with pytest.raises(ValueError, match=facts("(n, height, width", (3, 8))):
        ub.SelfSupervisedGIN("affine", **quick).fit(images[:, 0])


@quiet
def test_self_supervised_finds_the_factors():
    X, factors, sets = augmented(2, 2, n=2000)
    model = ub.SelfSupervisedGIN(max_steps=300, n_init=1, batch_size=100, random_state=0).fit(sets)
    assert mcc(factors, model.transform(X)[:, :2]) > 0.97


def test_every_flow_is_an_estimator():
    assert all(issubclass(cls, FlowEstimator) for cls in [*FLOWS, ub.SelfSupervisedGIN])


def test_an_offset_that_float32_cannot_hold_is_refused():
    X = np.random.default_rng(0).integers(0, 1000, size=(50, 3))
    with pytest.raises(ValueError, match=facts("column 1", "1.7e+09", "StandardScaler")):
        ub.RealNVP(n_blocks=2, hidden=4, max_steps=2).fit(X + [0, 1_700_000_000, 0])
