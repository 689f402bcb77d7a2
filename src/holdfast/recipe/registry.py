"""Where recipes are found: a Python file, a module, or an entry point of the group `holdfast.recipes`.

A job keeps where its recipe was found and what its file hashed to, so that a resume finds it again and can say when it
has changed.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from difflib import get_close_matches
from functools import cache
from hashlib import sha256
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import msgspec

from holdfast.errors import BadParams
from holdfast.recipe.authoring import Recipe
from holdfast.recipe.blame import RAISED, sentence

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "holdfast.recipes"


class Located(msgspec.Struct, frozen=True):
    """A recipe, where it was found, and what the file it stands in hashed to."""

    recipe: Recipe
    source: str  # "/path/forum.py:forum" or "package.module:forum"
    digest: str


def registered() -> dict[str, EntryPoint]:
    """The recipes that installed packages offer, by name."""
    from importlib.metadata import entry_points  # loads forty modules, and few commands come here

    return {point.name: point for point in entry_points(group=GROUP)}


def is_source(word: str) -> bool:
    """Whether a word could name a recipe's code: `forum.py`, `forum.py:forum`, `package.module:forum`."""
    place, _, name = word.rpartition(":")
    return word.endswith(".py") or place.endswith(".py") or (bool(place) and name.isidentifier() and "/" not in word)


def locate(word: str) -> Located:
    """The recipe that a word names; BadParams says why there is none."""
    if word in (points := registered()):
        return _from_module(points[word].value)
    if not is_source(word):
        near = get_close_matches(word, points, n=1)
        guess = f"; did you mean {near[0]}?" if near else ""
        raise BadParams(f"there is no recipe {word!r}{guess}", hint="holdfast run FILE.py, or MODULE:RECIPE")
    place, _, name = word.rpartition(":") if not word.endswith(".py") else (word, "", "")
    return _from_file(Path(place), name) if place.endswith(".py") else _from_module(word)


def is_there(source: str) -> bool:
    """Whether a job's recipe can still be found, without running any of it: not even the package around its module."""
    place, _, _ = source.rpartition(":")
    if place.endswith(".py"):
        return Path(place).is_file()
    top, *below = place.split(".")
    try:
        spec = importlib.util.find_spec(top)
        for depth, _ in enumerate(below, 1):
            folders = None if spec is None else spec.submodule_search_locations
            spec = None if folders is None else PathFinder.find_spec(".".join([top, *below[:depth]]), folders)
    except (ImportError, ValueError):
        return False
    return spec is not None


def _from_file(path: Path, name: str) -> Located:
    try:
        path = path.resolve()
        code = path.read_bytes()
    except OSError as error:
        raise BadParams(f"the recipe {path} cannot be read: {error.strerror}") from error
    module = _loaded(path, sha256(code).hexdigest())
    recipe = _the_recipe(module, name, str(path.name))
    return Located(recipe, f"{path}:{_name_in(module, recipe)}", sha256(code).hexdigest())


@cache
def _loaded(path: Path, digest: str) -> ModuleType:
    """The file run once. Its folder can be imported from, as where Python runs a script."""
    spec = importlib.util.spec_from_file_location(f"holdfast_recipe_{path.stem}_{digest[:8]}", path)
    if spec is None or spec.loader is None:
        raise BadParams(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    try:
        spec.loader.exec_module(module)
    except RAISED as error:
        del sys.modules[spec.name]
        raise BadParams(f"{path.name} cannot be loaded: {sentence(error)}") from error
    return module


def _from_module(word: str) -> Located:
    place, _, name = word.partition(":")
    try:
        module = importlib.import_module(place)
    except RAISED as error:
        raise BadParams(f"the module {place} cannot be loaded: {sentence(error)}") from error
    recipe = _the_recipe(module, name, place)
    file = getattr(module, "__file__", None)
    digest = sha256(Path(file).read_bytes()).hexdigest() if file and Path(file).is_file() else ""
    return Located(recipe, f"{place}:{_name_in(module, recipe)}", digest)


def _the_recipe(module: ModuleType, name: str, where: str) -> Recipe:
    """The recipe of that name, or the only one."""
    there = {key: value for key, value in vars(module).items() if isinstance(value, Recipe)}
    if name:
        found = [value for key, value in there.items() if name in (key, value.name)]
    else:
        found = list({id(value): value for value in there.values()}.values())
    if len(found) == 1 or (name and found):
        return found[0]
    names = ", ".join(there) or "none"
    if name:
        raise BadParams(f"{where} has no recipe {name!r}; there are: {names}")
    if found:
        raise BadParams(f"{where} has several recipes: {names}", hint=f"{where}:{next(iter(there))}")
    raise BadParams(f"{where} has no recipe", hint='forum = Recipe("forum")')


def _name_in(module: ModuleType, recipe: Recipe) -> str:
    return next(key for key, value in vars(module).items() if value is recipe)
