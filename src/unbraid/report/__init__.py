"""Pictures (arrays or a decode function in, figure out) and the pages made of them; nothing here imports an estimator.

:func:`fit_report` makes the page of any fitted model; :func:`measured_fit` fits one and measures what the page shows.
The names load on first use: who wants one picture should not wait for the metrics that another draws.
"""

from importlib import import_module
from typing import Any

_MODULES = {
    "animation": ("save_traversal_gif",),
    "charts": (
        "plot_codes",
        "plot_distances",
        "plot_eigenvalues",
        "plot_sampled_points",
        "plot_selection",
        "plot_spectrum",
    ),
    "decoded": ("code_grid", "interpolate", "plot_grid", "plot_interpolation", "plot_reconstructions", "plot_samples"),
    "drawing": ("plot_images",),
    "factor_maps": ("mean_codes", "plot_factor_maps", "plot_mean_codes", "plot_recovery"),
    "fitted": ("Fitted", "describe", "measured_fit"),
    "html": ("Report",),
    "meaning": ("plot_courses", "plot_loadings"),
    "pages": ("fit_report",),
    "subspaces": ("plot_angles", "plot_subspaces"),
    "training": ("plot_kl", "plot_losses"),
    "traversal": ("heat_map", "plot_class_traversal", "plot_traversals", "traversal_values", "traversals"),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}

__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    if name in _MODULE_OF:
        return getattr(import_module(f"unbraid.report.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"unbraid.report has no {name!r}; it has: {', '.join(__all__)}")


def __dir__() -> list[str]:
    return __all__
