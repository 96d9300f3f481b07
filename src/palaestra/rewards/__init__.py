"""Outcomes to values."""
