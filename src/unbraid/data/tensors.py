"""torch tensors as arrays, recognised without importing torch."""

from typing import Any

import numpy as np


def is_tensor(X: Any) -> bool:
    """Whether X is a torch tensor."""
    return hasattr(type(X), "detach") and hasattr(type(X), "cpu")


def array_of_tensor(X: Any) -> np.ndarray:
    """The numbers of a dense tensor: of a graph, on any device, negated or conjugated only in name.

    What has no numbers (a meta tensor) or no one shape (a nested one), and what is sparse, is refused.
    """
    try:
        X = X.detach().cpu().resolve_conj().resolve_neg()
        return (X.float() if str(X.dtype) == "torch.bfloat16" else X).numpy()  # numpy has no bfloat16
    except (TypeError, RuntimeError, NotImplementedError) as error:
        shape = "" if X.is_nested else f" of shape {tuple(X.shape)}"
        raise TypeError(
            f"X is a torch tensor{shape} ({X.dtype}, {X.layout}, on {X.device}) that is no array of numbers "
            f"({str(error).strip().splitlines()[0].rstrip('.')}). Give a dense tensor in memory, for instance "
            "X.to_dense(), X.float() or torch.stack(parts)."
        ) from error
