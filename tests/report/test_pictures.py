"""Pictures show exactly what the decoder gave for exactly the codes asked for."""

import numpy as np
import pytest
from PIL import Image

from tests.facts import facts
from tests.geometry.manifolds import product
from unbraid import report as pictures
from unbraid.report.decoded import factor_colours

CODES = np.random.default_rng(0).normal(size=(40, 3)) * [1.0, 3.0, 0.1] + [0.0, 5.0, 0.0]


def blocks(codes):
    """A decoder with a known answer: image (3, 4), its rows the three numbers of the code, squashed into [0, 1]."""
    return np.repeat(1 / (1 + np.exp(-np.asarray(codes)))[:, :, None], 4, axis=2)


def colours(codes):
    return blocks(codes)[..., None] * [1.0, 0.5, 0.25]


def label(ax):
    return ax.get_yticklabels()[0].get_text()


@pytest.mark.parametrize(
    ("base", "start"),
    [("mean", CODES.mean(0)), ("median", np.median(CODES, 0)), (7, CODES[7]), ([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])],
)
def test_traversals_decode_the_base_with_one_number_replaced(base, start):
    rows = pictures.traversals(blocks, CODES, n_steps=5, span=(-1, 3), base=base)
    assert rows.shape == (3, 5, 3, 4)
    for j in range(3):
        for s, value in enumerate([-1, 0, 1, 2, 3]):
            code = np.array(start, float)
            code[j] = value
            np.testing.assert_array_equal(rows[j, s], blocks(code[None])[0])


def test_traversals_between_quantiles_end_at_them():
    values = pictures.traversal_values(CODES, n_steps=4, span="quantiles")
    np.testing.assert_allclose(values[:, [0, -1]], np.quantile(CODES, [0.03, 0.97], axis=0).T)
    np.testing.assert_allclose(np.diff(values, n=2, axis=1), 0, atol=1e-12)


def test_traversals_ask_the_decoder_once():
    calls = []
    pictures.traversals(lambda z: calls.append(len(z)) or z, CODES, n_steps=6)
    assert calls == [18]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_steps": 1}, ("n_steps", 1, 2)),
        ({"span": "all"}, ("span", "'all'", "'quantiles'")),
        ({"base": "zero"}, ("base", "'zero'", "'mean', 'median'")),
        ({"base": [1.0, 2.0]}, ("base", (2,), (3,))),
    ],
)
def test_traversals_say_what_is_allowed(options, message):
    with pytest.raises(ValueError, match=facts(*message)):
        pictures.traversals(blocks, CODES, **options)


def test_rows_of_traversals_come_by_kl_or_spread_with_their_values_below():
    by_kl = pictures.plot_traversals(blocks, CODES, n_steps=3, order=[0.2, 0.1, 5.0], most=2)
    assert [ax.get_ylabel() for ax in by_kl.axes] == ["code 3", "code 1"]
    assert [t.get_text() for t in by_kl.axes[0].get_xticklabels()] == ["-2", "0", "2"]
    drawn = by_kl.axes[0].images[0].get_array()
    third = pictures.traversals(blocks, CODES, n_steps=3)[2]
    np.testing.assert_allclose(
        drawn, np.concatenate([third[0], np.ones((3, 1)), third[1], np.ones((3, 1)), third[2]], 1)
    )
    by_spread = pictures.plot_traversals(blocks, CODES, order="spread", names=("x", "y", "z"))
    assert [ax.get_ylabel() for ax in by_spread.axes] == ["y", "x", "z"]
    with pytest.raises(ValueError, match=facts("order", (2,), 3)):
        pictures.plot_traversals(blocks, CODES, order=[1.0, 2.0])
    with pytest.raises(ValueError, match=facts("order", "'kl'", "'spread'")):
        pictures.plot_traversals(blocks, CODES, order="kl")


def test_traversals_of_vectors_are_curves():
    fig = pictures.plot_traversals(lambda z: np.c_[z, z], CODES, n_steps=4)
    assert [len(ax.lines) for ax in fig.axes] == [4, 4, 4]


