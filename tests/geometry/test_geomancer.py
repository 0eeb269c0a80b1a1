"""Products of spheres and rotations, whose factors and tangent spaces are known."""

import h5py
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import unbraid as ub
from tests.facts import facts
from tests.geometry.manifolds import product
from unbraid.geometry import eigen
from unbraid.geometry.eigen import filtered, lowest_fields
from unbraid.geometry.graph import symmetrised
from unbraid.geometry.operator import LANES, Diffusion, packed_size, transports, unpack
from unbraid.geometry.tangents import tangent_frames
from unbraid.manifold import largest_angles, nearest
from unbraid.manifold.diagonalize import ffdiag, joint_diagonals
from unbraid.trust.warnings import DataWarning, TrustWarning


def fitted(names, n, *, ambient=15, noise=0.0, seed=0, **options):
    X, true = product(names.split(), n, seed, ambient)
    X = X + noise * np.random.default_rng(seed + 1).normal(size=X.shape)
    model = ub.Geomancer(random_state=0, **options).fit(X)
    return model, X, true


@pytest.fixture(scope="module")
def two_spheres():
    return fitted("S2 S2", 1000)


@pytest.mark.parametrize(
    ("names", "n", "dims", "angle"),
    [
        ("S2 S3", 1500, [3, 2], 0.08),
        ("S1 S2", 800, [2, 1], 0.03),
        pytest.param("S2 S2 S2", 5000, [2, 2, 2], 0.12, marks=pytest.mark.slow),
    ],
)
def test_products(names, n, dims, angle):
    check_product(*fitted(names, n, dim=sum(dims)), dims, angle)


@pytest.mark.filterwarnings("ignore:UB24")
@pytest.mark.parametrize(("n", "neighbors", "authors"), [(1000, 8, 0.388), (1000, 14, 0.313)])
def test_the_papers_variant_is_as_good_as_the_authors_code(n, neighbors, authors):
    """Their figures were measured with their code on other points of S2 x S2."""
    model, _, true = fitted("S2 S2", n, ambient=None, dim=4, variant="paper", n_neighbors=neighbors)
    assert model.dims_ == [2, 2]
    assert ub.metrics.subspace_angle(true, model.subspaces_) == pytest.approx(authors, abs=0.04)


def test_the_papers_laplacian_written_out():
    """Blocks -Q (x) Q off and n_i I on the diagonal, projected onto symmetric matrices of trace 0."""
    X, _ = product(["S2", "S1"], 40, 0)
    near = nearest(X, 6)[1]
    graph, _ = symmetrised(near)
    frames = tangent_frames(X, X, graph.padded(), 3, curved=False)
    q, n, k = transports(frames, graph), graph.n, 3
    dense = np.zeros((n * k * k, n * k * k))
    for e, (i, j) in enumerate(zip(graph.sources, graph.indices)):
        dense[i * 9 : i * 9 + 9, j * 9 : j * 9 + 9] = -np.kron(q[e], q[e])
    dense += np.kron(np.diag(graph.degrees), np.eye(9))
    packed = unpack(np.eye(packed_size(k))[None], k)[0].reshape(9, -1)  # columns: the symmetric basis
    basis = packed @ np.linalg.svd(packed.T @ np.eye(3).reshape(9, 1))[0][:, 1:]  # less the trace
    projected = np.kron(np.eye(n), basis)
    expected = np.linalg.eigvalsh(projected.T @ dense @ projected)[:4]
    rng = np.random.default_rng(0)
    found = lowest_fields(X, frames, graph, 6, tol=1e-6, rng=rng, normalised=False)
    np.testing.assert_allclose(found.values[:2], expected[:2], rtol=0.02, atol=1e-3)


def test_ffdiag_finds_the_axes_of_jacobi_rotations():
    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.normal(size=(20, 4, 4)))[0][:, None]
    matrices = turn @ (rng.normal(size=(20, 3, 4, 1)) * np.eye(4)) @ turn.swapaxes(2, 3)
    matrices += 0.01 * rng.normal(size=matrices.shape)
    matrices = (matrices + matrices.swapaxes(2, 3)) / 2
    (axes, _, left), (reference, _, least) = ffdiag(matrices), joint_diagonals(matrices)
    assert left == pytest.approx(least, rel=1e-3)
    np.testing.assert_allclose(np.abs(axes.swapaxes(1, 2) @ reference).max(axis=1), 1, atol=1e-3)


