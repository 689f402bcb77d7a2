"""The job that a user asks for: the one of this name or identity, or a new one (ux 3.3). Every surface asks here.

What a surface refuses, says, and does with a job that is there, is its `SubmitHooks`'s affair.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import msgspec
from msgspec.structs import replace

from holdfast.control.stopping import pause
from holdfast.engine.patience import repeated
from holdfast.engine.recovery import VERB_TRIES, holder_of
from holdfast.errors import Refused
from holdfast.model.job import Job, JobFilter, JobSpec, Options, check_chunks
from holdfast.model.units import show_duration, show_size
from holdfast.ports import Ledger
from holdfast.recipe import AnyRecipe
from holdfast.recipes.catalogue import is_of, kind, kind_of

OF_EARLIER_RUNS = ("new", "resume")  # modes that only mean something of a job that is there


class JobRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A job as it is asked for. In `given` (params) and `pace` (options) is only what was typed now.

    `configured` are options of the settings, `kept` those that the recipe itself sets, such as where its code lies.
    """

    recipe: AnyRecipe
    given: dict[str, Any]
    pace: Mapping[str, Any]
    configured: Mapping[str, Any]
    name: str | None = None
    named: Job | None = None  # typed instead of what would describe it
    new: bool = False
    mode: str | None = None  # how a job that is there is to be scanned again, where that was asked for
    whole: bool = False  # `given` are all params that the job should have
    kept: Mapping[str, Any] = msgspec.field(default_factory=dict)
    first_urls: tuple[str, ...] | None = None  # checked before a job is made of them; None: as the recipe says
    planned_total: int | None = None  # likewise

    def known(self, ledger: Ledger) -> Job | None:
        """The job that is meant, if it is there: the named one, the one of this name, or of these inputs."""
        if self.named is not None:
            return self.named
        if self.name is not None:
            return next(iter(ledger.jobs(where=JobFilter(name=self.name), limit=1)), None)
        identity = self.identity()
        return next(iter(ledger.jobs(where=JobFilter(identity=identity), limit=1)), None)

    def identity(self) -> str:
        """The same request has the same identity, and so is the same job. One that starts a named job over keeps it."""
        if self.name:
            return f"{self.recipe.name}#{self.name}"
        kept = self.named.identity if self.named else None
        return kept or self.recipe.identity(self.params(self.named))

    def params(self, earlier: Job | None) -> dict[str, Any]:
        before = earlier.params if earlier is not None and not self.whole else {}
        return self.recipe.check({**before, **self.given})

    def options(self, earlier: Job | None) -> Options:
        """What was typed now, over what was typed for this job before, over the configuration of today."""
        before = earlier.options if earlier else Options(own=tuple(sorted(self.pace)))
        usual = {**kind(self.recipe.name).pace, **self.configured}
        follows = {name: value for name, value in usual.items() if name not in before.own}
        changed = msgspec.structs.replace(before, **{**follows, **self.pace, **self.kept})
        if changed == before:
            return before
        return msgspec.structs.replace(changed, own=tuple(sorted({*before.own, *self.pace})))

    def spec(self, params: dict[str, Any], options: Options) -> JobSpec:
        """A new job; one that starts a named job over keeps its name."""
        recipe, earlier = self.recipe, self.named
        return JobSpec(
            recipe=recipe.name,
            name=self.name or (earlier.name if earlier else recipe.default_name(params)),
            identity=self.identity(),
            params=params,
            options=options,
            chunking=recipe.chunking(params),
            chunks=check_chunks(recipe.chunks(params)),
            planned_total=recipe.planned_total(params) if self.planned_total is None else self.planned_total,
        )


def same_inputs(ledger: Ledger, recipe: AnyRecipe, params: dict[str, Any], *, but: int | None = None) -> list[Job]:
    """Jobs of this recipe that began with the same seeds, range or params, whatever they are called."""
    wanted = recipe.identity(params)
    every = ledger.jobs(where=JobFilter(recipe=recipe.name))
    mine = [job for job in every if job.identity is not None and job.id != but]
    return [job for job in mine if recipe.identity(job.params) == wanted]


def second_job(others: list[Job], *, way: str, otherwise: str) -> Refused:
    """Asked to go on from an earlier run, we do not begin a second job of the same inputs in silence."""
    names = " and ".join(job.name for job in others)
    verb = "works" if len(others) == 1 else "work"
    return Refused(
        f"There is no such job yet, and {names} {verb} the same inputs",
        hint=f"did you mean: {way}; to begin a second job, {otherwise}",
    )


