"""The job that a call means: the one of this name or identity, its pace amended, or a new one (ux 3.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from holdfast import wiring
from holdfast.config import Settings
from holdfast.config.headers import check_secrets
from holdfast.engine.control import holder_of, pause, submit
from holdfast.errors import BadParams, Refused
from holdfast.model.job import Job, JobSpec, Options
from holdfast.ports import Ledger
from holdfast.recipe import AnyRecipe

ACTOR = "api"


@dataclass(frozen=True, slots=True)
class Asked:
    """What a call asks for: only params that were given count. `kept` are options that the recipe itself sets."""

    recipe: AnyRecipe
    given: dict[str, Any]
    pace: Mapping[str, Any]
    name: str | None = None
    new: bool = False
    first_urls: tuple[str, ...] = ()
    kept: Mapping[str, Any] = field(default_factory=dict)
    planned_total: int | None = None


def find_or_submit(settings: Settings, ledger: Ledger, asked: Asked) -> Job:
    """The same call later is the same job."""
    found = _known(ledger, asked)
    if found is not None and not asked.new:
        return _as_asked(settings, ledger, asked, found)
    spec = _spec(settings, asked)
    _check(spec.options, asked)
    if found is not None:
        _set_aside(ledger, found)
    return submit(ledger, spec)


def _known(ledger: Ledger, asked: Asked) -> Job | None:
    if asked.name is not None:
        return next((job for job in ledger.jobs() if job.name == asked.name), None)
    identity = asked.recipe.identity(asked.recipe.check(asked.given))
    return next((job for job in ledger.jobs() if job.identity == identity), None)


def _as_asked(settings: Settings, ledger: Ledger, asked: Asked, job: Job) -> Job:
    """An earlier job: refused where its inputs would change, amended where its pace or its code does."""
    if job.recipe != asked.recipe.name:
        raise Refused(f"{job.name} is a job of the recipe {job.recipe!r}, not of {asked.recipe.name!r}")
    params = asked.recipe.check({**job.params, **asked.given})
    differ = [name for name in {**job.params, **params} if not _same(job.params, params, name)]
    if differ:
        lines = [f"  {name}: {job.params.get(name)}, now {params.get(name)}" for name in differ]
        raise Refused(
            "\n".join([f"{job.name} has other inputs:", *lines]),
            hint=f"client.job({job.name!r}) is the job as it is; new=True starts over; name=… makes another job",
        )
    options = _paced(settings, job.options, asked)
    _check(options, asked)
    if options == job.options or job.status in ("completed", "cancelled"):
        return job
    return ledger.amend(job, options=options, actor=ACTOR, because="changed by a call")


def _same(before: Mapping[str, Any], after: Mapping[str, Any], name: str) -> bool:
    """Seeds in another order are the same seeds."""
    if name == "seeds":
        return sorted(before.get(name, ())) == sorted(after.get(name, ()))
    return bool(before.get(name) == after.get(name))


def _paced(settings: Settings, options: Options, asked: Asked) -> Options:
    """What is given now, over what was given for this job before, over the configuration of today."""
    follows = {name: value for name, value in settings.pace.items() if name not in options.own}
    own = tuple(sorted({*options.own, *asked.pace}))
    return msgspec.structs.replace(options, **{**follows, **asked.pace, **asked.kept, "own": own})


def _spec(settings: Settings, asked: Asked) -> JobSpec:
    recipe, params = asked.recipe, asked.recipe.check(asked.given)
    return JobSpec(
        recipe=recipe.name,
        name=asked.name or recipe.default_name(params),
        identity=f"{recipe.name}#{asked.name}" if asked.name else recipe.identity(params),
        params=params,
        options=_paced(settings, Options(), asked),
        chunking=recipe.chunking(params),
        planned_total=asked.planned_total,
    )


def _check(options: Options, asked: Asked) -> None:
    for url in asked.first_urls:
        sentence = wiring.refuse_private_seed(options, url)
        if sentence is not None:
            raise BadParams(sentence.replace("--allow-private", "allow_private=True"))
    check_secrets(options)


def _set_aside(ledger: Ledger, job: Job) -> None:
    owner = holder_of(ledger, job)
    if owner is not None:
        raise Refused(f"{job.name} is being worked by {owner}; it cannot be started over now")
    if job.status == "in_progress":
        pause(ledger, job, actor=ACTOR)
    ledger.set_aside(job.id)
