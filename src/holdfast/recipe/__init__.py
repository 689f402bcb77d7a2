"""Recipes. Authors need `Recipe, record, skip, target`; the engine asks for what contract.py says."""

from holdfast.recipe.authoring import Here, PageFetch, Recipe
from holdfast.recipe.contract import AnyRecipe, Context, Fetch
from holdfast.recipe.page import Element, Page
from holdfast.recipe.yields import Record, Skip, Target, Yield, record, skip, target

__all__ = [
    "AnyRecipe",
    "Context",
    "Element",
    "Fetch",
    "Here",
    "Page",
    "PageFetch",
    "Recipe",
    "Record",
    "Skip",
    "Target",
    "Yield",
    "record",
    "skip",
    "target",
]