def test_two_spheres_of_unknown_dimension(two_spheres):
    check_product(*two_spheres, [2, 2], 0.03)


def check_product(model, _, true, dims, angle):
    assert (model.n_submanifolds_, model.dims_) == (len(dims), dims)
    assert model.determined_
    assert model.confidence_ > 0.9
    assert ub.metrics.subspace_angle(true, model.subspaces_) < angle


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:UB247")
@pytest.mark.parametrize(
    ("names", "n", "angle"),
    [("S2 S2", 100_000, 0.06), ("S2 SO3", 100_000, 0.18), ("S2 S2 S2", 50_000, 0.24), ("S2 S2 S2 S2", 40_000, 0.3)],
)
def test_large_products(names, n, angle):
    model, _, true = fitted(names, n, ambient=20, dim=sum(int(name[-1]) for name in names.split()))
    assert model.n_submanifolds_ == len(true)
    assert ub.metrics.subspace_angle(true, model.subspaces_) < angle


@pytest.mark.parametrize(("names", "dim"), [("S4", 4), ("SO3", 3), ("S2", 2), ("S1", 1)])
def test_solid_manifolds_are_not_split(names, dim):
    model, *_ = fitted(names, 500 * min(dim, 2))
    assert model.n_submanifolds_ == 1
    assert model.dims_ == [dim]
    assert model.determined_


@pytest.mark.parametrize(("names", "dim"), [("S1 S1", 2), ("S1 S1 S1", 3), ("S2 S1 S1", 4)])
def test_flat_directions_are_undetermined(names, dim):
    with pytest.warns(TrustWarning, match=facts("UB245", "n_submanifolds_ = 1")):
        model, *_ = fitted(names, 1200, dim=dim)
    assert not model.determined_
    assert "flat" in model.reason_
    assert model.confidence_ == 0
    assert model.n_submanifolds_ == 1


def test_too_few_points_for_the_tangents_are_undetermined():
    with pytest.warns(TrustWarning, match=facts("UB245", 1000, "dimension 5")):
        model, *_ = fitted("S2 SO3", 1000, dim=5)
    assert (model.determined_, model.confidence_, model.dims_) == (False, 0, [5])
    assert f"{model.tangent_error_:.2g} rad" in model.reason_
    assert model.tangent_error_ > 0.5


def test_an_eigenvalue_that_tangents_may_have_lifted_from_zero_says_nothing():
    """The plain version of a few rotations: what may be 0 is not taken for the sign of a single manifold."""
    X = product(["SO3"], 500, 0)[0]
    with pytest.warns(TrustWarning, match=facts("UB245", 500, "dimension 3")):
        plain = ub.Geomancer(3, curved=False, random_state=0).fit(X)
    assert plain.tangent_error_ < 0.5
    assert not plain.determined_
    assert ub.Geomancer(3, random_state=0).fit(X).determined_


@pytest.mark.slow
def test_the_plain_version_does_not_take_a_product_for_one_manifold():
    with pytest.warns(TrustWarning, match=facts("UB245", "dimension 5")):
        assert not ub.Geomancer(5, curved=False, random_state=0).fit(product(["S2", "SO3"], 10_000, 0)[0]).determined_


def test_a_cloud_without_a_manifold_is_undetermined():
    with pytest.warns(TrustWarning, match=facts("UB245", 400, "dimension 3")):
        model = ub.Geomancer(dim=3, random_state=0).fit(np.random.default_rng(0).normal(size=(400, 6)))
    assert (model.determined_, model.confidence_) == (False, 0)


def test_a_narrow_gap_halves_the_confidence():
    with pytest.warns(TrustWarning, match=facts("UB247", 2000, "dimension 5")):
        model, *_ = fitted("S1 S2 S2", 2000, dim=5)
    assert model.dims_ == [2, 2, 1]
    assert model.determined_
    assert model.gap_ < 50
    assert model.confidence_ == pytest.approx((1 - 1 / model.gap_) / 2 ** len(model.concerns_))
    assert model.confidence_ <= 0.5


def test_concerns_before_the_spectrum_lower_the_confidence(two_spheres):
    _, X, _ = two_spheres
    with pytest.warns(TrustWarning, match=facts("UB244", 2, "500, 500")):
        model = ub.Geomancer(dim=4, random_state=0).fit(np.vstack([X[:500], X[:500] + 100]))
    assert any("disconnected" in concern for concern in model.concerns_)
    assert model.confidence_ <= 0.5


