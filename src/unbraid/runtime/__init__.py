"""Threads, compiled kernels, progress, randomness, trackers, optional dependencies."""
