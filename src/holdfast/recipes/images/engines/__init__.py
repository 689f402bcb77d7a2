"""The search engines an images job can ask, one module each."""

from holdfast.recipes.images.engines.table import ENGINES, engine

__all__ = ["ENGINES", "engine"]
