"""Estimate, size and budget ML training runs before they are submitted."""

__version__ = "0.1.0"
