"""Recipes. Authors need `Recipe, file, record, skip, target`; the engine asks for what contract.py says."""

from holdfast.recipe.authoring import Here, PageFetch, Recipe
from holdfast.recipe.contract import AnyRecipe, Context, Fetch
from holdfast.recipe.page import Element, Page
from holdfast.recipe.yields import Skip, Target, Yield, file, record, skip, target
from holdfast.recipe.yields import YieldedRecord as Record

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
    "file",
    "record",
    "skip",
    "target",
]
