"""One HTML file that holds everything: text, tables, and pictures as base64 PNG; no script, nothing from the net."""

import base64
import io
import os
import re
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from math import isnan
from pathlib import Path
from typing import Any, Self

from unbraid.saving.persistence import written_whole

DPI = 144  # of figures, which are shown at 96 to the inch: sharp on screens of 1.5 times that
SENTENCE = 40  # characters; longer cells get a line of their own on a phone


def static(name: str) -> str:
    """The text of a file that pages carry with them."""
    return (files("unbraid.report") / "static" / name).read_text(encoding="utf-8")


class Report:
    """A page that is put together piece by piece and written as one file. All text is escaped.

    Parameters
    ----------
    title : str
    lead : str
        A sentence below the title.

    Examples
    --------
    >>> page = Report("Two factors").section("Scores").table(["method", "MCC"], [["HLLE+ICA", 0.999]])
    >>> "<td>HLLE+ICA</td>" in page.html()
    True
    >>> "<b>" in Report("<b>").html()
    False
    """

    def __init__(self, title: str, lead: str = ""):
        self.title, self.lead = title, lead
        self._sections: list[list[str]] = []

    def section(self, title: str) -> Self:
        """Start a section; what follows goes into it."""
        self._sections.append([f"<h2>{escape(title)}</h2>"])
        return self

    def heading(self, text: str) -> Self:
        """A heading inside the section."""
        return self._add(f"<h3>{escape(text)}</h3>")

    def text(self, *paragraphs: str) -> Self:
        """Paragraphs."""
        return self._add("".join(f"<p>{escape(p)}</p>" for p in paragraphs))

    def note(self, paragraphs: Iterable[str], kind: str = "") -> Self:
        """A box that stands out; ``kind`` is "", "good", "look" (check this first) or "bad"."""
        _check_kind(kind)
        return self._add(f'<div class="note {kind}">' + "".join(f"<p>{escape(p)}</p>" for p in paragraphs) + "</div>")

    def cards(self, cards: Iterable[tuple[str, str, str, Sequence[str]]]) -> Self:
        """Boxes side by side where there is room: kind (as of notes), a word in colour, a sentence, and small lines."""
        pieces = []
        for kind, word, text, lines in cards:
            _check_kind(kind)
            small = "".join(f"<p>{escape(line)}</p>" for line in lines if line)
            pieces.append(
                f'<div class="card {kind}"><b>{escape(word)}</b><p>{escape(text)}</p><div>{small}</div></div>'
            )
        return self._add(f'<div class="cards">{"".join(pieces)}</div>')

    def code(self, text: str) -> Self:
        """Commands or code, as they stand."""
        return self._add(f'<pre tabindex="0">{escape(text)}</pre>')

    def table(
        self, columns: Sequence[str], rows: Iterable[Sequence[Any]], *, marked: int | None = None, folded: str = ""
    ) -> Self:
        """A table; numbers stand to the right, floats with three decimals, row ``marked`` stands out.

        With ``folded``, only that line is seen until it is clicked.
        """
        body = [list(row) for row in rows]
        kinds = [_kind(column) for column in zip(*body, strict=True)] or [""] * len(columns)
        labels = [f' data-column="{escape(str(name))}"' * ("long" in kinds and j > 0) for j, name in enumerate(columns)]
        aligned = [(f' class="{kind}"' if kind else "") + label for kind, label in zip(kinds, labels, strict=True)]
        head = "".join(f"<th{place}>{escape(str(name))}</th>" for place, name in zip(aligned, columns, strict=True))
        lines = "".join(
            ('<tr class="marked">' if i == marked else "<tr>")
            + "".join(f"<td{place}>{escape(_cell(value))}</td>" for place, value in zip(aligned, row, strict=True))
            + "</tr>"
            for i, row in enumerate(body)
        )
        grid = f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"
        table = f'<div class="scroll" tabindex="0" role="group" aria-label="Table">{grid}</div>'
        return self._add(f"<details><summary>{escape(folded)}</summary>{table}</details>" if folded else table)

    def figure(self, figure: Any, caption: str = "") -> Self:
        """A matplotlib figure with its caption, which is also what a screen reader says."""
        return self._add(_image(figure, caption))

    def figures(self, pairs: Iterable[tuple[Any, str]]) -> Self:
        """Figures of one size side by side: in one row where there is room, below each other on a phone."""
        return self._add('<div class="figures">' + "".join(_image(f, c) for f, c in pairs) + "</div>")

    def html(self) -> str:
        """The page as text."""
        sections = "\n".join(f"<section>{''.join(parts)}</section>" for parts in self._sections)
        lead = f'<p class="lead">{escape(self.lead)}</p>' if self.lead else ""
        from unbraid import __version__

        return (
            '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{escape(self.title)}</title><style>\n{static('page.css')}</style></head>\n"
            f"<body><main><h1>{escape(self.title)}</h1>{lead}\n{sections}\n"
            f"<footer>unbraid {__version__}</footer></main></body></html>\n"
        )

    def write(self, path: str | os.PathLike) -> Path:
        """Write the page, whole or not at all."""
        path = Path(path)
        with written_whole(path) as part:
            part.write_text(self.html(), encoding="utf-8")
        return path

    def _add(self, piece: str) -> Self:
        if not self._sections:
            self._sections.append([])
        self._sections[-1].append(piece)
        return self


def _check_kind(kind: str) -> None:
    if kind not in ("", "good", "look", "bad"):
        raise ValueError(f"kind is {kind!r}; it must be '', 'good', 'look' or 'bad'.")


def _image(figure: Any, caption: str) -> str:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=DPI)
    width = round(96 * figure.get_size_inches()[0])
    data = base64.b64encode(buffer.getvalue()).decode("ascii")
    below = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    return f'<figure><img width="{width}" src="data:image/png;base64,{data}" alt="{escape(caption)}">{below}</figure>'


def sentence(text: str) -> str:
    """A capital letter first and one full stop at the end.

    >>> sentence("few points")
    'Few points.'
    """
    return text[:1].upper() + text[1:].rstrip(".") + "."


def _kind(column: Sequence[Any]) -> str:
    """The class of a column's cells: "number", "long" for sentences, or none."""
    if all(_is_number(value) or _is_figure(value) for value in column):
        return "number"
    return "long" if max(len(str(value)) for value in column) > SENTENCE else ""


def _is_number(value: Any) -> bool:
    return hasattr(value, "__float__") and not isinstance(value, bool | str)


def _is_figure(value: Any) -> bool:
    """Whether a text reads as a number, or is empty."""
    return isinstance(value, str) and re.fullmatch(r"|[+-]?\d*\.?\d+(e[+-]?\d+)?", value) is not None


def _cell(value: Any) -> str:
    if not _is_number(value) or hasattr(value, "__index__"):
        return str(value)
    number = float(value)
    if isnan(number):
        return "–"
    return f"{number:.3f}" if number == 0 or 1e-3 <= abs(number) < 1e4 else f"{number:.3g}"
