"""A manifold's decomposition: subspaces at its points, and their angles to the true ones."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unbraid.report.drawing import chart, figure, named, some_of


def plot_subspaces(
    X: ArrayLike, subspaces: Sequence[ArrayLike], *, plane: ArrayLike | None = None, n_points: int = 300
) -> Any:
    """Points and their subspaces in three dimensions: short strokes along each basis vector, one colour each.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
    subspaces : sequence of arrays of shape (n_samples, n_features, dim_j)
    plane : array of shape (n_features, 3), optional
        Directions to project on; by default the main ones of the data. The plane of one factor shows a sphere whose
        own subspace is tangent to it and whose other strokes shrink to points.
    n_points : int
        Points drawn.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> t = np.linspace(0, 6, 30)
    >>> X, U = np.c_[np.cos(t), np.sin(t), t], np.c_[-np.sin(t), np.cos(t), 0 * t][:, :, None]
    >>> plot_subspaces(X, [U]).axes[0].name
    '3d'
    """
    points = np.asarray(X, float)
    points = points - points.mean(axis=0)
    directions = np.linalg.eigh(points.T @ points)[1][:, :-4:-1] if plane is None else np.asarray(plane)
    some = some_of(len(points), n_points)
    P = points[some] @ directions
    length = 0.12 * np.sqrt(np.square(P).sum(axis=1).mean())
    fig = figure(5.5, 5)
    ax = fig.add_subplot(projection="3d")
    ax.scatter(*P.T, s=3, color="0.6")
    for j, bases in enumerate(subspaces):
        for basis in np.moveaxis(np.asarray(bases)[some], 2, 0):
            ends = length * (basis @ directions)
            strokes = np.stack([P - ends, P + ends, np.full_like(P, np.nan)], axis=1).reshape(-1, 3)
            ax.plot(*strokes.T, color=f"C{j}", lw=0.8)
        ax.plot([], [], [], color=f"C{j}", label=f"submanifold {j + 1}")
    ax.legend(fontsize=8)
    ax.set_aspect("equal")
    return fig


def plot_angles(angles: Sequence[ArrayLike], *, names: Sequence[str] | None = None) -> Any:
    """Histogram of the angle between true and found subspaces over the points, one colour per submanifold.

    Parameters
    ----------
    angles : sequence of arrays
        Radians within [0, pi/2], one array per submanifold.
    names : sequence of str, optional

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> len(plot_angles([np.array([0.1, 0.2]), np.array([0.3])]).axes[0].patches) > 0
    True
    """
    labels = named(names, len(angles), "submanifold")
    every = [np.asarray(values, float) for values in angles]
    top = min(np.pi / 2, 1.05 * max(float(values.max()) for values in every))
    fig, ax = chart(5, 3.6)
    for j, (values, name) in enumerate(zip(every, labels)):
        label = f"{name}: mean {values.mean():.3g}"
        ax.hist(values, bins=60, range=(0, top), alpha=0.6, color=f"C{j}", label=label)
    ax.set(xlabel="angle (rad)", ylabel="points")
    ax.legend(fontsize=8)
    return fig
