"""Holdfast: crawls that never lose their place."""

__version__ = "0.1.0"
