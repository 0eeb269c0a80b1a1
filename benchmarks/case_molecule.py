"""The two torsions of alanine dipeptide, from the coordinates of its five backbone atoms (a simulation, 10,000 frames).

    python benchmarks/case_molecule.py FOLDER [--umap PYTHON]

FOLDER holds ala2_coordinates.npy (10,000 x 5 x 3; BSD-3, coarse-graining/cgnet). The torsions are computed exactly; no
method sees them.
"""

import numpy as np
from cases import Case, arguments, save
from matplotlib.figure import Figure
from numpy.typing import NDArray

ROWS = 3000  # for UMAP and Isomap, and so for all


def main() -> None:
    """Print and write the table, draw the picture."""
    given = arguments(__doc__, "where ala2_coordinates.npy is")
    frames = np.load(given.folder / "ala2_coordinates.npy").astype(float)
    frames = frames[np.random.default_rng(0).permutation(len(frames))[:ROWS]]
    torsions = np.c_[torsion(frames[:, :4]), torsion(frames[:, 1:])]
    torsions[:, 1] = (torsions[:, 1] + 2.1) % (2 * np.pi)  # cut where there are no frames
    case = Case("molecule", torsions, ["phi", "psi"], umap=given.umap)
    views = {"aligned": aligned(frames), "distances": distances(frames)}
    found = {}
    for view, X in views.items():
        found[f"unbraid, {view}"] = case.ours(f"unbraid, {view}", X)[1]
        case.ours(f"unbraid, {view}, two factors", X, n_factors=2)
    for view, X in views.items():
        found |= {f"{m}, {view}": c for m, c in case.peers(X, 2, label=f", {view}").items()}
    case.nearest(views["aligned"])
    case.write()
    save(drawn(torsions, {name: found[name] for name in ("unbraid, aligned", "PCA + FastICA, aligned")}), "molecule")


def torsion(atoms: NDArray) -> NDArray:
    """Angle between the planes of the first three and the last three of four atoms, in radians."""
    u, v, w = np.diff(atoms, axis=1).transpose(1, 0, 2)
    first, last = np.cross(u, v), np.cross(v, w)
    return np.arctan2((np.cross(first, last) * v).sum(-1) / np.linalg.norm(v, axis=-1), (first * last).sum(-1))


def aligned(frames: NDArray, rounds: int = 3) -> NDArray:
    """Coordinates without place and rotation: each frame turned onto their mean (Kabsch 1976)."""
    centred = frames - frames.mean(axis=1, keepdims=True)
    target = centred[0]
    for _ in range(rounds):
        U, _, V = np.linalg.svd(np.einsum("nia,ib->nab", centred, target))
        U[:, :, 2] *= np.sign(np.linalg.det(U @ V))[:, None]
        turned = np.einsum("nia,nab->nib", centred, U @ V)
        target = turned.mean(axis=0)
    return turned.reshape(len(frames), -1)


def distances(frames: NDArray) -> NDArray:
    """Between atoms that are three or more bonds apart; nearer ones hardly change."""
    i, j = np.triu_indices(frames.shape[1], 3)
    return np.linalg.norm(frames[:, i] - frames[:, j], axis=-1)


def drawn(torsions: NDArray, found: dict[str, NDArray]) -> Figure:
    """The Ramachandran plot, coloured by the code matched to each torsion."""
    figure = Figure(figsize=(8.2, 4.6), layout="constrained")
    for row, (name, codes) in zip(figure.subplots(2, 2, sharex=True, sharey=True), found.items()):
        related = np.abs(np.corrcoef(torsions.T, codes.T)[:2, 2:])
        for ax, angle, name_of in zip(row, related, ("phi", "psi")):
            ax.scatter(
                *np.degrees(torsions.T - [[0], [2.1]]), c=codes[:, angle.argmax()], s=2, cmap="viridis", rasterized=True
            )
            ax.set(title=f"{name}: code for {name_of}, |r| {angle.max():.2f}", xlabel="phi", ylabel="psi")
            ax.title.set_fontsize(9)
    return figure


if __name__ == "__main__":
    main()
