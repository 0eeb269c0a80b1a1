"""Torch modules to ONNX files, compared with the model that they stand for."""

import contextlib
import io
import logging
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unbraid.runtime.extras import require
from unbraid.saving.persistence import written_whole

if TYPE_CHECKING:
    from torch import nn

TOLERANCE = 1e-4  # largest difference from the model, in standard deviations of what it gives


@dataclass(frozen=True)
class Graphs:
    """What an estimator exports.

    Attributes
    ----------
    encoder : torch module
        From float32 rows ``(n, *row_shape_)`` in the model's unit (pictures in [0, 1]) to codes (n, n_codes).
    decoder : torch module or None
        From codes to rows.
    rows : ndarray (n, ...)
        Examples on which graphs and model are compared, in the model's unit.
    """

    encoder: "nn.Module"
    decoder: "nn.Module | None"
    rows: np.ndarray


@dataclass(frozen=True)
class Checked:
    """A file that was written, and how far it is from the model.

    Attributes
    ----------
    file : str
    input, output : str
        What goes in and comes out, as text.
    difference : float
        The largest, in standard deviations of the model's output on the examples.
    """

    file: str
    input: str
    output: str
    difference: float


def write_graph(
    module: "nn.Module", example: np.ndarray, path: Path, names: tuple[str, str], model: Callable[[np.ndarray], Any]
) -> Checked:
    """Export a module whose first axis is free, run it by onnxruntime and compare it with the model.

    A graph that differs from the model by more than ``TOLERANCE`` is removed, and an error raised.
    """
    torch = require("torch", "export")
    for needed in ("onnx", "onnxscript", "onnxruntime"):
        require(needed, "export")
    example = np.ascontiguousarray(example, dtype=np.float32)
    with written_whole(path) as part:
        with _quietly():
            program = torch.onnx.export(
                module.eval(),
                (torch.from_numpy(example),),
                input_names=[names[0]],
                output_names=[names[1]],
                dynamic_shapes=({0: torch.export.Dim("n")},),
                dynamo=True,
                verbose=False,
            )
            program.save(str(part), external_data=False)
        found = _run(part, example)
        difference = _difference(found, np.asarray(model(example)))
        if not difference <= TOLERANCE:
            raise ValueError(
                f"{path.name} differs from the model by {difference:.2g} standard deviations; at most "
                f"{TOLERANCE:g} is allowed. It was not kept. Numbers far from 1 lose digits in float32: rescale."
            )
    shape = lambda a: f"float32 (n, {', '.join(map(str, a.shape[1:]))})"  # noqa: E731
    return Checked(path.name, f"{names[0]}: {shape(example)}", f"{names[1]}: {shape(found)}", difference)


def _run(path: Path, rows: np.ndarray) -> np.ndarray:
    """All rows at once, and the first alone: the first axis must be free."""
    session = require("onnxruntime", "export").InferenceSession(str(path), providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    found, alone = (session.run(None, {name: x})[0] for x in (rows, rows[:1]))
    if _difference(alone, found[:1], float(np.std(found)) or 1.0) > TOLERANCE:
        raise ValueError(f"{path.name} gives different results for a row alone and the same row in a batch.")
    return found


def _difference(found: np.ndarray, wanted: np.ndarray, scale: float | None = None) -> float:
    """The largest, in standard deviations of what is wanted; in hundredths of its size where it hardly varies."""
    if found.shape != wanted.shape:
        raise ValueError(f"the graph returns shape {found.shape} and the model {wanted.shape} for the same rows.")
    scale = scale or max(float(np.std(wanted)), 0.01 * float(np.sqrt(np.mean(np.square(wanted))))) or 1.0
    return float(np.abs(found.astype(np.float64) - wanted).max() / scale)


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """Silence the exporter's own output and warnings; errors are still raised."""
    level = logging.getLogger("torch.onnx").level
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.getLogger("torch.onnx").setLevel(level)
