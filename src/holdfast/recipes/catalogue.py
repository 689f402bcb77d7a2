"""The one table of kinds of job, and which recipe works a job: one of these, or somebody's own, where the job says.

Reading the table loads nothing: what a kind is stands in `recipes/<name>/kind.py`, and is loaded when it is asked for.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from holdfast.errors import BadParams, Refused

if TYPE_CHECKING:
    from holdfast.model.job import Job, Phases
    from holdfast.recipe import AnyRecipe
    from holdfast.recipe.kind import Kind
    from holdfast.recipes.custom.recipe import CustomRecipe


class CatalogueEntry(NamedTuple):
    """A kind that comes with Holdfast, and its start command as `holdfast --help` has it."""

    name: str
    command: str
    usage: str
    summary: str
    examples: tuple[str, ...]


ENTRIES: tuple[CatalogueEntry, ...] = (
    CatalogueEntry(
        "site", "crawl", "crawl URL...|NAME", "crawl a site; the same command again goes on where it stopped",
        (
            "holdfast crawl https://docs.example.dev -o docs.jsonl",
            "holdfast crawl https://docs.example.dev --max-depth 3 --exclude '/tags/*' --delay 2s --name docs",
            "holdfast crawl docs",
        ),
    ),
    CatalogueEntry(
        "cases", "cases", "cases RANGE...|NAME", "get every case in a range and name the gaps",
        (
            "holdfast cases IMM-1-25..IMM-5000-25 --url 'https://court.example/{prefix}-{number}-{year}'",
            "holdfast cases 'IMM-*-25' --start 1 --max-cases 500 --url 'https://court.example/case?id={number}&y={year}'",
            "holdfast cases IMM",
        ),
    ),
    CatalogueEntry(
        "images", "images", "images KEYWORD...|NAME", "build a distinct image set from search engines or a list",
        (
            'holdfast images cat "red panda" --per-keyword 500 -o pets/',
            "holdfast images --from urls.csv -o set/",
            "holdfast images cat --per-keyword 1000 --update",
        ),
    ),
    CatalogueEntry(
        "documents", "docs", "docs CSV|URL|NAME", "get the documents a list names",
        (
            "holdfast docs list.csv --columns url=Link,id=Number,title=Title -o files/",
            "holdfast docs https://court.example/judgments.csv --name judgments --delay 2s",
            "holdfast docs judgments --mode new",
        ),
    ),
)  # fmt: skip
NAMES = tuple(entry.name for entry in ENTRIES)


class KnownRecipe(NamedTuple):
    """A recipe of somebody's own, where its code was found, and what it hashed to."""

    recipe: CustomRecipe
    source: str
    digest: str


def is_built_in(name: str) -> bool:
    """Whether a kind, or a recipe, of this name comes with Holdfast. Outside this package nothing else asks."""
    return name in NAMES


@cache
def kind(name: str) -> Kind:
    """The kind of this name; any other name is that of a recipe of somebody's own."""
    found: Kind = import_module(f"holdfast.recipes.{name if is_built_in(name) else 'custom'}.kind").KIND
    if is_built_in(name):
        return found
    from msgspec.structs import replace  # not needed to read the table

    return replace(found, name=name)


def kind_of(job: Job) -> Kind:
    return kind(job.recipe)


def is_one(recipe: str, other: str) -> bool:
    """Whether two names mean one recipe. Outside this package nothing else compares them."""
    return recipe == other


def is_of(job: Job, recipe: str) -> bool:
    """Whether the job is one of this recipe."""
    return is_one(job.recipe, recipe)


def every_kind() -> tuple[Kind, ...]:
    """All that come with Holdfast, and behind them what a recipe of one's own is."""
    return (*map(kind, NAMES), kind(""))


def built_in(name: str) -> AnyRecipe:
    """The recipe of a kind that comes with Holdfast."""
    from holdfast.clock import SystemClock

    make = kind(name).recipe
    if make is None:
        raise BadParams(f"there is no recipe {name!r}; there are: {', '.join(NAMES)}")
    return make(SystemClock())


def load(recipe: str) -> None:
    """Load the code of a recipe that comes with Holdfast, before it is needed. None of somebody's own is run."""
    if is_built_in(recipe):
        built_in(recipe)


def knows(job: Job) -> bool:
    """Whether the job's recipe is there; none of its code is run for that."""
    from holdfast.recipe import registry

    source = job.options.recipe_source
    return is_built_in(job.recipe) or bool(source and registry.is_there(source)) or job.recipe in registry.registered()


def recipe_for(job: Job) -> AnyRecipe:
    return located(job).recipe if kind_of(job).is_own_code else built_in(job.recipe)


def phases_of(job: Job) -> Phases:
    """The phases of a job. A recipe of somebody's own has one; none of its code is run for that."""
    from holdfast.model.job import ONE_PHASE

    return ONE_PHASE if kind_of(job).is_own_code else built_in(job.recipe).phases(job.params)


def names_code(word: str) -> bool:
    """Whether a word names a recipe's code and not a job."""
    from holdfast.recipe import registry

    return registry.is_source(word) or word in registry.registered()


def locate(word: str) -> KnownRecipe:
    """The recipe of a file, a module or an installed package."""
    from holdfast.clock import SystemClock
    from holdfast.recipe import registry
    from holdfast.recipes.custom.recipe import CustomRecipe

    found = registry.locate(word)
    if is_built_in(found.recipe.name):
        raise BadParams(f"{found.recipe.name!r} is the name of a recipe that comes with Holdfast; choose another")
    return KnownRecipe(CustomRecipe(found.recipe, SystemClock()), found.source, found.digest)


def located(job: Job) -> KnownRecipe:
    """The recipe of a job, where it was when the job was last started; else by its name among the installed ones."""
    from holdfast.recipe import registry

    if not kind_of(job).is_own_code:
        raise Refused(f"{job.name} is a job of the recipe {job.recipe!r}, which has a command of its own")
    source = job.options.recipe_source
    if source and registry.is_there(source):
        return locate(source)
    if job.recipe in registry.registered():
        return locate(job.recipe)
    raise missing(job)


def missing(job: Job) -> BadParams:
    """E17: nothing is lost, and the job goes on as soon as its code is there again."""
    place = job.options.recipe_source.rpartition(":")[0]
    where = f"whose code was at {place} and is not there now" if place else "which is unknown here"
    return BadParams(
        f"{job.name} is a job of the recipe {job.recipe!r}, {where}; nothing of the job is lost",
        hint=f"put it back, or name its new place: holdfast run FILE.py --name {job.word}",
    )
