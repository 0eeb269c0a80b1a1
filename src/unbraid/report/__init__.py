"""Pictures (arrays or a decode function in, figure out) and the pages made of them; nothing here imports an estimator.

:func:`fit_report` makes the page of any fitted model; :func:`measured_fit` fits one and measures what the page shows.
"""

from unbraid.report.animation import save_traversal_gif
from unbraid.report.decoded import (
    code_grid,
    interpolate,
    plot_grid,
    plot_images,
    plot_interpolation,
    plot_reconstructions,
    plot_samples,
)
from unbraid.report.factor_maps import mean_codes, plot_factor_maps, plot_mean_codes, plot_recovery
from unbraid.report.fitted import Fitted, describe, measured_fit
from unbraid.report.html import Report
from unbraid.report.pages import fit_report
from unbraid.report.scatter import plot_codes, plot_distances, plot_sampled_points
from unbraid.report.spectra import plot_eigenvalues, plot_selection, plot_spectrum
from unbraid.report.subspaces import plot_angles, plot_subspaces
from unbraid.report.training import plot_kl, plot_losses
from unbraid.report.traversal import (
    heat_map,
    plot_class_traversal,
    plot_traversals,
    traversal_values,
    traversals,
)

__all__ = [
    "Fitted",
    "Report",
    "code_grid",
    "describe",
    "fit_report",
    "heat_map",
    "interpolate",
    "mean_codes",
    "measured_fit",
    "plot_angles",
    "plot_class_traversal",
    "plot_codes",
    "plot_distances",
    "plot_eigenvalues",
    "plot_factor_maps",
    "plot_grid",
    "plot_images",
    "plot_interpolation",
    "plot_kl",
    "plot_losses",
    "plot_mean_codes",
    "plot_reconstructions",
    "plot_recovery",
    "plot_sampled_points",
    "plot_samples",
    "plot_selection",
    "plot_spectrum",
    "plot_subspaces",
    "plot_traversals",
    "save_traversal_gif",
    "traversal_values",
    "traversals",
]
