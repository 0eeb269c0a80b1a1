"""The explorer: a page in the browser on which factors are moved and the data follow."""

from typing import Any

__all__ = ["Explorer", "explore"]


def __getattr__(name: str) -> Any:
    """The explorer loads on first use: a fit only writes what its page will show."""
    if name in __all__:
        from unbraid.app import explorer

        return getattr(explorer, name)
    raise AttributeError(f"unbraid.app has no {name!r}; it has: {', '.join(__all__)}")
