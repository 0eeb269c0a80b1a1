"""Runs on disk: whole or not at all, no pickle."""
