"""A training run on disk: one safetensors file of tensors, with everything else as JSON in its header."""

import json
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

FORMAT = "unbraid checkpoint 2"


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
            "folder, then fit again to resume."
        ) from error
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def read_checkpoint(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Tensors and state of a checkpoint."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "pt") as file:
            header = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise ValueError(
            f"the checkpoint {path} cannot be read ({error}): it is damaged, truncated, or not a checkpoint. The "
            "file was not changed; delete it to train from the start, or give another path."
        ) from error
    if header.get("format") != FORMAT:
        raise ValueError(
            f"{path} is not an unbraid checkpoint (format {header.get('format')!r}). The file was not changed; give "
            "another path."
        )
    return tensors, json.loads(header["state"])


def check_identity(path: Path, found: dict[str, Any], identity: dict[str, Any]) -> None:
    """Refuse a checkpoint of another model, other parameters, another seed or other data, and list what differs."""
    differ = [k for k in {**found, **identity} if found.get(k) != identity.get(k)]
    if differ:
        changes = "; ".join(f"{k} was {found.get(k)!r} and is {identity.get(k)!r}" for k in differ)
        raise ValueError(
            f"the checkpoint {path} belongs to another run: {changes}. It was not changed; use the same settings "
            "and data to resume it, or give another checkpoint path to start a new run."
        )


def adam_state(optimizer: torch.optim.Optimizer, name: str) -> dict[str, Tensor]:
    """Adam's moments and counts as named tensors."""
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    return {f"adam.{name}.{i}.{k}": v for i, p in enumerate(parameters) for k, v in optimizer.state[p].items()}


def set_adam_state(optimizer: torch.optim.Optimizer, name: str, tensors: dict[str, Tensor]) -> None:
    """Restore what :func:`adam_state` returned, each moment in the memory layout of its parameter."""
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    for i, p in enumerate(parameters):
        start = f"adam.{name}.{i}."
        optimizer.state[p] = {
            k[len(start) :]: torch.empty_like(p).copy_(v) if v.ndim else v.to(p.device)
            for k, v in tensors.items()
            if k.startswith(start)
        }
