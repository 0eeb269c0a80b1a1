"""The explorer: a page in the browser on which factors are moved and the data follow."""

from unbraid.app.explorer import Explorer, explore

__all__ = ["Explorer", "explore"]
