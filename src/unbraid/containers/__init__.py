"""Data in the containers of other tools: AnnData, xarray, and recordings over time."""
