"""Configuration: one table of settings, read once at the edge from flags, environment and files (ux 3.6)."""

from holdfast.config.loading import add_env_file, load
from holdfast.config.settings import Settings

__all__ = ["Settings", "add_env_file", "load"]
