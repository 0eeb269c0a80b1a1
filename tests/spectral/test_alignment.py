"""The alignment matrices against their definitions, scikit-learn and each other."""

import numpy as np
import pytest
from scipy.linalg import subspace_angles
from sklearn.manifold import LocallyLinearEmbedding
from sklearn.neighbors import NearestNeighbors

import unbraid as ub
from tests.facts import facts
from tests.spectral.manifolds import bent_sheets, linear_fit
from unbraid.manifold.neighbors import neighborhoods
from unbraid.spectral.alignment import alignment, band_order, smallest_neighborhood
from unbraid.spectral.eigen import (
    independent_eigenvectors,
    least_bent,
    smallest_eigenvectors,
    smoothest_coordinates,
)
from unbraid.spectral.local_frames import tangent_bases


def textbook_block(G, d, keep_all=False):
    """Donoho and Grimes by numpy's QR: the last d(d+1)/2 columns; with keep_all every column beyond the affine ones."""
    U = np.linalg.svd(G - G.mean(axis=0), full_matrices=False)[0][:, :d]
    products = [U[:, a] * U[:, b] for a in range(d) for b in range(a, d)]
    Y = np.column_stack([np.ones(len(G)), U, *products])
    Q = np.linalg.qr(Y, mode="complete" if keep_all else "reduced")[0]
    W = Q[:, 1 + d :]
    return W @ W.T


def dense(X, near, d, keep_all=False):
    M = np.zeros((len(X), len(X)))
    for rows in near:
        M[np.ix_(rows, rows)] += textbook_block(X[rows], d, keep_all)
    return M


@pytest.mark.parametrize(("d", "k"), [(1, 6), (2, 6), (2, 12), (3, 15)])
@pytest.mark.parametrize("n_features", [4, 40])
def test_hessian_matrix_is_the_textbook_one(d, k, n_features):
    X, _ = bent_sheets(150, d, n_features=max(n_features, 2 * d))
    near = neighborhoods(X, k)[1]
    ours = alignment(X, near, d, hessian=1, tangent=0).tocsc().toarray()
    np.testing.assert_allclose(ours, dense(X, near, d), atol=1e-7)


def test_hessian_equals_ltsa_at_the_smallest_neighborhood_and_differs_above():
    X, _ = bent_sheets(300, 2)
    for k, same in [(smallest_neighborhood(2), True), (smallest_neighborhood(2) + 1, False), (12, False)]:
        near = neighborhoods(X, k)[1]
        hessian = alignment(X, near, 2, hessian=1, tangent=0).tocsc()
        tangent = alignment(X, near, 2, hessian=0, tangent=1).tocsc()
        difference = abs(hessian - tangent).max()
        assert difference < 1e-9 if same else difference > 0.05


def test_scikit_learn_hessian_is_our_ltsa():
    """Same neighbours (without the point itself, as there): the same embedding to rounding."""
    X, _ = bent_sheets(400, 2, n_features=6)
    k = 12
    theirs = LocallyLinearEmbedding(
        n_neighbors=k, n_components=2, method="hessian", eigen_solver="dense"
    ).fit_transform(X)
    near = NearestNeighbors(n_neighbors=k).fit(X).kneighbors(return_distance=False)
    ltsa = smallest_eigenvectors(alignment(X, near, 2, hessian=0, tangent=1), 2).vectors
    hlle = smallest_eigenvectors(alignment(X, near, 2, hessian=1, tangent=0), 2).vectors
    assert subspace_angles(theirs, ltsa).max() < 1e-5
    assert subspace_angles(theirs, hlle).max() > 1e-4


def test_affine_functions_are_in_the_null_space():
    X = np.random.default_rng(0).normal(size=(200, 2)) @ np.random.default_rng(1).normal(size=(2, 7))
    near = neighborhoods(X, 10)[1]
    for weights in [(1, 0), (0, 1), (1, 0.05)]:
        M = alignment(X, near, 2, hessian=weights[0], tangent=weights[1])
        assert abs(M @ np.c_[X, np.ones(200)]).max() < 1e-9


def test_tangent_bases_are_those_of_the_svd():
    X, _ = bent_sheets(120, 2)
    for k in (9, 40):
        near = neighborhoods(X[:, :20], k)[1]
        found = tangent_bases(X[:, :20], near, 2)
        for basis, rows in zip(found, near):
            G = X[rows, :20] - X[rows, :20].mean(axis=0)
            assert subspace_angles(basis, np.linalg.svd(G)[2][:2].T).max() < 1e-5


def test_a_point_that_nobody_lists_needs_to_be_in_its_own_neighborhood():
    """Without itself it has a zero row: one more null vector, and the embedding is lost."""
    X, factors = bent_sheets(400, 2)
    X[0] += 0.3 * np.random.default_rng(1).normal(size=X.shape[1])
    near = neighborhoods(X, 13)[1]
    assert 0 not in near[1:]
    with_self = smallest_eigenvectors(alignment(X, near, 2), 2)
    assert linear_fit(with_self.vectors[1:], factors[1:]) > 0.9
    without = alignment(X, near[:, 1:], 2).tocsc()
    assert without[[0]].nnz == 0
    spoilt = smallest_eigenvectors(without, 2).vectors[:, 0]
    assert spoilt[0] ** 2 > 0.99  # a vector that lives on the orphan alone has taken the place of a factor


