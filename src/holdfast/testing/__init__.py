"""For tests of recipes and of Holdfast itself: real servers, shipped so that recipe authors can use them too.

Authors need `FakeWeb`, `run_recipe` and `prove`: see docs/write-a-recipe.md.
"""

from holdfast.testing.fake_web import Answer, FakeWeb
from holdfast.testing.recipes import Proof, Worked, prove, run_recipe

__all__ = ["Answer", "FakeWeb", "Proof", "Worked", "prove", "run_recipe"]
