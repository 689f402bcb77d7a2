"""Which recipe works a job: one that comes with Holdfast, or one of somebody's own, found where the job says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.clock import SystemClock
from holdfast.errors import BadParams, Refused
from holdfast.model.job import ONE_PHASE, Job, Phases
from holdfast.recipe import AnyRecipe, registry

if TYPE_CHECKING:
    from holdfast.recipes.custom.recipe import CustomRecipe

BUILT_IN = ("site", "cases")


@dataclass(frozen=True, slots=True)
class KnownRecipe:
    """A recipe of somebody's own, where its code was found, and what it hashed to."""

    recipe: CustomRecipe
    source: str
    digest: str


def built_in(name: str) -> AnyRecipe:
    if name not in BUILT_IN:
        raise BadParams(f"there is no recipe {name!r}; there are: {', '.join(BUILT_IN)}")
    if name == "cases":
        from holdfast.recipes.cases.recipe import CasesRecipe

        return CasesRecipe(SystemClock())
    from holdfast.recipes.site.recipe import SiteRecipe

    return SiteRecipe(SystemClock())


def knows(job: Job) -> bool:
    """Whether the job's recipe is there; none of its code is run for that."""
    source = job.options.recipe_source
    return job.recipe in BUILT_IN or bool(source and registry.is_there(source)) or job.recipe in registry.registered()


def recipe_for(job: Job) -> AnyRecipe:
    return built_in(job.recipe) if job.recipe in BUILT_IN else located(job).recipe


def phases_of(job: Job) -> Phases:
    """The phases of a job. A recipe of somebody's own has one; none of its code is run for that."""
    return built_in(job.recipe).phases(job.params) if job.recipe in BUILT_IN else ONE_PHASE


def names_code(word: str) -> bool:
    """Whether a word names a recipe's code and not a job."""
    return registry.is_source(word) or word in registry.registered()


def locate(word: str) -> KnownRecipe:
    """The recipe of a file, a module or an installed package."""
    from holdfast.recipes.custom.recipe import CustomRecipe

    found = registry.locate(word)
    return KnownRecipe(CustomRecipe(found.recipe, SystemClock()), found.source, found.digest)


def located(job: Job) -> KnownRecipe:
    """The recipe of a job, where it was when the job was last started; else by its name among the installed ones."""
    if job.recipe in BUILT_IN:
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