def test_noise_beside_the_manifold_is_left_out():
    model, _, true = fitted("S2 S2", 1000, noise=0.02, ambient=30, dim=4)
    assert model.dims_ == [2, 2]
    assert "24 directions of noise" in model.selection_["n_components"]
    assert ub.metrics.subspace_angle(true, model.subspaces_) < 0.1


def test_a_small_factor_is_not_taken_for_noise():
    X, true = product(["S2", "S2"], 2000)
    planes = [np.linalg.svd(t.transpose(1, 0, 2).reshape(6, -1), full_matrices=False)[0][:, :3] for t in true]
    uneven = X @ planes[0] @ planes[0].T + 2.2 * X @ planes[1] @ planes[1].T
    model = ub.Geomancer(dim=4, random_state=0).fit(uneven)
    assert model.dims_ == [2, 2]
    assert ub.metrics.subspace_angle(true, model.subspaces_) < 0.1


def test_few_points_with_noise_are_warned_of():
    with pytest.warns(TrustWarning, match=facts("UB247", 1000, "dimension 4")):
        model, *_ = fitted("S2 S2", 1000, noise=0.1, dim=4)
    assert model.confidence_ < 0.5


def test_float32_gives_the_same(two_spheres):
    model, X, true = two_spheres
    single = ub.Geomancer(dim=4, random_state=0).fit(X.astype(np.float32))
    assert single.subspaces_[0].dtype == np.float32
    assert ub.metrics.subspace_angle(model.subspaces_, single.subspaces_) < 0.01
    double = ub.Geomancer(dim=4, precision="float64", random_state=0).fit(X)
    assert ub.metrics.subspace_angle(model.subspaces_, double.subspaces_) < 0.01


def test_rotation_and_threads_change_nothing(two_spheres):
    model, X, _ = two_spheres
    turn = np.linalg.qr(np.random.default_rng(5).normal(size=(15, 15)))[0]
    turned = ub.Geomancer(dim=4, random_state=0, n_jobs=1).fit(X @ turn.T)
    back = [turn.T @ s for s in turned.subspaces_]
    assert ub.metrics.subspace_angle(model.subspaces_, back) < 0.01


def test_transform_extends_to_new_points(two_spheres):
    model, X, _ = two_spheres
    rng = np.random.default_rng(3)
    both, true = product(["S2", "S2"], 1100, 0, 15)
    fit = ub.Geomancer(dim=4, random_state=0).fit(both[:1000])
    new = fit.transform(both[1000:])
    assert [s.shape for s in new] == [(100, 15, 2), (100, 15, 2)]
    assert ub.metrics.subspace_angle([t[1000:] for t in true], new) < 0.05
    some = rng.permutation(1000)[:50]
    for fresh, kept in zip(model.transform(X[some]), model.subspaces_):
        np.testing.assert_allclose(fresh, kept[some], atol=1e-12)


def test_bases_are_orthonormal(two_spheres):
    basis = np.concatenate(two_spheres[0].subspaces_, axis=2)
    np.testing.assert_allclose(basis.transpose(0, 2, 1) @ basis, np.tile(np.eye(4), (1000, 1, 1)), atol=1e-6)


def test_saved_and_loaded(two_spheres, tmp_path):
    model, X, _ = two_spheres
    again = ub.load(model.save(tmp_path / "run"))
    np.testing.assert_array_equal(again.subspaces_[1], model.subspaces_[1])
    np.testing.assert_array_equal(again.transform(X[:5] + 0.01)[0], model.transform(X[:5] + 0.01)[0])
    assert again.selection_["dim"].dim == 4


def test_quadratic_fit_beats_principal_components():
    X, true = product(["S2", "S2"], 1000)
    _, near = nearest(X, 28)
    whole = np.concatenate(true, axis=2)
    plain, curved = (largest_angles(whole, tangent_frames(X, X, near, 4, curved=c)).mean() for c in (False, True))
    assert curved < plain / 5


