"""Factor grids and manifolds, drawn or loaded."""
