"""Encoders by name: an untrained baseline, EfficientNet-Lite, and the models of timm and open_clip."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from unbraid.datasets.registry import PACKAGES
from unbraid.datasets.storage import data_folder
from unbraid.networks import efficientnet
from unbraid.networks.autoencoder import initialise, paper_dense_encoder, paper_encoder
from unbraid.probing.encoders import Encoder, digest
from unbraid.probing.graphs import from_module
from unbraid.probing.preparation import Preparation
from unbraid.runtime.extras import require

UNTRAINED_CODES = 10


def _untrained(what: str, prepare: Preparation | None, name: str) -> Encoder:
    """The encoder of the large study with weights that were never trained: a baseline for trained ones."""
    if what:
        raise ValueError(f"untrained takes no argument; received untrained:{what}.")
    kept: dict[tuple[int, ...], nn.Module] = {}
    prepare = prepare or Preparation()

    def encode(rows: np.ndarray) -> np.ndarray:
        x = prepare(rows)
        shape = tuple(x.shape[1:])
        if shape not in kept:
            convolves = len(shape) == 3 and shape[1] % 16 == 0 and shape[2] % 16 == 0
            network = (paper_encoder if convolves else paper_dense_encoder)(shape, UNTRAINED_CODES)
            initialise(network, "torch", torch.Generator().manual_seed(0))
            kept[shape] = network.eval()
        with torch.no_grad():
            return kept[shape](x).numpy()

    return Encoder(name or "untrained", encode, 0, digest(b"untrained", repr(prepare).encode()))


def _efficientnet(what: str, prepare: Preparation | None, name: str, *, variant: int) -> Encoder:
    """With the weights of a .pth file, or with those that ``unbraid datasets get`` put into the data folder."""
    title = f"efficientnet-lite{variant}"
    path = Path(what) if what else PACKAGES[title].paths(data_folder())[0]
    if not path.is_file():
        raise FileNotFoundError(
            f"the weights of {title} are not in {path}. Fetch them with `unbraid datasets get {title}`, or give their "
            f"file, {title}:FILE.pth."
        )
    network = efficientnet.EfficientNetLite.from_state(torch.load(path, map_location="cpu", weights_only=True), variant)
    known = Preparation(3, efficientnet.SIZES[variant], efficientnet.MEAN, efficientnet.STD)
    network._fc = nn.Identity()  # type: ignore[assignment]  # the classifier is not part of the encoder
    return from_module(network, prepare or known, name or f"EfficientNet-Lite{variant}")


def _timm(what: str, prepare: Preparation | None, name: str) -> Encoder:
    """A model of timm without its classifier, with the image size and scale of its training."""
    timm = require("timm", "encoders")
    model = _from_cache(lambda: timm.create_model(what, pretrained=True, num_classes=0), f"timm's {what}")
    known = timm.data.resolve_model_data_config(model)
    channels, height, width = known["input_size"]
    known_preparation = Preparation(channels, (height, width), tuple(known["mean"]), tuple(known["std"]))
    return from_module(model, prepare or known_preparation, name or what)


def _open_clip(what: str, prepare: Preparation | None, name: str) -> Encoder:
    """The image encoder of an open_clip model, ``MODEL/WEIGHTS`` as its ``list_pretrained`` names them."""
    model_name, slash, weights = what.partition("/")
    if not slash or not weights:
        raise ValueError(
            f"open_clip:{what} does not name weights. Write open_clip:MODEL/WEIGHTS, such as ViT-B-32/openai."
        )
    library = require("open_clip", "encoders")
    source = f"open_clip's {model_name} with {weights}"
    tower = _from_cache(lambda: library.create_model(model_name, pretrained=weights), source).visual
    size = tower.image_size if isinstance(tower.image_size, int) else tuple(tower.image_size)
    known = Preparation(3, size, tuple(tower.image_mean), tuple(tower.image_std))
    return from_module(tower, prepare or known, name or f"CLIP {what}")


def _from_cache(load: Callable[[], Any], what: str) -> Any:
    """Load a model; explain what to do if its weights are not cached and cannot be downloaded."""
    try:
        return load()
    except OSError as error:
        raise OSError(
            f"the weights of {what} are not in the cache and could not be downloaded ({error}). Download them once "
            "with a network connection, or give an exported file (.onnx, .pt2)."
        ) from error


NAMES: dict[str, Callable[[str, Preparation | None, str], Encoder]] = {
    "untrained": _untrained,
    **{f"efficientnet-lite{variant}": partial(_efficientnet, variant=variant) for variant in efficientnet.VARIANTS},
    "timm": _timm,
    "open_clip": _open_clip,
}
