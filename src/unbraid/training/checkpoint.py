"""A training run on disk: one safetensors file of tensors, with everything else as JSON in its header."""

import json
from pathlib import Path
from typing import Any

from torch import Tensor

FORMAT = "unbraid autoencoder checkpoint 1"


def write_checkpoint(path: Path, tensors: dict[str, Tensor], state: dict[str, Any]) -> None:
    """Write whole or not at all: an older file at ``path`` survives a full disk and a kill."""
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    try:
        save_file(
            {k: v.detach().cpu().contiguous() for k, v in tensors.items()},
            part,
            metadata={"format": FORMAT, "state": json.dumps(state)},
        )
        part.replace(path)
    except (OSError, SafetensorError) as error:
        part.unlink(missing_ok=True)
        kept = " The earlier checkpoint there is unchanged." if path.exists() else ""
        raise OSError(
            f"the checkpoint {path} could not be written: {error}.{kept} Free some space or choose another "
            "folder, then fit again to go on."
        ) from error
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def read_checkpoint(path: Path, identity: dict[str, Any]) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Tensors and state of a checkpoint of this very model on this very data."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "pt") as file:
            header = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise ValueError(
            f"the checkpoint {path} cannot be read ({error}): it is damaged, cut short, or no checkpoint. It was left "
            "alone; remove it to train from the start, or give another path."
        ) from error
    if header.get("format") != FORMAT:
        raise ValueError(
            f"{path} is not a checkpoint of an unbraid autoencoder (format {header.get('format')!r}). It was left "
            "alone; give another path."
        )
    state = json.loads(header["state"])
    found = state["identity"]
    differ = [k for k in {**found, **identity} if found.get(k) != json.loads(json.dumps(identity.get(k)))]
    if differ:
        changes = "; ".join(f"{k} was {found.get(k)!r} and is {identity.get(k)!r}" for k in differ)
        raise ValueError(
            f"the checkpoint {path} belongs to another run: {changes}. It was left alone; restore these, or give "
            "another checkpoint path to train anew."
        )
    return tensors, state
