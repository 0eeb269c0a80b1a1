"""Pictures of a manifold's decomposition: its spectrum, its subspaces, its angles. All take arrays."""

from collections.abc import Sequence

import numpy as np

from unbraid.contract.extras import require


def _axes(axes, **options):
    plt = require("matplotlib.pyplot", "plots")
    return plt.figure(figsize=(5, 3.6), layout="constrained").add_subplot(**options) if axes is None else axes


def plot_spectrum(spectrum: np.ndarray, n_submanifolds: int, *, scale: float | None = None, axes=None):
    """Lowest eigenvalues of the connection Laplacian, those below the gap apart, on a logarithmic axis.

    Parameters
    ----------
    spectrum : array
        ``spectrum_`` of a :class:`~unbraid.Geomancer`.
    n_submanifolds : int
        One more than there are eigenvalues below the gap.
    scale : float, optional
        First nonzero eigenvalue of the scalar Laplacian, drawn as a line.
    axes : matplotlib axes, optional

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> plot_spectrum(np.array([1e-4, 0.05, 0.06]), 2).get_xlabel()
    'eigenvalue'
    """
    axes = _axes(axes)
    values = np.maximum(np.asarray(spectrum, float), 1e-7)
    order = np.arange(1, len(values) + 1)
    below = order < n_submanifolds
    axes.plot(order[below], values[below], "o", color="C3", label=f"below the gap: {below.sum()}")
    axes.plot(order[~below], values[~below], "o", color="C0", label="above")
    if 0 < below.sum() < len(values):
        axes.axhspan(values[below].max(), values[~below].min(), color="0.92")
    if scale is not None:
        axes.axhline(scale, color="0.5", lw=1, ls="--", label="first scalar eigenvalue")
    axes.set(yscale="log", xlabel="eigenvalue", ylabel="value", title=f"{n_submanifolds} submanifold(s)")
    axes.set_xticks(order)
    axes.legend(fontsize=8)
    return axes


def plot_subspaces(
    X: np.ndarray, subspaces: Sequence[np.ndarray], *, plane: np.ndarray | None = None, n_points: int = 300, axes=None
):
    """Points and their subspaces in three dimensions: short strokes along each basis vector, a colour a submanifold.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
    subspaces : sequence of arrays of shape (n_samples, n_features, dim_j)
    plane : array of shape (n_features, 3), optional
        Directions to project on; by default the main ones of the data. The plane of one factor shows a sphere whose
        own subspace is tangent to it and whose other strokes shrink to points.
    n_points : int
        Points drawn.
    axes : three-dimensional matplotlib axes, optional

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> t = np.linspace(0, 6, 30)
    >>> X, U = np.c_[np.cos(t), np.sin(t), t], np.c_[-np.sin(t), np.cos(t), 0 * t][:, :, None]
    >>> plot_subspaces(X, [U]).name
    '3d'
    """
    axes = _axes(axes, projection="3d")
    X = np.asarray(X, float) - np.mean(X, axis=0)
    if plane is None:
        plane = np.linalg.eigh(X.T @ X)[1][:, :-4:-1]
    some = np.random.default_rng(0).permutation(len(X))[:n_points]
    P = X[some] @ plane
    length = 0.12 * np.sqrt(np.square(P).sum(axis=1).mean())
    axes.scatter(*P.T, s=3, color="0.6")
    for j, bases in enumerate(subspaces):
        for basis in np.moveaxis(np.asarray(bases)[some], 2, 0):
            ends = length * (basis @ plane)
            strokes = np.stack([P - ends, P + ends, np.full_like(P, np.nan)], axis=1).reshape(-1, 3)
            axes.plot(*strokes.T, color=f"C{j}", lw=0.8)
    for j in range(len(subspaces)):
        axes.plot([], [], [], color=f"C{j}", label=f"submanifold {j + 1}")
    axes.legend(fontsize=8)
    axes.set_aspect("equal")
    return axes


def plot_angles(angles: Sequence[np.ndarray], *, names: Sequence[str] | None = None, axes=None):
    """Histogram of the angle between true and found subspaces over the points, a colour a submanifold.

    Parameters
    ----------
    angles : sequence of arrays
        Radians within [0, pi/2], one array a submanifold.
    names : sequence of str, optional
    axes : matplotlib axes, optional

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> len(plot_angles([np.array([0.1, 0.2]), np.array([0.3])]).patches) > 0
    True
    """
    axes = _axes(axes)
    names = [f"submanifold {j + 1}" for j in range(len(angles))] if names is None else names
    top = min(np.pi / 2, 1.05 * max(float(np.max(a)) for a in angles))
    for j, (values, name) in enumerate(zip(angles, names)):
        label = f"{name}: mean {np.mean(values):.3g}"
        axes.hist(np.asarray(values), bins=60, range=(0, top), alpha=0.6, color=f"C{j}", label=label)
    axes.set(xlabel="angle (rad)", ylabel="points")
    axes.legend(fontsize=8)
    return axes