def test_operator_against_the_dense_matrix():
    """The operator of the algorithm box, built block by block with Kronecker products."""
    X, _ = product(["S2", "S1"], 60)
    _, near = nearest(X, 8)
    graph, _ = symmetrised(near)
    frames = tangent_frames(X, X, near, 3)
    operator = Diffusion(frames, graph)
    q = transports(frames, graph)
    np.testing.assert_allclose(q @ q.transpose(0, 2, 1), np.tile(np.eye(3), (len(q), 1, 1)), atol=1e-5)
    x = np.random.default_rng(0).normal(size=(60, packed_size(3), LANES))
    S = unpack(x, 3)
    expected = np.zeros_like(S)
    for e, (i, j) in enumerate(zip(graph.sources, graph.indices)):
        block = np.kron(q[e], q[e]) @ S[j].reshape(9, LANES)
        expected[i] += block.reshape(3, 3, LANES) / np.sqrt(graph.degrees[i] * graph.degrees[j])
    expected -= np.einsum("naav,bc->nbcv", expected, np.eye(3) / 3)
    np.testing.assert_allclose(unpack(operator(x), 3), expected, atol=1e-12)
    y = np.random.default_rng(1).normal(size=x.shape)
    x, y = (v - _trace_part(v) for v in (x, y))
    assert np.vdot(y, operator(x)) == pytest.approx(np.vdot(operator(y), x))


def _trace_part(x):
    identity = np.array([1.0, 0, 0, 1, 0, 1])[:, None]
    return np.einsum("npv,pw->nwv", x, identity)[:, :1] * identity / 3


