"""All that the page shows, as arrays and JSON: the examples, one or more views of them, and how their codes match."""

import csv
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.app.kept import read, some_rows
from unbraid.app.view import Look, View, title_of_view, view_of
from unbraid.data.observations import Observations
from unbraid.data.rows import Rows
from unbraid.data.sources import column_names
from unbraid.metrics.kinds import columns_of
from unbraid.report.html import sentence

BINS = 32  # of the histogram behind a slider
QUIET = 0.02  # of the reach of the strongest code: one below hardly moves the data, and waits behind the others


@dataclass(frozen=True)
class Shown:
    """A view with its codes of the examples, and the codes that have a slider."""

    view: View
    codes: NDArray[np.float64]
    which: NDArray[np.intp]
    reach: NDArray[np.float64]

    @property
    def loud(self) -> NDArray[np.intp]:
        """Those that move the data; all of a model without a decoder."""
        return self.which[~(self.reach < QUIET * self.reach.max())]


class Workspace:
    """Examples seen by one or more models.

    Parameters
    ----------
    rows : array (n, ...)
        Examples, pictures in the unit that the models take.
    views : sequence of View
    codes : array (n, d), optional
        Of the first view, where they are known.
    names : array (n,) of str, optional
        Of the examples.
    """

    def __init__(
        self, rows: NDArray, views: Sequence[View], codes: NDArray | None = None, names: NDArray | None = None
    ):
        if not len(rows) or not views:
            raise ValueError(f"received {len(rows)} examples and {len(views)} models; at least one of each is needed.")
        self.rows, self.look, self.names = rows, Look.of(rows), names
        self.shown = [self._look_at(view, codes if i == 0 else None) for i, view in enumerate(views)]
        self.matches = [self._matched(shown) for shown in self.shown]
        self.shown = [self._in_step(shown, found) for shown, found in zip(self.shown, self.matches)]

    def _look_at(self, view: View, known: NDArray | None) -> Shown:
        codes = np.asarray(view.encode(self.rows) if known is None else known, np.float64)
        if codes.ndim != 2 or len(codes) != len(self.rows):
            raise ValueError(f"{view.name} gives codes of shape {codes.shape}; they must be ({len(self.rows)}, d).")
        if not np.isfinite(codes).all():
            raise ValueError(f"{view.name} gives codes that are NaN or infinite; there is no place for them on a map.")
        back = self.look.shape if view.decode is None else np.shape(view.decode(codes[:1]))
        if int(np.prod(back)) != int(np.prod(self.look.shape)):
            raise ValueError(f"{view.name} decodes one code to shape {back}; the data have rows of {self.look.shape}.")
        return Shown(view, codes, *view.shown(codes))

    def _matched(self, shown: Shown) -> dict[int, dict[str, float]]:
        """Of each code that stands for one of the first model's: which, and their correlation."""
        first = self.shown[0]
        if shown is first or len(self.rows) < 3:
            return {}
        from unbraid import metrics  # only where models are compared

        pairs = metrics.match(first.codes[:, first.which], shown.codes[:, shown.which])
        return {
            int(shown.which[code]): {"code": int(first.which[factor]), "correlation": round(float(r), 4)}
            for factor, code, r in zip(pairs.factor, pairs.code, pairs.correlation)
        }

    def _in_step(self, shown: Shown, matches: dict[int, dict[str, float]]) -> Shown:
        """Sliders in the order of those that they match in the first model; those without a match come last."""
        if not matches:
            return shown
        first = self.shown[0].which.tolist()
        place = [first.index(matches[code]["code"]) if code in matches else len(first) for code in shown.which.tolist()]
        order = np.argsort(place, kind="stable")
        return replace(shown, which=shown.which[order], reach=shown.reach[order])

    def overview(self) -> dict[str, Any]:
        """What the page needs to start, as JSON takes it."""
        look = self.look
        return {
            "kind": "picture" if look.is_picture else "curve",
            "height": look.shape[0] if look.is_picture else 1,
            "width": look.shape[1] if look.is_picture else int(np.prod(look.shape)),
            "low": look.low,
            "high": look.high,
            "n_examples": len(self.rows),
            "examples": None if self.names is None else self.names.tolist(),
            "runs": [self._run(number) for number in range(len(self.shown))],
        }

    def _run(self, number: int) -> dict[str, Any]:
        shown, summary = self.shown[number], self.shown[number].view.summary
        return {
            "title": title_of_view(shown.view),
            "decodes": shown.view.decode is not None,
            "saved": shown.view.folder is not None,
            "start": _rounded(np.median(shown.codes, axis=0)),
            "sliders": [self._slider(number, i) for i in range(len(shown.which))],
            "points": [_rounded(shown.codes[:, code]) for code in shown.which],
            "projection": [_rounded(axis) for axis in _projection(shown.codes[:, shown.loud]).T],
            "concerns": [sentence(text) for text in summary.concerns],
            "note": summary.note,
            "checked": summary.checked,
            "choices": list(summary.choices),
            "facts": [[fact.name, fact.value, fact.meaning] for fact in summary.facts] + self._loadings(shown),
            "training": _training(shown.view),
        }

    def _loadings(self, shown: Shown) -> list[list[str]]:
        """The columns that change most along each code; pictures show it themselves."""
        if self.look.is_picture:
            return []
        from unbraid.meaning.loadings import fewest_rows, loadings

        codes, view = shown.codes, shown.view
        if len(codes) < fewest_rows(codes.shape[1]):
            return []
        found = loadings(codes, self.rows, kinds=view.summary.kinds, feature_names=view.features)
        meaning = "Features that change most with one standard deviation of the code, with 95 % intervals."
        return [[f"code {code + 1}", found.line(code), meaning] for code in shown.which.tolist()]

    def _slider(self, number: int, i: int) -> dict[str, Any]:
        shown = self.shown[number]
        code = int(shown.which[i])
        values = shown.codes[:, code]
        low, high = float(values.min()), float(values.max())
        kinds = shown.view.summary.kinds
        circle = bool(kinds) and code in columns_of("circle", kinds)
        if circle:
            low, high = -np.pi, np.pi
        elif high <= low:
            low, high = low - 1, high + 1
        reach = shown.reach[i]
        return {
            "code": code,
            "name": shown.view.names[code],
            "low": low,
            "high": high,
            "circle": circle,
            "counts": np.histogram(values, BINS, (low, high))[0].tolist(),
            "reach": None if np.isnan(reach) else float(f"{reach:.3g}"),
            "quiet": code not in shown.loud,
            "match": self.matches[number].get(code),
        }

    def decode(self, number: int, codes: NDArray[np.float64]) -> NDArray:
        """Rows of codes; of a model without a decoder, the nearest example of each."""
        shown = self.shown[number]
        if shown.view.decode is None:
            return self.rows[[self.nearest(number, code, 1)[0] for code in codes]]
        return np.asarray(shown.view.decode(codes)).reshape(len(codes), *self.look.shape)

    def nearest(self, number: int, code: NDArray[np.float64], count: int) -> list[int]:
        """Numbers of the examples with the nearest codes, in standard deviations of the codes that move the data."""
        shown = self.shown[number]
        codes = shown.codes[:, shown.loud]
        spread = codes.std(axis=0)
        away = (codes - code[shown.loud]) / np.where(spread > 0, spread, 1)
        return np.argsort(np.square(away).sum(axis=1), kind="stable")[:count].tolist()

    def encode(self, row: NDArray) -> list[list[float]]:
        """The code of one row (1, ...) by every model."""
        found = [np.asarray(shown.view.encode(row), np.float64) for shown in self.shown]
        for shown, codes in zip(self.shown, found):
            if not np.isfinite(codes).all():
                raise ValueError(f"{shown.view.name} gives no finite code for this observation.")
        return [codes[0].tolist() for codes in found]

    def table(self, number: int) -> str:
        """Codes of the examples as CSV, under the names that they have now; of a saved run, of all its data."""
        shown = self.shown[number]
        codes, folder = shown.codes, shown.view.folder
        if folder is not None and (folder / "codes.npy").is_file():
            codes = np.load(folder / "codes.npy", allow_pickle=False)
        codes = codes.reshape(-1, codes.shape[-1])
        names = [_quoted(shown.view.names[code]) for code in range(codes.shape[1])]
        rows = self._row_names(folder, len(codes))
        if rows is None:
            return "".join(",".join(line) + "\n" for line in (names, *([f"{v:.8g}" for v in row] for row in codes)))
        lines = [["row", *names], *([_quoted(name), *(f"{v:.8g}" for v in row)] for name, row in zip(rows, codes))]
        return "".join(",".join(line) + "\n" for line in lines)

    def _row_names(self, folder: Path | None, count: int) -> Sequence[str] | None:
        """Names of the rows of a table of codes: those of the run, or of the examples."""
        if folder is not None and (folder / "codes.csv").is_file():
            with (folder / "codes.csv").open(newline="", encoding="utf-8") as file:
                names = [row[0] for row in csv.reader(file)][1:]
            return names if len(names) == count else None
        return None if self.names is None or len(self.names) != count else self.names.tolist()

    def gif(self, number: int, code: NDArray[np.float64]) -> bytes:
        """Every slider moved to and fro from a code."""
        from unbraid.report.animation import save_traversal_gif

        shown = self.shown[number]
        order = np.full(shown.codes.shape[1], -np.inf)
        order[shown.which] = -np.arange(len(shown.which))
        with tempfile.TemporaryDirectory() as folder:
            return save_traversal_gif(
                Path(folder) / "traversals.gif",
                lambda codes: self.look.shades(self.decode(number, codes)),
                shown.codes,
                span="quantiles",
                base=code,
                order=order,
                most=len(shown.which),
                names=[shown.view.names[j] for j in range(shown.codes.shape[1])],
            ).read_bytes()


