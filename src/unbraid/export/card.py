"""The model card: what the model is, how it was trained, how far to trust it and how to use it."""

from collections.abc import Sequence
from typing import Any

from unbraid.estimator.summary import Summary
from unbraid.export.graphs import Checked


def model_card(model: Any, summary: Summary, files: Sequence[Checked], evaluation: Any = None, about: str = "") -> str:
    """The text of ``README.md`` in Markdown, with the metadata header that hubs read."""
    from unbraid import __version__

    blocks = [
        "---\nlibrary_name: unbraid\ntags: [disentanglement, representation-learning, onnx]\n---",
        f"# {summary.title}",
        about
        or f"A model that recovers the factors behind data of shape {tuple(model.row_shape_)}: {summary.title}, "
        f"made with unbraid {__version__}.",
        "## Files",
        _table(("file", "takes", "gives", "largest difference from the model"), map(_file_row, files)),
        "`config.json` and the `.safetensors` file are the model itself: `unbraid.load(folder)`.",
        "## Usage",
        _usage(model, files),
        "## Training",
        _table(("parameter", "value"), [(k, f"`{v!r}`") for k, v in sorted(_settings(model).items())]),
        *summary.choices,
        "## How far to trust it",
        _table(("measured", "value", "meaning"), [(f.name, f.value, f.meaning) for f in summary.facts]),
        _trust(summary),
    ]
    if evaluation is not None:
        blocks += ["## Scores", f"```\n{evaluation}\n```"]
    return "\n\n".join(blocks) + "\n"


def _file_row(file: Checked) -> tuple[str, ...]:
    return f"`{file.file}`", file.input, file.output, f"{file.difference:.1e} standard deviations"


def _usage(model: Any, files: Sequence[Checked]) -> str:
    unit = "pictures as floats in [0, 1]" if model.is_picture_ else "rows in the unit of the training data, as float32"
    lines = ["import onnxruntime\n"]
    lines.append('encoder = onnxruntime.InferenceSession("encoder.onnx")')
    lines.append(f'codes = encoder.run(None, {{"rows": rows}})[0]  # {unit}')
    if any(file.file == "decoder.onnx" for file in files):
        lines.append('decoder = onnxruntime.InferenceSession("decoder.onnx")')
        lines.append('rows = decoder.run(None, {"codes": codes})[0]')
    return "\n".join(["```python", *lines, "```"])


def _settings(model: Any) -> dict[str, Any]:
    """Parameters that were set, except paths on the author's machine."""
    private = ("checkpoint", "log", "progress", "encoder", "decoder", "tensorboard", "augment", "teacher")
    return {k: v for k, v in model.get_params(deep=False).items() if k not in private and v is not None}


def _trust(summary: Summary) -> str:
    if summary.concerns:
        return "\n".join(["Concerns:\n", *(f"- {concern}" for concern in summary.concerns)])
    if summary.checked:
        return summary.note or "All checks passed."
    return "No checks were run: evaluate it on data with known factors."


def _table(head: Sequence[str], rows: Any) -> str:
    clean = lambda cell: str(cell).replace("|", "\\|").replace("\n", " ")  # noqa: E731
    lines = ["| " + " | ".join(map(clean, row)) + " |" for row in rows]
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *lines])