def test_eigenvalues_against_a_dense_solver():
    X, _ = product(["S2", "S2"], 100)
    _, near = nearest(X, 28)
    graph, _ = symmetrised(near[:, :10])
    frames = tangent_frames(X, X, near, 4)
    operator = Diffusion(frames, graph)
    size = 100 * packed_size(4)
    columns = np.zeros((-(-size // LANES) * LANES, size))
    columns[:size] = np.eye(size)
    blocks = [
        operator(np.ascontiguousarray(columns[a : a + LANES].T.reshape(100, -1, LANES))) for a in range(0, size, LANES)
    ]
    dense = np.concatenate([b.reshape(size, LANES) for b in blocks], axis=1)[:, :size]
    expected = np.sort(1 - np.linalg.eigvalsh((dense + dense.T) / 2))
    start = np.random.default_rng(0).normal(size=operator.shape)
    found = filtered(operator, start, tol=1e-4)
    # Ritz values lie above the eigenvalues; without a gap the iteration stops at a few per cent.
    assert expected[0] - 1e-9 <= found.values[0] <= 1.05 * expected[0]


def test_coarse_start_gives_the_same_field(monkeypatch):
    monkeypatch.setattr(eigen, "COARSE", 1000)
    X, _ = product(["S2", "S2"], 1800)
    _, near = nearest(X, 28)
    graph, _ = symmetrised(near[:, :10])
    frames = tangent_frames(X, X, near, 4).astype(np.float32)
    with_levels = lowest_fields(X, frames, graph, 10, tol=1e-3, rng=np.random.default_rng(0))
    operator = Diffusion(frames, graph)
    start = np.random.default_rng(1).normal(size=operator.shape).astype(np.float32)
    direct = filtered(operator, start, tol=1e-3)
    overlap = abs(np.vdot(with_levels.fields[..., 0], direct.fields[..., 0]))
    assert overlap == pytest.approx(1, abs=1e-3)


def test_errors_and_warnings():
    X, _ = product(["S2", "S2"], 500)
    with pytest.raises(ValueError, match=facts("dim", 7, 6)):
        ub.Geomancer(dim=7).fit(X)
    with pytest.raises(ValueError, match=facts("n_neighbors", 5000, 500)):
        ub.Geomancer(dim=4, n_neighbors=5000).fit(X)
    with pytest.raises(ValueError, match=facts("dim", 0)):
        ub.Geomancer(dim=0).fit(X)
    with pytest.raises(ValueError, match=facts("gap", -1.0)):
        ub.Geomancer(gap=-1.0).fit(X)
    with pytest.raises(ValueError, match=facts(5, 4, 7)):
        ub.Geomancer(dim=4).fit(X[:5])
    with pytest.raises(ValueError, match=facts(20, "identical")):
        ub.Geomancer(dim=1).fit(np.ones((20, 3)))
    with pytest.warns(TrustWarning, match=facts("UB246", "gap", "1e-09")):
        ub.Geomancer(dim=4, gap=1e-9, random_state=0).fit(X)
    with pytest.warns(DataWarning, match=facts("UB301", "7 of 507")):
        doubled = ub.Geomancer(dim=4, random_state=0).fit(np.vstack([X, X[:7]]))
    np.testing.assert_array_equal(doubled.subspaces_[0][:7], doubled.subspaces_[0][500:])


def test_pictures_are_flattened_and_bytes_are_read_in_the_unit_interval():
    t = np.linspace(0, 2 * np.pi, 300, endpoint=False)
    circle = np.stack([np.cos(t), np.sin(t), np.cos(t + 1), np.sin(t + 1)], axis=1).reshape(300, 2, 2)
    pictures = np.round(127.5 * (1 + circle)).astype(np.uint8)
    model = ub.Geomancer(dim=1, random_state=0).fit(pictures)
    plain = ub.Geomancer(dim=1, random_state=0).fit((pictures / np.float32(255)).reshape(300, 4))
    assert model.subspaces_[0].shape == (300, 4, 1)
    assert ub.metrics.subspace_angle(plain.subspaces_, model.subspaces_) < 1e-3
    np.testing.assert_allclose(model.transform(pictures[:9])[0], model.subspaces_[0][:9], atol=1e-6)
    with pytest.raises(ValueError, match=facts("[0, 1]", 128, 255)):
        model.transform(pictures[:9].astype(float))


def test_feature_names(two_spheres):
    import pandas as pd

    model, X, _ = two_spheres
    assert model.get_feature_names_out().tolist() == [f"geomancer{j}" for j in range(4)]
    frame = pd.DataFrame(X[:60], columns=[f"x{j}" for j in range(15)])
    named = ub.Geomancer(dim=1, random_state=0)
    with pytest.warns(TrustWarning):
        named.fit(frame)
    assert named.feature_names_in_.tolist() == list(frame.columns)
    with pytest.raises(ValueError, match="feature names"):
        named.transform(frame[frame.columns[::-1]])
    with pytest.raises(AttributeError, match="set_output"):
        named.set_output(transform="pandas")


@pytest.mark.parametrize("state", [np.random.RandomState, np.random.default_rng])
def test_every_kind_of_random_state_repeats_a_run(state):
    X, _ = product(["S1", "S2"], 300)
    first, second = (ub.Geomancer(dim=3, random_state=state(1)).fit(X) for _ in range(2))
    np.testing.assert_array_equal(first.spectrum_, second.spectrum_)


def test_gap_as_a_number(two_spheres):
    model, X, _ = two_spheres
    chosen = ub.Geomancer(dim=4, gap=float(model.spectrum_[1] / 2), random_state=0).fit(X)
    assert chosen.n_submanifolds_ == 2


WRONG_FOR_TUPLES = {
    "check_methods_sample_order_invariance": "indexes the rows of a result that is a tuple, one array per submanifold"
}


@parametrize_with_checks(
    [ub.Geomancer(dim=1, random_state=0, n_jobs=1), ub.Geomancer(random_state=0)],
    expected_failed_checks=lambda estimator: WRONG_FOR_TUPLES,
)
@pytest.mark.filterwarnings("ignore")
def test_sklearn_contract(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore::unbraid.trust.warnings.UnbraidWarning")
def test_offsets_and_scales():
    """Rows beside a large offset are still apart; what float64 cannot compute with is refused, with the remedy."""
    X, _ = product(["S1", "S2"], 300, 0, 5)
    known = ub.Geomancer(3, random_state=0).fit(X)
    assert ub.Geomancer(3, random_state=0).fit(X + 2.0**33).dims_ == known.dims_
    for scale in (1e-310, 1e-100, 1e100):
        with pytest.raises(ValueError, match=facts("X", "float64", "X / np.abs(X).max()")):
            ub.Geomancer(3).fit(X * scale)
    nanoseconds = (X * 1000).astype(np.int64) + 1_700_000_000_000_000_000
    with pytest.raises(ValueError, match=facts("X", "1.7e+18", "float64")):
        ub.Geomancer(3).fit(nanoseconds)
    with pytest.raises(ValueError, match=facts("X", "datetime64[ns]")):
        ub.Geomancer(3).fit(nanoseconds.astype("M8[ns]"))


@pytest.mark.filterwarnings("ignore::unbraid.trust.warnings.UnbraidWarning")
def test_hdf5_arrays_are_read_as_arrays(tmp_path):
    X, _ = product(["S1", "S2"], 300, 0, 5)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["X"] = X
        file.create_dataset("Y", data=X, chunks=(50, 2), compression="gzip")
        for rows in file.values():
            for model in (ub.Geomancer(3, random_state=0), ub.ProductManifold(random_state=0)):
                found, known = clone(model).fit_transform(rows), clone(model).fit_transform(X)
                for mine, its in zip(found, known):
                    np.testing.assert_array_equal(mine, its)
