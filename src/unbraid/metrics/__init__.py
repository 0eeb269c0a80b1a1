"""Scores of disentanglement: arrays in, number out."""
