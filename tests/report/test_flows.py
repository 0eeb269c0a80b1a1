"""Pictures are drawn from arrays: what they show, and that no estimator is needed."""

import numpy as np

from unbraid.report.flows import heat_map, plot_reconstruction, plot_samples, plot_spectrum, plot_traversal


def test_spectrum_marks_the_knee():
    figure = plot_spectrum(np.array([0.01, 2.0, 1.0, 0.02]), 2, information=np.array([1.0, 0.5, 0, 0]))
    spectrum, information = figure.axes
    np.testing.assert_array_equal(spectrum.lines[0].get_ydata(), [2, 1, 0.02, 0.01])
    assert spectrum.lines[1].get_xdata()[0] == 2.5
    assert len(information.lines[0].get_ydata()) == 4


def test_heat_map_is_the_change_between_minus_1_and_1():
    values = np.linspace(-2, 2, 9)
    images = values[:, None, None] * np.array([[0.0, 3.0]])
    np.testing.assert_allclose(heat_map(images, values), [[0, 6]])


def test_panels_lay_out_classes_and_steps():
    images = np.zeros((3, 5, 4, 4))
    images[2, 4] = 1
    grid = plot_traversal(images, np.linspace(-2, 2, 5)).axes[0].images[0].get_array()
    assert grid.shape == (12, 20)
    assert grid[8:, 16:].min() == 1
    assert grid.sum() == 16
    styles = plot_samples(np.transpose(images, (1, 0, 2, 3))).axes[0].images[0].get_array()
    assert styles.shape == (20, 12)
    assert styles[16:, 8:].min() == 1


def test_reconstruction_matches_codes_to_factors():
    z = np.random.default_rng(0).normal(size=(100, 2))
    truth, found, _ = plot_reconstruction(z, -2 * z[:, ::-1], np.ones(2), np.arange(100) % 3, score=1).axes
    np.testing.assert_allclose(found.collections[0].get_offsets(), 2 * truth.collections[0].get_offsets())