@pytest.mark.parametrize("decode", [blocks, colours])
def test_gif_moves_to_and_fro_through_every_step(tmp_path, decode):
    path = pictures.save_traversal_gif(
        tmp_path / "new" / "codes.gif", decode, CODES, n_steps=5, columns=2, height=30, milliseconds=50
    )
    rows = pictures.traversals(decode, CODES, n_steps=5)
    with Image.open(path) as gif:
        assert gif.n_frames == 8
        assert gif.info["duration"] == 50
        assert gif.info["loop"] == 0
        assert gif.size == (2 * (40 + 6) + 6, 2 * (14 + 30 + 6 + 6) + 6)  # 3 x 4 pixels, ten times as large
        for frame, step in enumerate([0, 1, 2, 3, 4, 3, 2, 1]):
            gif.seek(frame)
            shown = np.asarray(gif.convert("RGB"), float) / 255
            for j, (left, top) in enumerate([(6, 20), (52, 20), (6, 76)]):
                expected = rows[j, step] if rows.ndim == 5 else rows[j, step][..., None]
                centres = shown[top + 5 : top + 30 : 10, left + 5 : left + 40 : 10]
                np.testing.assert_allclose(centres, np.broadcast_to(expected, (3, 4, 3)), atol=0.02)


def test_gif_has_all_frames_even_where_nothing_changes(tmp_path):
    path = pictures.save_traversal_gif(tmp_path / "dead.gif", lambda z: np.zeros((len(z), 4, 4)), CODES, n_steps=4)
    with Image.open(path) as gif:
        assert gif.n_frames == 6


def test_gif_refuses_other_endings_and_vectors(tmp_path):
    with pytest.raises(ValueError, match=facts("codes.png", ".gif")):
        pictures.save_traversal_gif(tmp_path / "codes.png", blocks, CODES)
    with pytest.raises(ValueError, match=facts("GIF", (3,), "(height, width[, channels])")):
        pictures.save_traversal_gif(tmp_path / "codes.gif", lambda z: z, CODES)
    assert list(tmp_path.iterdir()) == []


def test_reconstructions_stand_below_the_truth_with_the_error_of_all():
    X = np.zeros((6, 2, 2))
    decoded = np.zeros((6, 2, 2))
    decoded[5] = 0.6  # not among the two drawn
    fig = pictures.plot_reconstructions(X, {"AE": decoded, "HAE": X + 0.1}, n=2)
    assert [label(ax) for ax in fig.axes] == ["truth", "AE\nerror 0.06", "HAE\nerror 0.01"]
    np.testing.assert_allclose(fig.axes[2].images[0].get_array()[:, [0, 1, 3, 4]], 0.1)
    assert fig.axes[0].images[0].get_array().shape == (2, 5)


def test_reconstructions_of_bytes_are_compared_in_the_unit_of_the_decoder():
    X = np.full((3, 2, 2, 1), 51, np.uint8)
    fig = pictures.plot_reconstructions(X, np.full((3, 2, 2), 0.2))
    assert label(fig.axes[1]) == "decoded\nerror 0"


def test_reconstructions_refuse_other_shapes():
    with pytest.raises(ValueError, match=facts("AE", (2, 4, 4), "X", (3, 4, 4))):
        pictures.plot_reconstructions(np.zeros((3, 4, 4)), {"AE": np.zeros((2, 4, 4))})
    with pytest.raises(ValueError, match=facts("(n, height, width)", (3, 4))):
        pictures.plot_reconstructions(np.zeros((3, 4)), np.zeros((3, 4)))


def test_interpolation_decodes_points_of_the_straight_line():
    left, right = np.array([0.0, -1.0, 2.0]), np.array([4.0, 1.0, 2.0])
    strip = pictures.interpolate(blocks, left, right, n_steps=5)
    np.testing.assert_allclose(strip, blocks([[t, -1 + t / 2, 2] for t in range(5)]))
    with pytest.raises(ValueError, match=facts("left", (3,), "right", (2,))):
        pictures.interpolate(blocks, left, right[:2])