def workspace_of(models: Sequence[Any], X: Any = None) -> Workspace:
    """Models, as :func:`~unbraid.app.view.view_of` takes them, on X or on the examples that the first run keeps."""
    if not models:
        raise ValueError("no model was given; give at least one.")
    views = [view_of(model) for model in models]
    if X is not None:
        rows, names = _some_of(X)
        return Workspace(rows, [_with_columns(view, column_names(X)) for view in views], names=names)
    kept = [None if view.folder is None else read(view.folder) for view in views]
    found = next((examples for examples in kept if examples is not None), None)
    if found is None:
        raise ValueError(
            f"{views[0].name} has no data to show: give X, or --data on the command line. Runs written by "
            "`unbraid fit` keep some of their data."
        )
    shapes = {view.name: examples.rows.shape[1:] for view, examples in zip(views, kept) if examples is not None}
    if len(set(shapes.values())) > 1:
        listed = ", ".join(f"{name}: {shape}" for name, shape in shapes.items())
        raise ValueError(f"the data of these runs have different shapes ({listed}); explore them one by one.")
    views = [_with_columns(view, found.columns) for view in views]
    return Workspace(found.rows, views, found.codes if kept[0] is found else None, found.names)


def _with_columns(view: View, columns: list[str] | None) -> View:
    return view if view.features is not None or columns is None else replace(view, features=columns)


