"""Experiments of the papers, each beside its published numbers."""