def test_interpolation_strips_have_the_true_ends_and_the_way_through_the_embedding():
    ends = np.full((3, 4), 0.25), np.full((3, 4), 0.75)
    left, right = {"AE": CODES[0], "HAE": CODES[1]}, {"AE": CODES[2], "HAE": CODES[3]}
    fig = pictures.plot_interpolation(
        {"AE": blocks, "HAE": lambda z: 1 - blocks(z)}, left, right, n_steps=4, ends=ends,
        codes={"AE": CODES, "HAE": CODES}, factors=CODES[:, :2],
    )  # fmt: skip
    axes = np.array(fig.axes).reshape(2, 4)
    assert [label(ax) for ax in axes[:, 0]] == ["AE", "HAE"]
    for first, strip, last, embedding in axes:
        np.testing.assert_allclose(first.images[0].get_array(), 0.25)
        np.testing.assert_allclose(last.images[0].get_array(), 0.75)
        assert strip.images[0].get_array().shape == (3, 4 * 5 - 1)
        assert len(embedding.collections[0].get_offsets()) == len(CODES)
    np.testing.assert_allclose(axes[1, 1].images[0].get_array()[:, :4], 1 - blocks(CODES[1:2])[0])
    change = np.abs(CODES[2] - CODES[0])
    shown = np.sort(np.argsort(-change)[:2])
    np.testing.assert_allclose(axes[0, 3].lines[0].get_xydata()[[0, -1]], CODES[[0, 2]][:, shown])


def test_interpolation_of_one_model_and_one_code_needs_no_names():
    fig = pictures.plot_interpolation(lambda z: blocks(np.repeat(z, 3, 1)), [0.0], [1.0], codes=[[0.0], [1.0]])
    assert len(fig.axes) == 2


def test_interpolation_names_the_model_without_a_code():
    with pytest.raises(ValueError, match=facts("left", "['HAE']", "['AE']")):
        pictures.plot_interpolation({"AE": blocks, "HAE": blocks}, {"AE": CODES[0]}, CODES[1])


def test_grid_changes_the_first_dimension_down_and_the_second_across():
    grid = pictures.code_grid(blocks, CODES[0], (0.5, 2.0), 3, dimensions=(2, 0))
    for i in range(3):
        for j in range(3):
            np.testing.assert_allclose(grid[i, j], blocks(CODES[:1] + [[2.0 * j, 0, 0.5 * i]])[0])
    fig = pictures.plot_grid(blocks, CODES[0], 0.5, 3, dimensions=(2, 0), codes=CODES, factors=CODES[:, :1])
    images, embedding = fig.axes
    assert (images.get_ylabel()[:6], images.get_xlabel()[:6]) == ("code 3", "code 1")
    np.testing.assert_allclose(images.images[0].get_array()[:3, :4], blocks(CODES[:1])[0])
    np.testing.assert_allclose(embedding.lines[1].get_xydata(), CODES[:1, [2, 0]])
    assert len(embedding.lines[0].get_xydata()) == 9
    with pytest.raises(ValueError, match=facts("code", (1,))):
        pictures.plot_grid(blocks, [1.0], 0.5)


def test_colours_of_factors_are_distinct_at_the_corners_and_even_between():
    corners = factor_colours(np.array([[0, 0], [0, 1], [1, 0], [1, 1], [0.5, 0.5]]))
    assert len(np.unique(corners.round(3), axis=0)) == 5
    np.testing.assert_allclose(corners[4], corners[:4].mean(0))
    assert np.isfinite(factor_colours(np.ones((3, 1)))).all()


def full_grid(*sizes):
    return np.stack(np.meshgrid(*map(np.arange, sizes), indexing="ij"), -1).reshape(-1, len(sizes))


