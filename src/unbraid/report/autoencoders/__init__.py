"""Pictures of autoencoders: arrays, or a function that decodes, in; a figure or a GIF out."""

from unbraid.report.autoencoders.decoded import (
    code_grid,
    interpolate,
    plot_grid,
    plot_interpolation,
    plot_reconstructions,
)
from unbraid.report.autoencoders.factor_maps import mean_codes, plot_factor_maps
from unbraid.report.autoencoders.training import plot_kl, plot_losses
from unbraid.report.autoencoders.traversal import (
    plot_traversals,
    save_traversal_gif,
    traversal_values,
    traversals,
)

__all__ = [
    "code_grid",
    "interpolate",
    "mean_codes",
    "plot_factor_maps",
    "plot_grid",
    "plot_interpolation",
    "plot_kl",
    "plot_losses",
    "plot_reconstructions",
    "plot_traversals",
    "save_traversal_gif",
    "traversal_values",
    "traversals",
]
