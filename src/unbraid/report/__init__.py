"""Plots, and the HTML report made of them."""