def test_mean_codes_average_over_all_other_factors():
    factors = full_grid(3, 4, 5)
    codes = np.c_[factors[:, 1] - 2.0 * factors[:, 2], factors[:, 0] ** 2]
    means = pictures.mean_codes(factors, codes, (1, 2))
    np.testing.assert_allclose(means[0], np.arange(4)[:, None] - 2.0 * np.arange(5))
    np.testing.assert_allclose(means[1], 5 / 3)
    np.testing.assert_allclose(pictures.mean_codes(factors, codes, (0,))[1], [0, 1, 4])


def test_mean_codes_of_continuous_factors_use_bins():
    z = np.linspace(0, 1, 1001)[:, None]
    np.testing.assert_allclose(pictures.mean_codes(z, z, (0,), n_bins=4)[0], [0.125, 0.375, 0.625, 0.875], atol=1e-3)


def test_mean_codes_show_means_and_put_dead_codes_last():
    factors = full_grid(2, 3, 6, 6)
    x, y = factors[:, 2] - 2.5, factors[:, 3] - 2.5
    codes = np.c_[0 * x, 3 + x, 2 * y, factors[:, 1] * (2 * factors[:, 0] - 1)]
    fig = pictures.plot_mean_codes(factors, codes, factor_names=("shape", "size", "x", "y"), split=0)
    axes = np.array(fig.axes[:12]).reshape(4, 3)
    assert [ax.get_ylabel() for ax in axes[:, 0]] == ["code 3\nx", "code 2\nx", "code 4\nx", "code 1\nx"]
    assert [ax.get_xlabel() for ax in axes[-1]] == ["y", "shape", "size"]
    np.testing.assert_allclose(axes[0, 0].images[0].get_array(), np.tile(2 * (np.arange(6) - 2.5), (6, 1)))
    np.testing.assert_allclose(axes[1, 0].images[0].get_array(), np.tile(np.arange(6) - 2.5, (6, 1)).T)
    assert axes[0, 0].images[0].get_clim() == (-5, 5)
    assert [line.get_ydata().tolist() for line in axes[2, 2].lines[1:]] == [[0, -1, -2], [0, 1, 2]]
    plain = pictures.plot_mean_codes(factors, codes, over=(0, 1), most=2)
    assert [ax.get_xlabel() for ax in plain.axes[3:6]] == ["factor 2", "factor 3", "factor 4"]


def test_mean_codes_refuse_what_they_cannot_draw():
    with pytest.raises(ValueError, match=facts("factors", 40, "codes", 39)):
        pictures.plot_mean_codes(CODES, CODES[1:])
    with pytest.raises(ValueError, match=facts("factors", "column")):
        pictures.plot_mean_codes(CODES[:, :1], CODES)


HISTORY = [
    {"step": s, "seconds": 0.1 * s, "loss": 100.0 / s, "reconstruction": 90.0 / s, "discriminator": 0.5,
     "kl_per_dimension": [0.1 * s, 0.3 * s, 0.0], "capacity": 0.5 * s, "kl": 0.4 * s}
    for s in (1, 2, 4)
]  # fmt: skip


def test_kl_is_drawn_for_each_code_largest_first_with_the_total_and_the_capacity():
    lines = {line.get_label(): line.get_xydata() for line in pictures.plot_kl(HISTORY).axes[0].lines}
    assert list(lines) == ["code 2: 1.20", "code 1: 0.40", "code 3: 0.00", "all codes: 1.60", "capacity"]
    np.testing.assert_allclose(lines["code 2: 1.20"], [[1, 0.3], [2, 0.6], [4, 1.2]])
    np.testing.assert_allclose(lines["all codes: 1.60"][:, 1], [0.4, 0.8, 1.6])
    np.testing.assert_allclose(lines["capacity"][:, 1], [0.5, 1, 2])