class SubmitHooks(Protocol):
    """How one surface answers."""

    def check(self, options: Options, urls: Iterable[str]) -> None:
        """Raise where a job with these options, or these URLs to begin with, must not be."""

    def as_found(self, job: Job, params: dict[str, Any], options: Options) -> Job:
        """A job that is there, asked for with these params and options: refused, amended, or as it is."""

    def told_aside(self, job: Job, aside: Job) -> None:
        """An earlier job was set aside."""

    def told_first(self, others: list[Job], mode: str | None) -> None:
        """A job is begun; `others` work the same inputs under other names."""


def judge(ledger: Ledger | None, asked: JobRequest, hooks: SubmitHooks) -> tuple[Job | None, dict[str, Any], Options]:
    """(the job that is there, the params and options asked for), or what is wrong with them is raised. Writes nothing.

    Without a ledger there are no jobs yet.
    """
    found = None if ledger is None else asked.known(ledger)
    if found is None and ledger is not None and asked.mode in OF_EARLIER_RUNS and not asked.new:
        others = same_inputs(ledger, asked.recipe, asked.params(None))
        if others:
            way = f"holdfast {kind_of(others[0]).command} {others[0].name} --mode {asked.mode}"
            raise second_job(others, way=way, otherwise="leave --mode out")
    if found is not None and not asked.new and not is_of(found, asked.recipe.name):
        raise Refused(f"{found.name} is a job of the recipe {found.recipe!r}, not of {asked.recipe.name!r}")
    earlier = asked.named if asked.new else found  # started over, a job keeps what was not typed anew
    params, options = asked.params(earlier), asked.options(earlier)
    params = kind(asked.recipe.name).settled(ledger, params, None if asked.new else found)
    check_chunks(asked.recipe.chunks(params))
    begins = params if earlier is None or asked.new else earlier.params
    hooks.check(options, asked.recipe.first_urls(begins) if asked.first_urls is None else asked.first_urls)
    return found, params, options


def find_or_submit(ledger: Ledger, asked: JobRequest, hooks: SubmitHooks, *, actor: str) -> Job:
    """The same request later finds the same job."""
    found, params, options = judge(ledger, asked, hooks)
    if found is not None and not asked.new:
        return hooks.as_found(found, params, options)
    if found is not None:
        aside, is_ours = _set_aside(ledger, found, actor)
        if is_ours:  # else another command starts it over at this moment, and has the new job
            hooks.told_aside(found, aside)
    else:
        hooks.told_first(same_inputs(ledger, asked.recipe, params), asked.mode)
    return _submitted_in_the_open(ledger, asked.spec(params, options), actor)


def _set_aside(ledger: Ledger, job: Job, actor: str) -> tuple[Job, bool]:
    """Keep the earlier job under another name; one that stands still half-way is paused, so that it stays so."""
    owner = holder_of(ledger, job)
    if owner is not None:
        raise Refused(
            f"{job.name} is being worked by {owner}; it cannot be started over now. "
            f"Allowed: holdfast pause {job.word}, holdfast cancel {job.word}."
        )
    if job.status == "in_progress":
        pause(ledger, job, actor=actor)
    return ledger.set_aside(job)


def _submitted_in_the_open(ledger: Ledger, spec: JobSpec, actor: str) -> Job:
    """Ignoring robots.txt is an event in the job's history, so it is asked for by itself, after the job exists."""
    if not spec.options.ignore_robots:
        return submit(ledger, spec)
    job = submit(ledger, replace(spec, options=msgspec.structs.replace(spec.options, ignore_robots=False)))
    because = ", ".join(changes_of(job.options, spec.options))
    return ledger.amend(job, options=spec.options, actor=actor, because=because)


_LABELS = {"delay_ms": "delay", "timeout_s": "timeout", "max_pages": "max pages", "time_limit_s": "time limit"}
UNSAID = ("own", "recipe_source", "recipe_sha256")


def changes_of(before: Options, after: Options) -> list[str]:
    """`delay 500ms -> 2s`, one text per changed value; headers by name only."""
    names = [name for name in before.__struct_fields__ if name not in UNSAID]
    fields = [name for name in names if getattr(before, name) != getattr(after, name)]
    return [f"{_LABELS.get(name, name)} {_shown(name, before)} -> {_shown(name, after)}" for name in fields]


def _shown(name: str, options: Options) -> str:
    value = getattr(options, name)
    if value is None:
        return "none"
    if name == "delay_ms":
        return show_duration(value / 1000)
    if name in ("timeout_s", "time_limit_s"):
        return show_duration(value)
    if name == "max_bytes":
        return show_size(value)
    if name == "headers":
        return ", ".join(header for header, _ in value) or "none"
    if isinstance(value, (tuple, dict)):
        return ", ".join(value) or "none"
    return str(value) or "default"


def submit(ledger: Ledger, spec: JobSpec) -> Job:
    """Accept a job, or find the one with this identity; repeated where the answer was lost."""
    return repeated(lambda: ledger.submit(spec), tries=VERB_TRIES)[0]
