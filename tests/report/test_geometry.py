"""Pictures show what they were given."""

import matplotlib as mpl
import numpy as np

from tests.geometry.manifolds import product
from unbraid.report.geometry import plot_angles, plot_spectrum, plot_subspaces

mpl.use("Agg")


def test_spectrum_parts_the_eigenvalues_at_the_gap():
    axes = plot_spectrum(np.array([1e-4, 2e-4, 0.05, 0.06]), 3, scale=0.055)
    below, above = axes.lines[:2]
    assert len(below.get_xdata()) == 2
    assert len(above.get_xdata()) == 2
    mpl.pyplot.close("all")


def test_subspaces_draws_a_colour_a_submanifold():
    X, true = product(["S2", "S2"], 100)
    axes = plot_subspaces(X, true, n_points=20)
    assert {line.get_color() for line in axes.lines} == {"C0", "C1"}
    mpl.pyplot.close("all")


def test_angles_counts_every_point():
    axes = plot_angles([np.full(30, 0.1), np.full(30, 0.2)])
    assert sum(p.get_height() for p in axes.patches) == 60
    mpl.pyplot.close("all")
