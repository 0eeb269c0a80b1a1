"""Plots (arrays in, figure out) and the HTML report made of them; nothing here imports an estimator."""

from unbraid.report.html import Report
from unbraid.report.plots import (
    plot_codes,
    plot_distances,
    plot_factor_maps,
    plot_images,
    plot_selection,
    plot_traversals,
)

__all__ = [
    "Report",
    "plot_codes",
    "plot_distances",
    "plot_factor_maps",
    "plot_images",
    "plot_selection",
    "plot_traversals",
]
