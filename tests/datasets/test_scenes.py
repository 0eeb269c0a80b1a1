"""The room and rendered objects against what geometry says."""

import numpy as np
import pytest

from tests.facts import facts
from unbraid import datasets
from unbraid.datasets import raycast, room


@pytest.fixture(scope="module")
def small_room():
    return datasets.load("room", image_size=32)


def test_room_has_the_factors_of_shapes3d(small_room):
    assert small_room.factor_sizes == (10, 10, 10, 8, 4, 15)
    assert len(small_room) == 480_000
    assert small_room.factors_at([1])[0].tolist() == [0, 0, 0, 0, 0, 1]


def test_every_factor_changes_the_picture(small_room):
    base = np.array([0, 3, 6, 4, 1, 7])
    for column in range(6):
        other = base.copy()
        other[column] += 1
        before, after = small_room.observe([base, other])
        assert np.abs(before - after).max() > 0.1


def test_hues_paint_their_own_surface(small_room):
    X = small_room.observe([[0, 3, 6, 4, 2, 7], [5, 3, 6, 4, 2, 7], [0, 8, 6, 4, 2, 7]])
    floor, wall = (np.abs(X[0] - X[i]).max(axis=-1) > 1e-6 for i in (1, 2))
    assert floor[-1].all()
    assert not floor[0].any()
    assert wall[0].all()
    assert not wall[-1].any()


def test_sphere_covers_its_solid_angle():
    """Pixels of the object against the exact share: a pixel sees the ball where its ray's angle to it is small."""
    side, scale = 64, 1.0
    view = raycast.cast_room(raycast.SPHERE, scale, 0.0, side, 4)
    eye = np.array([0, raycast.EYE_HEIGHT, raycast.EYE_DISTANCE])
    aim = np.array([0, raycast.AIM_HEIGHT, 0])
    ahead = (aim - eye) / np.linalg.norm(aim - eye)
    right = np.array([1.0, 0, 0])
    up = np.cross(right, ahead)
    line = raycast.FIELD * ((np.arange(side * 4) + 0.5) / (side * 4) * 2 - 1)
    x, y = np.meshgrid(line, -line)
    rays = ahead + x[..., None] * right + y[..., None] * up
    rays /= np.linalg.norm(rays, axis=-1, keepdims=True)
    to_centre = np.array([0, 0.52, 0]) - eye
    distance = np.linalg.norm(to_centre)
    inside = rays @ (to_centre / distance) > np.sqrt(1 - (0.52 / distance) ** 2)
    share = inside.reshape(side, 4, side, 4).mean(axis=(1, 3))
    covered = view[:, :, raycast.OBJECT] > 0
    assert np.array_equal(covered, share > 0)


def test_kept_views_change_nothing(small_room):
    fresh = datasets.load("room", image_size=32, keep=1)
    factors = small_room.sample_factors(20, 0)
    assert np.array_equal(small_room.observe(factors), fresh.observe(factors))
    assert len(fresh._views) == 1
    assert room.HUES.shape == (10, 3)


def test_turning_object_and_light_together_about_the_view_turns_the_image():
    data = datasets.load("rendered-object", image_size=32)
    pose = data.sample_factors(1, 0)[0, :9].reshape(3, 3)
    light = np.array([0.6, 0.0, 0.8])
    quarter = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
    first = data.observe(np.concatenate([pose.ravel(), light]))[0]
    second = data.observe(np.concatenate([(quarter @ pose).ravel(), quarter @ light]))[0]
    assert second == pytest.approx(np.rot90(first), abs=0.05)
    assert np.abs(second - np.rot90(first)).mean() < 1e-3


def test_a_ball_is_shaded_by_its_normals(tmp_path):
    import trimesh

    trimesh.creation.icosphere(subdivisions=5).export(tmp_path / "ball.ply")
    data = datasets.load("rendered-object", mesh=tmp_path / "ball.ply", samples=1)
    light = np.array([2.0, 1.0, 2.0]) / 3
    image = data.observe(np.concatenate([np.eye(3).ravel(), light]))[0]
    line = ((np.arange(64) + 0.5) / 32 - 1) * 1.02
    x, y = np.meshgrid(line, -line)
    inside = x**2 + y**2 < 0.98
    z = np.sqrt(np.where(inside, 1 - x**2 - y**2, 0))
    expected = 0.05 + 0.95 * ((1 + x * light[0] + y * light[1] + z * light[2]) / 2) ** 2
    assert image[inside] == pytest.approx(expected[inside], abs=0.01)
    assert (image[x**2 + y**2 > 1.01] == 0).all()


def test_meshes_by_name_and_by_path(tmp_path, shared, monkeypatch):
    monkeypatch.setenv("UNBRAID_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=facts("'bunny'", "stanford-bunny.obj", "UNBRAID_DATA")):
        datasets.load("rendered-object", mesh="bunny")
    with pytest.raises(FileNotFoundError, match=facts("teapot", "blob, bunny, dragon, spot")):
        datasets.load("rendered-object", mesh="teapot")
    (tmp_path / "bad.ply").write_text("no mesh")
    with pytest.raises(ValueError, match=facts("bad.ply", "trimesh")):
        datasets.load("rendered-object", mesh=tmp_path / "bad.ply")
    path = shared.path("data/meshes")
    for name in ("bunny", "dragon", "spot") if path else ():
        X, _ = datasets.load("rendered-object", mesh=name, folder=path, image_size=16).sample(1, random_state=0)
        assert len(np.unique(X)) > 20
