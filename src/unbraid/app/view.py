"""One model as the page sees it: encode, decode, and what the model says about itself."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.app.examples import Names
from unbraid.estimator.base import Estimator
from unbraid.estimator.summary import Summary
from unbraid.report.traversal import shown_codes
from unbraid.saving.persistence import load

Encode = Callable[[Any], ArrayLike]
Decode = Callable[[Any], ArrayLike]
MOST_SHOWN = 12  # sliders for a pair of functions, which cannot say which of its codes matter


@dataclass(frozen=True)
class View:
    """A model, or a pair of functions, to look at.

    Attributes
    ----------
    name : str
        What tells it from the others on the page.
    encode : callable
        From rows (n, ...) to codes (n, d).
    decode : callable or None
        Back to rows; None where there is no way back, and real examples are shown.
    summary : Summary
    names : Names
    folder : Path or None
        Of a saved run.
    """

    name: str
    encode: Encode
    decode: Decode | None
    summary: Summary
    names: Names = field(default_factory=Names)
    folder: Path | None = None

    def shown(self, codes: NDArray) -> NDArray[np.intp]:
        """The codes that get a slider: those that the model recommends, the one that moves the data most first."""
        shown = shown_codes(codes, self.summary.order, self.summary.n_shown)
        return shown if self.decode is None else shown[np.argsort(-self.reach(codes, shown), kind="stable")]

    def reach(self, codes: NDArray, which: NDArray[np.intp]) -> NDArray[np.float64]:
        """How far the decoded data move (root mean square) as a code goes from its 10th to its 90th percentile."""
        if self.decode is None:
            return np.full(len(which), np.nan)
        points = np.tile(np.median(codes, axis=0), (2 * len(which), 1))
        low, high = np.quantile(codes, [0.1, 0.9], axis=0)
        for i, code in enumerate(which):
            points[2 * i, code], points[2 * i + 1, code] = low[code], high[code]
        decoded = np.asarray(self.decode(points), np.float64).reshape(len(which), 2, -1)
        return np.sqrt(np.square(decoded[:, 1] - decoded[:, 0]).mean(axis=1))


def view_of(model: Any, name: str = "") -> View:
    """Of a fitted estimator, or of a pair (encode, decode) of functions.

    Parameters
    ----------
    model : Estimator, or (encode, decode)
        ``decode`` may be None.
    name : str
        The method's where left out.
    """
    if isinstance(model, Estimator):
        summary = model.summary()
        if not summary.n_shown:
            raise ValueError(
                f"{summary.title} finds no codes, so there is nothing to move. Its page is "
                "unbraid.report.fit_report(model, X).write('report.html')."
            )
        fitted: Any = model  # ``summary().decodes`` says whether there is an inverse_transform
        decode = _in_single_precision(fitted.inverse_transform) if summary.decodes else None
        return View(name or summary.title, fitted.transform, decode, _with_doubt(summary, model))
    if isinstance(model, tuple) and len(model) == 2 and callable(model[0]) and (model[1] is None or callable(model[1])):
        summary = _summary_of_functions(model[1] is not None)
        return View(name or summary.title, model[0], model[1], summary)
    raise TypeError(
        f"cannot explore a {type(model).__name__}. Give a fitted estimator of unbraid, or a pair of functions (encode, "
        "decode), for instance (pca.transform, pca.inverse_transform); decode may be None."
    )


def _with_doubt(summary: Summary, model: Estimator) -> Summary:
    """The summary with the doubts of the diagnosis of the data, where there was one, first among the concerns."""
    diagnosis = getattr(model, "diagnosis_", None)
    return summary if diagnosis is None else replace(summary, concerns=[*diagnosis.doubts, *summary.concerns])


def _in_single_precision(decode: Decode) -> Decode:
    """A flow computes in the precision of its codes; in double it would copy all of its weights for every frame."""
    return lambda codes: decode(np.asarray(codes, np.float32))


def _summary_of_functions(decodes: bool) -> Summary:
    note = "A pair of functions: nothing is known about how its codes were found."
    return Summary("encoder and decoder" if decodes else "encoder", [], note=note, n_shown=MOST_SHOWN, decodes=decodes)


def view_of_run(folder: Path) -> View:
    """Of a run that ``unbraid fit`` or ``save`` wrote."""
    folder = Path(folder)
    model = load(folder)
    if not isinstance(model, Estimator):
        raise TypeError(f"{folder} holds a {type(model).__name__}; the explorer shows estimators.")
    found = view_of(model, folder.resolve().name)
    return View(found.name, found.encode, found.decode, found.summary, Names(folder), folder)


def title_of_view(view: View) -> str:
    """The method, and the run's name where it says more.

    >>> title_of_view(view_of((abs, None), "mine"))
    'encoder (mine)'
    """
    return view.summary.title if view.name == view.summary.title else f"{view.summary.title} ({view.name})"