def test_kl_against_the_reconstruction_without_a_capacity():
    history = [{k: v for k, v in entry.items() if k != "capacity"} for entry in HISTORY] + [{"step": 5}]
    ax = pictures.plot_kl(history, against="reconstruction", names=("a", "b", "c"), top=1).axes[0]
    assert ax.get_xlabel() == "reconstruction"
    np.testing.assert_allclose(ax.lines[0].get_xdata(), [90, 45, 22.5])
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["b: 1.20", "all codes: 1.60"]


def test_kl_says_what_the_history_lacks():
    with pytest.raises(ValueError, match=facts("'kl_per_dimension'")):
        pictures.plot_kl([{"step": 1, "loss": 2.0}])
    with pytest.raises(ValueError, match=facts("'epoch'", "['capacity'")):
        pictures.plot_kl(HISTORY, against="epoch")


def test_losses_draw_every_number_the_usual_ones_first():
    fig = pictures.plot_losses([*HISTORY, {"step": 5, "note": "end", "loss": 10.0}])
    assert [ax.get_title() for ax in fig.axes] == [
        "loss: 10", "reconstruction: 22.5", "KL: 1.6", "capacity: 2", "discriminator: 0.5",
    ]  # fmt: skip
    np.testing.assert_allclose(fig.axes[0].lines[0].get_xydata(), [[1, 100], [2, 50], [4, 25], [5, 10]])
    with pytest.raises(ValueError, match=facts(2, "'step'")):
        pictures.plot_losses([{"step": 1}, {"step": 2}])


def test_losses_of_several_starts_are_several_lines():
    history = [{"step": s, "loss": 3.0 - s, "losses": [3.0 - s, 4.0 - s], "learning_rate": 0.1} for s in (1, 2)]
    fig = pictures.plot_losses(history)
    assert [ax.get_title() for ax in fig.axes] == ["loss: 1", "loss of each start: 1", "learning rate: 0.1"]
    assert [line.get_ydata().tolist() for line in fig.axes[1].lines] == [[2, 1], [3, 2]]


def test_traversals_of_chosen_codes_decode_only_these():
    calls = []
    rows = pictures.traversals(lambda z: calls.append(len(z)) or blocks(z), CODES, n_steps=4, which=[2])
    assert calls == [4]
    np.testing.assert_array_equal(rows[0], pictures.traversals(blocks, CODES, n_steps=4)[2])


def test_every_figure_can_be_written(tmp_path):
    ends = blocks(CODES[:2])
    figures = [
        pictures.plot_reconstructions(blocks(CODES), {"a long name of a model": blocks(CODES)}),
        pictures.plot_traversals(colours, CODES),
        pictures.plot_interpolation({"AE": blocks}, CODES[0], CODES[1], ends=(ends[0], ends[1]), codes=CODES),
        pictures.plot_grid(colours, CODES[0], 0.5, codes=CODES, title="grid"),
        pictures.plot_mean_codes(full_grid(2, 3, 4), full_grid(2, 3, 4), split=0),
        pictures.plot_kl(HISTORY),
        pictures.plot_losses(HISTORY),
    ]
    for i, fig in enumerate(figures):
        fig.savefig(tmp_path / f"{i}.png", dpi=50)


def test_spectrum_marks_what_counts_and_sorts_the_information_with_it():
    figure = pictures.plot_spectrum(np.array([0.01, 2.0, 1.0, 0.02]), 2, information=np.array([0.1, 0.5, 1.0, 0]))
    spectrum, information = figure.axes
    np.testing.assert_array_equal(spectrum.lines[0].get_ydata(), [2, 1, 0.02, 0.01])
    assert spectrum.lines[1].get_xdata()[0] == 2.5
    np.testing.assert_array_equal(information.lines[0].get_ydata(), [0.5, 1.0, 0, 0.1])


def test_heat_map_is_the_change_between_minus_1_and_1():
    values = np.linspace(-2, 2, 9)
    images = values[:, None, None] * np.array([[0.0, 3.0]])
    np.testing.assert_allclose(pictures.heat_map(images, values), [[0, 6]])