def test_too_few_neighbors_is_an_error_that_says_how_many():
    X, _ = bent_sheets(50, 2)
    with pytest.raises(ValueError, match=facts(5, 6, "n_neighbors")):
        alignment(X, neighborhoods(X, 5)[1], 2)


@pytest.mark.parametrize("factored", ["band", "dense", "sparse"])
def test_eigen_solver_against_dense(factored, monkeypatch):
    X, _ = bent_sheets(500, 2)
    X = X[np.argsort(X[:, 0])] if factored == "band" else X  # in no order the band is as wide as the matrix
    M = alignment(X, neighborhoods(X, 10)[1], 2)
    assert (M.bandwidth < 0.4 * 500) == (factored == "band")
    monkeypatch.setattr("unbraid.spectral.eigen.DENSE_POINTS", 100 if factored == "sparse" else 1000)
    values, vectors = np.linalg.eigh(M.tocsc().toarray())
    found = smallest_eigenvectors(M, 2)
    np.testing.assert_allclose(found.values[:2], values[1:3], rtol=1e-4, atol=1e-12)
    assert subspace_angles(found.vectors, vectors[:, 1:3]).max() < 1e-4
    assert abs(found.vectors.sum(axis=0)).max() < 1e-9


def test_every_form_of_the_matrix_is_the_same_one():
    X, _ = bent_sheets(300, 2)
    near = neighborhoods(X, 14)[1]
    order = band_order(near)
    M = alignment(X[order], np.argsort(order)[near[order]], 2)
    whole, place, unordered = M.tocsc().toarray(), np.argsort(order), alignment(X, near, 2)
    np.testing.assert_allclose(whole[place][:, place], unordered.tocsc().toarray(), atol=1e-7)
    assert M.bandwidth < unordered.bandwidth / 2
    np.testing.assert_allclose(M.toarray(), np.triu(whole), atol=1e-14)
    assert M.trace() == pytest.approx(np.trace(whole))
    np.testing.assert_allclose(M @ X[:, :3], whole @ X[:, :3], atol=1e-12)
    for below, entries in enumerate(M.band()):
        np.testing.assert_allclose(entries[: 300 - below], np.diag(whole, -below), atol=1e-14)


def strip():
    """A strip 30 times as long as wide, rough across: the slowest vectors after the length are curves over it."""
    rng = np.random.default_rng(0)
    factors = rng.uniform(size=(2000, 2))
    X = np.c_[15 * np.sin(2 * factors[:, 0]), 15 * np.cos(2 * factors[:, 0]), factors[:, 1]]
    return X + 0.03 * rng.normal(size=X.shape), factors


@pytest.mark.parametrize("choose", [independent_eigenvectors, smoothest_coordinates])
def test_functions_of_earlier_eigenvectors_are_passed_over(choose):
    X, factors = strip()
    M = alignment(X, neighborhoods(X, 20)[1], 2)
    plain, chosen = smallest_eigenvectors(M, 2), choose(M, 2)
    assert linear_fit(plain.vectors, factors) < 0.6
    assert linear_fit(chosen.vectors, factors) > 0.95
    assert chosen.n_redundant > 0


def test_a_curve_over_one_factor_is_taken_out_of_an_eigenvector_that_is_half_another():
    factors = np.random.default_rng(0).uniform(-1, 1, size=(2000, 2))
    V = np.linalg.qr(np.c_[np.ones(2000), factors, factors[:, 0] ** 2])[0][:, 1:]
    V[:, 1:] = V[:, 1:] @ [[0.8, 0.6], [-0.6, 0.8]]
    turn, new = least_bent(np.array([1.0, 3.0, 4.0]), V, 2)
    np.testing.assert_allclose(turn @ turn.T, np.eye(2), atol=1e-12)
    assert abs(np.corrcoef(V[:, 1], factors[:, 1])[0, 1]) < 0.9
    assert abs(np.corrcoef(V @ turn[1], factors[:, 1])[0, 1]) > 0.99
    assert new[1] > 0.9


@pytest.mark.parametrize("choose", [independent_eigenvectors, smoothest_coordinates])
def test_independent_eigenvectors_are_the_first_ones_on_a_square(choose):
    X, _ = bent_sheets(600, 2)
    M = alignment(X, neighborhoods(X, 12)[1], 2)
    plain, chosen = smallest_eigenvectors(M, 2), choose(M, 2)
    assert chosen.n_redundant == 0
    np.testing.assert_allclose(chosen.values[:2], plain.values[:2], rtol=1e-3)
    assert subspace_angles(plain.vectors, chosen.vectors).max() < 1e-4


def test_without_the_ltsa_term_eigenvectors_are_taken_as_they_come():
    """The textbook method, as the paper has it: on the strip above both codes are functions of its length."""
    X, factors = strip()
    plain, ours = (
        ub.HessianEigenmaps(2, n_neighbors=20, tangent_weight=weight, random_state=0).fit_transform(X)
        for weight in (0.0, 0.01)
    )
    assert linear_fit(plain, factors) < 0.6
    assert linear_fit(ours, factors) > 0.95
