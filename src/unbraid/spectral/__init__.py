"""HLLE+ICA and its relatives."""
