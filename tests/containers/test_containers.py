"""Data of other tools: codes where those tools expect them, with their names, and in the right order."""

import anndata
import numpy as np
import pandas
import polars
import pytest
import scipy.sparse
import xarray
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import unbraid as ub
from tests.facts import facts
from unbraid.data.observations import observe

Z = np.random.default_rng(0).uniform(size=(200, 2))
X = Z @ [[3.0, 1.0, 0.0], [0.0, 1.0, 2.0]]


@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csr_matrix], ids=["dense", "sparse"])
def test_anndata(make):
    cells = anndata.AnnData(make(X), obsm={"X_pca": X[:, :2]})
    model = ub.anndata.fit(cells, "pca-ica", n_factors=2, random_state=0)
    np.testing.assert_array_equal(cells.obsm["X_unbraid"], ub.PCAICA(2, random_state=0).fit_transform(X))
    kept = cells.uns["X_unbraid"]
    assert kept["method"] == "pca-ica"
    expected = np.corrcoef(X.T, cells.obsm["X_unbraid"].T)[:3, 3:]
    np.testing.assert_allclose(kept["loadings"], expected, atol=1e-12)
    assert model.n_factors_ == 2
    ub.anndata.fit(cells, "pca-ica", n_factors=2, use_rep="X_pca", key_added="other")
    assert cells.obsm["other"].shape == (200, 2)


@pytest.mark.parametrize("raw", [False, True])
def test_an_anndata_with_codes_is_written_and_read_again(tmp_path, raw):
    days = pandas.date_range("2020-01-01", periods=200)
    obs = pandas.DataFrame({"day": days, "batch": ["a", "b"] * 100, "kind": pandas.Categorical(["x", "y"] * 100)})
    cells = anndata.AnnData(X, obs=obs.set_index(pandas.Index([f"cell {i}" for i in range(200)])))
    ub.anndata.fit(cells, "pca-ica", n_factors=2, random_state=0)
    cells.uns["table"] = pandas.DataFrame({"gene": ["u", "v"]})
    if raw:
        cells.raw = cells
    types = cells.obs.dtypes.tolist()
    ub.anndata.write(cells, tmp_path / "cells.h5ad", compression="gzip")
    again = anndata.read_h5ad(tmp_path / "cells.h5ad")
    assert again.obs_names.tolist() == cells.obs_names.tolist()
    assert again.obs["day"].tolist()[1] == "2020-01-02"
    assert again.obs["batch"].tolist() == cells.obs["batch"].tolist()
    assert again.obs["kind"].tolist() == cells.obs["kind"].tolist()
    np.testing.assert_array_equal(again.obsm["X_unbraid"], cells.obsm["X_unbraid"])
    np.testing.assert_allclose(again.uns["X_unbraid"]["loadings"], cells.uns["X_unbraid"]["loadings"])
    assert again.uns["table"]["gene"].tolist() == ["u", "v"]
    assert (again.raw is not None) == raw
    assert cells.obs.dtypes.tolist() == types, "the AnnData itself stays as it is"


def test_an_anndata_is_data_everywhere():
    rng = np.random.default_rng(0)
    batch = np.repeat([0, 1], 100)
    cells = anndata.AnnData(scipy.sparse.csr_matrix(X), obs={"batch": batch, "when": rng.permutation(200)})
    found = ub.diagnose(cells)
    assert found.n_rows == 200
    assert str(found) == str(ub.diagnose(X))
    assert ub.diagnose(cells, labels="batch", time="when").evidence == ("labels", "time")
    np.testing.assert_array_equal(observe(cells, covariates=["batch"]).covariates.ravel(), batch)
    with pytest.raises(ValueError, match=facts("obs", "'day'", "batch, when")):
        ub.diagnose(cells, time="day")
    with pytest.raises(ValueError, match=facts("obs", "'day'", "batch, when")):
        ub.diagnose(cells, covariates=["batch", "day"])
    model = ub.PCAICA(2, random_state=0).fit(cells)
    np.testing.assert_array_equal(model.transform(cells), ub.PCAICA(2, random_state=0).fit_transform(X))


def test_anndata_refusals():
    cells = anndata.AnnData(X)
    with pytest.raises(ValueError, match=facts("obsm", "'X_pca'")):
        ub.anndata.fit(cells, use_rep="X_pca")
    with pytest.raises(ValueError, match=facts("'magic'", "hessian-ica")):
        ub.anndata.fit(cells, "magic")
    with pytest.raises(ValueError, match=r"labels.*gin"):
        ub.anndata.fit(anndata.AnnData(X, obs={"batch": np.arange(len(X)) % 2}), "product-manifold", labels="batch")
    with pytest.raises(ValueError, match=facts("obs", "'batch'")):
        ub.anndata.fit(cells, "gin", labels="batch")
    assert not cells.obsm


