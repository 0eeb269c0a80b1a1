"""GEOMANCER: symmetry-based disentanglement."""
