"""Faces of StyleGAN2: 300 pictures of 64 x 64, two directions of the generator as the truth.

    unbraid datasets get ffhq
    python benchmarks/case_faces.py PICTURES.npz [--umap PYTHON]

PICTURES.npz is made on the first run (.6 CPU seconds a picture, ``openvino``, for research only): X and factors.
"""

import numpy as np
from cases import Case, arguments, save
from matplotlib.figure import Figure

import unbraid as ub

N, SIZE = 300, 64


def main() -> None:
    """Print and write the table, draw the picture."""
    given = arguments(__doc__, "the file of the pictures; made if it is not there")
    if not given.folder.exists():
        data = ub.datasets.load("gan-manifold", generator="ffhq", image_size=SIZE)
        X, factors = data.sample(N, random_state=0)
        np.savez(given.folder, X=X, z=factors)
    with np.load(given.folder) as file:
        X, factors = file["X"], file["z"]
    case = Case("faces", factors, ["gender", "pose"], umap=given.umap)
    model, codes = case.ours("unbraid", X)
    case.peers(X, 2, neighbors=6)
    case.nearest(X)
    case.write()
    if codes.shape[1] == 2:
        save(drawn(model, codes), "faces")


def drawn(model: object, codes: np.ndarray, steps: int = 7) -> Figure:
    """Faces decoded along each code, the other at its median."""
    figure = Figure(figsize=(8.2, 2.7), layout="constrained")
    for k, row in enumerate(figure.subplots(2, steps)):
        along = np.repeat(np.median(codes, axis=0)[None], steps, axis=0)
        along[:, k] = np.linspace(*np.quantile(codes[:, k], [0.03, 0.97]), steps)
        faces = model.inverse_transform(along).reshape(steps, SIZE, SIZE, 3)  # type: ignore[attr-defined]
        for ax, face in zip(row, faces):
            ax.imshow(np.clip(face, 0, 1))
            ax.set(xticks=[], yticks=[])
        row[0].set_ylabel(f"code {k + 1}")
    return figure


if __name__ == "__main__":
    main()