def test_xarray_keeps_the_coordinates_of_its_rows():
    wind = xarray.DataArray(X.T, dims=("place", "time"), coords={"time": np.arange(200) * 6, "place": list("abc")})
    codes = ub.labelled.fit_transform(ub.PCAICA(2, random_state=0), wind, dim="time")
    assert codes.dims == ("time", "factor")
    np.testing.assert_array_equal(codes.time, wind.time)
    assert "place" not in codes.coords
    np.testing.assert_array_equal(codes, ub.PCAICA(2, random_state=0).fit_transform(X))
    with pytest.raises(ValueError, match=facts("'day'", "place", "time")):
        ub.labelled.fit_transform(ub.PCAICA(2), wind, dim="day")


def test_polars_frames_in_and_out():
    frame = polars.DataFrame(X, schema=["a", "b", "c"])
    model = ub.PCAICA(2, random_state=0).set_output(transform="polars").fit(frame)
    out = model.transform(frame)
    assert isinstance(out, polars.DataFrame)
    assert out.columns == list(model.get_feature_names_out())
    with pytest.raises(ValueError, match="feature names"):
        model.transform(frame.select("b", "a", "c"))


def test_windows_show_what_one_frame_does_not():
    """Two sines with one phase in a window of two: a circle, on which the phase can be read to the last digit."""
    t = np.arange(100) * 0.1
    rows = ub.DelayEmbedding(window=2, lag=3).fit_transform(np.sin(t)[:, None])
    np.testing.assert_array_equal(rows, np.column_stack([np.sin(t[3:]), np.sin(t[:-3])]))
    cosine = (rows[:, 0] * np.cos(0.3) - rows[:, 1]) / np.sin(0.3)
    np.testing.assert_allclose(cosine, np.cos(t[3:]), atol=1e-12)


def test_no_window_reaches_into_the_next_recording():
    recordings = [np.arange(5.0)[:, None], 100 + np.arange(4.0)[:, None]]
    embedding = ub.DelayEmbedding(window=3).fit(recordings)
    rows = embedding.transform(recordings)
    assert (np.ptp(rows, axis=1) == 2).all()
    assert embedding.places(recordings).tolist() == [[0, 2], [0, 3], [0, 4], [1, 2], [1, 3]]
    with pytest.raises(ValueError, match=facts("recording 1", 2, 3, "lag")):
        embedding.transform([recordings[0], recordings[1][:2]])
    with pytest.raises(ValueError, match=facts((2,), (1,))):
        embedding.transform([np.zeros((5, 2))])
    with pytest.raises(ValueError, match=facts("lag", 0)):
        ub.DelayEmbedding(lag=0).fit(recordings)


def test_a_pipeline_with_grid_search():
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    pipeline = make_pipeline(ub.DelayEmbedding(), ub.PCAICA(random_state=0))

    def widest(model, rows, y=None):
        return len(model[1].mean_)

    search = GridSearchCV(pipeline, {"delayembedding__window": [1, 2, 3]}, scoring=widest, cv=2)
    assert search.fit(frame).best_params_ == {"delayembedding__window": 3}
    assert search.best_estimator_.transform(frame).shape == (198, 2)


@pytest.mark.filterwarnings("ignore:UB10[89]")  # the order and the pairs of these cells mean nothing
def test_anndata_passes_on_what_is_known_about_cells():
    numbers = np.tile(np.arange(len(X) // 2), 2)
    cells = anndata.AnnData(X, obs={"day": np.arange(len(X)), "pair": numbers})
    model = ub.anndata.fit(cells, "hessian-ica", n_factors=2, n_neighbors=12, time="day", random_state=0, null="off")
    assert (model.rotation, list(cells.uns["X_unbraid"]["evidence"])) == ("time", ["time"])
    model = ub.anndata.fit(cells, "hessian-ica", n_factors=2, n_neighbors=12, pairs="pair", random_state=0, null="off")
    assert model.evidence_ == ub.Observations(X, pairs=numbers).marks()


def test_windows_keep_what_is_known_about_their_latest_frames():
    frames = np.arange(12.0).reshape(6, 2)
    known = ub.Observations(frames, time=np.arange(6), pairs=[[0, 5], [3, 4]])
    windows = ub.DelayEmbedding(window=2, lag=2).fit(frames).windows(known)
    assert windows.X.shape == (4, 4)
    assert windows.time.tolist() == [2, 3, 4, 5]
    assert windows.pairs.tolist() == [[1, 2]]