def _some_of(X: Any) -> tuple[NDArray, NDArray | None]:
    """Some rows of X as models see them, and their names if they have some."""
    rows = Rows(X)
    chosen = some_rows(np.broadcast_to(np.float32(0), (len(rows), *rows.row_shape)))
    names = X.names if isinstance(X, Observations) else getattr(X, "row_names", None)
    return rows.clean(rows.take(chosen, np.random.default_rng(0))), None if names is None else names[chosen].astype(str)


def _training(view: View) -> list[dict[str, Any]]:
    """The recorded numbers of a trained model, one panel each."""
    histories = [s.data["history"] for s in view.summary.sections if s.picture == "losses"]
    if not histories:
        return []
    from unbraid.report.training import recorded_series

    return [
        {"name": name.replace("_", " "), "steps": steps, "lines": [_rounded(line) for line in values.T]}
        for history in histories
        for name, steps, values in recorded_series(history)
    ]


def _projection(codes: NDArray[np.float64]) -> NDArray[np.float64]:
    """The two directions in which standardised codes vary most; with one code, it and zeros."""
    spread = codes.std(axis=0)
    standard = (codes - codes.mean(axis=0)) / np.where(spread > 0, spread, 1)
    if codes.shape[1] < 2:
        return np.column_stack([standard[:, 0], np.zeros(len(codes))])
    return standard @ np.linalg.svd(standard, full_matrices=False)[2][:2].T


def _rounded(values: Any) -> list[float | None]:
    """Six figures; JSON has no NaN, so a number that was not recorded is null."""
    return [float(f"{v:.6g}") if np.isfinite(v) else None for v in np.asarray(values, np.float64)]


def _quoted(name: str) -> str:
    """A field of a CSV file, never a formula of a spreadsheet.

    >>> print(_quoted("x, left"), _quoted("=1+1"))
    "x, left" "'=1+1"
    """
    safe = f"'{name}" if name[:1] in "=+-@" else name
    return '"' + safe.replace('"', '""') + '"'