def test_panels_lay_out_classes_and_steps():
    images = np.zeros((3, 5, 4, 4))
    images[2, 4] = 1
    panel = pictures.plot_class_traversal(images, np.linspace(-2, 2, 5), names="abc").axes[0]
    grid = panel.images[0].get_array()
    assert grid.shape == (3 * 5 - 1, 5 * 5 - 1)  # four pixels each, a white line between
    assert grid[10:, 20:].min() == 1
    assert grid[:4, :4].max() == grid[5:9, 20:].max() == 0
    assert [t.get_text() for t in panel.get_yticklabels()] == ["a", "b", "c"]
    styles = pictures.plot_samples(np.transpose(images, (1, 0, 2, 3))).axes[0].images[0].get_array()
    assert styles.shape == (24, 14)
    assert styles[20:, 10:].min() == 1
    assert styles[:4, :4].max() == 0


def test_samples_stand_beside_the_data_in_the_same_plane():
    X = np.random.default_rng(0).normal(size=(200, 3)) * [5.0, 1.0, 0.1]
    data, samples = pictures.plot_sampled_points(X[:50], X, np.arange(50) % 2).axes
    np.testing.assert_allclose(data.collections[0].get_offsets()[:50], samples.collections[0].get_offsets())
    np.testing.assert_allclose(np.abs(data.collections[0].get_offsets()), np.abs((X - X.mean(0))[:, :2]), atol=0.3)
    assert samples.collections[0].get_array().tolist() == [0, 1] * 25


def test_reconstruction_matches_codes_to_factors():
    z = np.random.default_rng(0).normal(size=(100, 2))
    truth, found, _ = pictures.plot_recovery(z, -2 * z[:, ::-1], np.ones(2), np.arange(100) % 3, score=1).axes
    np.testing.assert_allclose(found.collections[0].get_offsets(), 2 * truth.collections[0].get_offsets())


def test_eigenvalues_are_parted_at_the_gap():
    axes = pictures.plot_eigenvalues(np.array([1e-4, 2e-4, 0.05, 0.06]), 3, scale=0.055).axes[0]
    below, above = axes.lines[:2]
    assert len(below.get_xdata()) == 2
    assert len(above.get_xdata()) == 2


def test_subspaces_draws_one_colour_per_submanifold():
    X, true = product(["S2", "S2"], 100)
    axes = pictures.plot_subspaces(X, true, n_points=20).axes[0]
    assert {line.get_color() for line in axes.lines} == {"C0", "C1"}


def test_angles_counts_every_point():
    axes = pictures.plot_angles([np.full(30, 0.1), np.full(30, 0.2)]).axes[0]
    assert sum(p.get_height() for p in axes.patches) == 60


def test_an_angle_has_colours_that_close_and_its_own_correlation():
    rng = np.random.default_rng(0)
    factors = np.c_[rng.uniform(-np.pi, np.pi, 300), rng.uniform(size=300)]
    codes = np.c_[factors[:, 1], np.angle(np.exp(1j * (2 - factors[:, 0])))]
    fig = pictures.plot_factor_maps(
        factors, codes, kinds=["interval", "circle"], factor_kinds=["circle", "interval"], factor_names=["yaw", "x"]
    )
    plain, angle = fig.axes
    assert plain.get_title().endswith("x, r = +1.000")
    assert angle.get_title().endswith("yaw, r = -1.000")
    drawn = angle.collections[0]
    assert drawn.get_cmap().name == "twilight"
    assert drawn.get_clim() == pytest.approx((-np.pi, np.pi))


def test_a_traversal_of_an_angle_closes():
    def decode(codes):
        return np.c_[np.cos(codes[:, 0]), np.sin(codes[:, 0]), codes[:, 1]]

    codes = np.random.default_rng(0).uniform(-1, 1, (50, 2))
    moved = pictures.traversals(decode, codes, span="quantiles", angles=[0])
    assert moved[0, 0] == pytest.approx(moved[0, -1])
    assert moved[0, 4] != pytest.approx(moved[0, 0])
    assert moved[1, 0] != pytest.approx(moved[1, -1])
