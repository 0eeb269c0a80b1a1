"""Summary of GEOMANCER: the spectrum, the submanifolds, and the concerns."""

from typing import TYPE_CHECKING

import numpy as np

from unbraid.estimator.summary import Fact, Section, Summary, title_of

if TYPE_CHECKING:
    from unbraid.geometry.estimator import Geomancer

POINTS = 300  # drawn with their subspaces
CONFIDENCE = "1 - 1 / gap, halved by each concern; 0 if the spectrum shows no gap."
SCALE = "The scale to which eigenvalues near 0 are compared."
SPECTRUM = (
    "The lowest eigenvalues of the connection Laplacian. A product of m curved manifolds has m - 1 of them near 0, "
    "with a gap above."
)
SUBSPACES = (
    "Some of the points, projected on the three directions that the first submanifold spans most, with a stroke along "
    "each basis vector. The strokes of the first submanifold are tangent to it; those of the others shrink to points."
)


def summary_of(model: "Geomancer") -> Summary:
    """Summary of a fitted :class:`~unbraid.Geomancer`, which has subspaces and no codes."""
    dims = ", ".join(map(str, model.dims_))
    return Summary(
        title_of(model),
        [
            Fact("submanifolds", str(model.n_submanifolds_), f"Of dimension {dims}; {model.dim_} in total."),
            Fact.of("submanifold_gap", f"{model.gap_:.3g}"),
            Fact("confidence", f"{model.confidence_:.3f}", CONFIDENCE),
            Fact.of("tangent_error", f"{model.tangent_error_:.3f}"),
            Fact("first scalar eigenvalue", f"{model.scale_:.3g}", SCALE),
        ],
        choices=[f"{name}: {how}." for name, how in model.selection_.items()],
        concerns=list(model.concerns_),
        note="All checks passed: the gap is clear.",
        checked=True,
        sections=_sections(model),
        decodes=False,
        settings={"neighbours k": model.n_neighbors_},
    )


def _sections(model: "Geomancer") -> list[Section]:
    found = []
    if len(model.spectrum_):
        words = (SPECTRUM, model.reason_) if model.reason_ else (SPECTRUM,)
        values, count = np.asarray(model.spectrum_), model.n_submanifolds_
        drawn = {"values": values, "n_submanifolds": count, "scale": model.scale_}
        found.append(Section("Spectrum", words, picture="eigenvalues", data=drawn))
    if model.n_features_in_ >= 3:
        some = np.linspace(0, len(model._X) - 1, min(len(model._X), POINTS)).astype(int)
        found_there = [bases[some] for bases in model.subspaces_]
        first = found_there[0].transpose(1, 0, 2).reshape(model.n_features_in_, -1)
        plane = np.linalg.svd(first, full_matrices=False)[0][:, :3]
        drawn = {"X": np.asarray(model._X)[some], "subspaces": found_there, "plane": plane}
        found.append(Section("Subspaces", (SUBSPACES,), picture="subspaces", data=drawn))
    return found
