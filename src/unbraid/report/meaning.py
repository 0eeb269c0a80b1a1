"""Pictures of what a code means: slopes of the features as maps, curves or bars, and tuning curves."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from unbraid.meaning.loadings import Loadings
from unbraid.report.drawing import BLUE, GREY, RED, is_pictures, named, panels, picture_shape, quiet

MOST_BARS = 30  # features that get a bar each; more are drawn as a curve
MOST_CURVES = 6


def plot_loadings(loadings: Loadings, *, names: Sequence[str] | None = None) -> Any:
    """What changes along each code: a map for images, a curve with its interval for spectra, bars for a few columns.

    Parameters
    ----------
    loadings : Loadings
    names : sequence of str, optional
        Of the codes.

    Returns
    -------
    Figure

    Examples
    --------
    >>> from unbraid.meaning import loadings
    >>> z = np.random.default_rng(0).uniform(size=(50, 2))
    >>> len(plot_loadings(loadings(z, z @ [[1.0, 2.0, 0.0], [0.0, 1.0, 1.0]])).axes)
    2
    """
    titles = named(names, len(loadings.mean), "code")
    n_features = loadings.mean.shape[1]
    if is_pictures(loadings.row_shape):
        fig, axes = panels(len(titles), 4, 2.6, 2.6)
        maps = loadings.mean.reshape(len(titles), *picture_shape(loadings.row_shape))
        maps = maps.mean(axis=-1) if maps.ndim == 4 else maps
        most = max(float(np.abs(maps).max()), 1e-300)
        for ax, values, title in zip(axes, maps, titles, strict=True):
            ax.imshow(values, cmap="RdBu_r", vmin=-most, vmax=most)
            ax.set(xticks=[], yticks=[])
            ax.set_title(title, fontsize=9)
        return fig
    bars = n_features <= MOST_BARS
    fig, axes = panels(len(titles), 2, 5.0, max(2.2, 0.22 * n_features) if bars else 2.2)
    places = np.arange(n_features)
    for code, (ax, title) in enumerate(zip(axes, titles, strict=True)):
        mean, low, high = loadings.mean[code], loadings.low[code], loadings.high[code]
        if bars:
            sure = (low > 0) | (high < 0)
            ax.barh(places, mean, color=np.where(sure, BLUE, GREY))
            ax.errorbar(mean, places, xerr=[mean - low, high - mean], fmt="none", ecolor=RED, linewidth=1)
            ax.set_yticks(places, loadings.feature_names, fontsize=8)
            ax.invert_yaxis()
        else:
            ax.fill_between(places, low, high, color=BLUE, alpha=0.25, linewidth=0)
            ax.plot(places, mean, color=BLUE, linewidth=1)
            ax.axhline(0, color=GREY, linewidth=0.6)
            ax.set_xlabel("feature", fontsize=9)
        ax.set_title(title, fontsize=9)
        quiet(ax)
    return fig


def plot_courses(loadings: Loadings, codes: Sequence[int], *, names: Sequence[str] | None = None) -> Any:
    """Means of the features that change most along some codes, with two standard errors: tuning curves of angles.

    Parameters
    ----------
    loadings : Loadings
    codes : sequence of int
        Which codes.
    names : sequence of str, optional
        Of all codes.

    Returns
    -------
    Figure
    """
    titles = named(names, len(loadings.mean), "code")
    fig, axes = panels(len(codes), 2, 5.0, 2.6)
    for ax, code in zip(axes, codes, strict=True):
        course = loadings.courses[code]
        order = np.argsort(course.at, kind="stable")
        for feature in np.argsort(-loadings.size[code], kind="stable")[:MOST_CURVES]:
            mean, error = course.mean[order, feature], 2 * course.error[order, feature]
            (line,) = ax.plot(course.at[order], mean, linewidth=1, label=loadings.feature_names[feature])
            ax.fill_between(
                course.at[order], mean - error, mean + error, color=line.get_color(), alpha=0.2, linewidth=0
            )
        ax.legend(fontsize=7, frameon=False)
        ax.set_xlabel(titles[code], fontsize=9)
        quiet(ax)
    return fig
