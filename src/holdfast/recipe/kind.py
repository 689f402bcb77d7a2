"""What the rest of the program needs to know of a kind of job: its words, its params, its results. One value per kind.

How targets are planned and worked is the affair of the recipe (contract.py); a `Kind` says how jobs of that recipe are
started, shown and taken away. The defaults are those of a recipe of somebody's own. A module that makes a `Kind` loads
no code of its recipe: every command reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from holdfast.model.option import PACE, PARAM, Option
from holdfast.recipe.results import record_object

if TYPE_CHECKING:
    from pathlib import Path

    from holdfast.clock import Clock
    from holdfast.model.job import Counts, Job
    from holdfast.model.target import PageRow, TargetRow
    from holdfast.ports import Ledger, Views
    from holdfast.recipe.contract import AnyRecipe

Conditions = tuple[tuple[str, bool, tuple[str, ...]], ...]  # as policy/filters.py has them
OWN_RECIPE = "run"  # the command that starts every recipe that has none of its own
SHARED_KEYS = ("max_pages", "processes")


class Preset(msgspec.Struct, frozen=True):
    """What one word stands for: params and pace, as if they had been typed."""

    params: Mapping[str, Any]
    pace: Mapping[str, Any]
    meaning: str


def _as_given(inputs: Sequence[str], options: Mapping[str, Any]) -> dict[str, Any]:
    return dict(options)


def _as_they_are(ledger: Ledger | None, params: dict[str, Any], earlier: Job | None) -> dict[str, Any]:
    """What of the params the ledger has to say: a kind may fix it when a job is made, and keep that of `earlier`."""
    return params


def _no_names(params: Mapping[str, Any], url: str) -> Iterable[str]:
    return ()


def _no_others(ledger: Views, job: Job, row: TargetRow) -> list[TargetRow]:
    return []


def _nothing(ledger: Ledger, job: Job, counts: Counts) -> list[str]:
    return []


def _shown(value: Any) -> str:
    """Of a param, for people: nothing has a word."""
    return "none" if value is None or value in ("", [], {}) else str(value)


class Report(msgspec.Struct, frozen=True):
    """A kind's own report: as a document, and as Markdown for people."""

    document: dict[str, Any]
    markdown: str


class Kind(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of job."""

    name: str  # as a job's `recipe` has it
    recipe: Callable[[Clock], AnyRecipe] | None = None  # None: somebody's own code, found where the job says
    command: str = OWN_RECIPE  # that starts such a job
    noun: str = "record"  # what one result is; two are called so with an `s`

    # What is given
    inputs: str = ""  # the param that says what a job begins with: seeds, ranges, keywords; their order does not matter
    input_keys: tuple[Option, ...] = ()  # keys of a job file that stand for it
    options: tuple[Option, ...] = ()  # of its own, besides those of config/options.py
    shared_keys: tuple[str, ...] = SHARED_KEYS  # of those that some kinds have, besides those of all kinds
    sourced: str = ""  # the option that may name a configured source (`sources.NAME`) instead
    asks_engines: bool = False  # its param `origins` has where search engines are found (`engines.NAME`)
    given: Callable[[Sequence[str], Mapping[str, Any]], dict[str, Any]] = _as_given  # inputs and options -> params
    settled: Callable[[Ledger | None, dict[str, Any], Job | None], dict[str, Any]] = _as_they_are  # before submission
    scope: tuple[str, ...] = ()  # params that --update may change
    fixed: tuple[str, ...] = ()  # params that make it another job, besides its inputs
    scope_of: Callable[[dict[str, Any]], dict[str, Any]] = dict  # what is compared of the params
    told: Mapping[str, Callable[[Any, Any], str]] = msgspec.field(
        default_factory=dict
    )  # how a param that may not change differs, where its two values say nothing to people
    foretold: Callable[[dict[str, Any]], list[str]] = lambda params: []  # of a plan, in place of its first targets
    whole: Callable[[dict[str, Any]], dict[str, Any]] = dict  # params as they are kept when the scope changes
    grows: Callable[[Mapping[str, Any], dict[str, Any]], dict[str, Any]] | None = None  # what a change adds to params
    has_list: bool = False  # a list is looked at before the job is worked: control/documents.py
    presets: Mapping[str, Preset] = msgspec.field(default_factory=dict)
    follows_links: bool = False  # targets are found by links, which a page may ask not to be followed
    modes: tuple[str, ...] = ("full",)  # ways to scan a completed job again; `new`: it can tell what is new or changed
    again: tuple[
        tuple[str, bool, tuple[str, ...]], ...
    ] = ()  # of a completed job: what a scan fetches again; none: all
    newly: Callable[[Ledger, Job, Path, int], Conditions] | None = (
        None  # likewise in mode `new`, by what the rows and the artifacts folder say now
    )
    pace: Mapping[str, Any] = msgspec.field(
        default_factory=dict
    )  # defaults of its own, by the fields of a job's options
    keeps_cookies: bool = True  # also if the user did not ask for it
    claims_ahead: int = 2  # targets that a worker claims for each of its fetches, where no delay is kept

    # How targets are named and listed
    names_targets: bool = True  # else a URL is all that a target is known by
    home: Callable[[Mapping[str, Any]], str | None] = lambda params: None  # a path is taken there; None: first target
    place: Callable[[str], tuple[Any, ...]] | None = None  # of a target by its name, where planned order is not by id
    breakdowns: Mapping[str, str] = msgspec.field(
        default_factory=dict
    )  # its own words for groups: {"keyword": "chunk"}
    views: str = ""  # the package of views that has its documents and breakdowns; empty: those of all kinds
    # Results that are targets of their own: those that a target or a URL has brought; None: a target is its own result.
    kept_of: Callable[[Ledger, Job, TargetRow | None, Sequence[str]], list[int]] | None = None
    short_of: str = ""  # the failure code of a target that is worked again whenever more results are wanted
    others_of: Callable[[Views, Job, TargetRow], list[TargetRow]] = _no_others  # targets of the same thing
    also_named: Callable[[Mapping[str, Any], str], Iterable[str]] = _no_names  # targets that a URL may be known as

    # Results
    result: Callable[[PageRow], dict[str, Any]] = record_object  # the object that is exported, but for its text
    columns: tuple[str, ...] | None = None  # its fields in their order; None: as the records have them
    on_request: Mapping[str, Callable[[PageRow], Any]] = msgspec.field(
        default_factory=dict
    )  # fields that come only where they are named, besides `columns`
    forms: Mapping[str, str] = msgspec.field(
        default_factory=dict
    )  # that it writes in its own way: name -> module of exports
    exported: str = ""  # the kind of record that is a result; others are made of them; empty: every one
    has_reports: bool = False
    streams: tuple[str, ...] = ("jsonl",)  # forms that can be written while results come
    notes: Callable[[Ledger, Job, Counts], list[str]] = _nothing  # lines of the summary
    needs: Callable[[Ledger, Job], int] | None = None  # bytes that what is still to come may take, where it may be much
    audit: Callable[[Ledger, Job, Path], Iterator[tuple[str, Iterator[bytes]]]] | None = None  # files: name, lines
    report: Callable[[Ledger, Job, Path], Report] | None = None  # of its own, from rows and the artifacts folder

    @property
    def goes_on(self) -> bool:
        """Whether a completed job goes on where more is wanted of it, without a scan of what it has."""
        return self.grows is not None

    @property
    def is_own_code(self) -> bool:
        """Whether its recipe was written by somebody else, and may have moved or changed."""
        return self.recipe is None

    @property
    def own_params(self) -> tuple[Option, ...]:
        """Its options that are params of its recipe."""
        return tuple(row for row in self.options if row.part == PARAM)

    @property
    def own_pace(self) -> tuple[Option, ...]:
        """Its options that are kept beside the params, as those of all kinds are."""
        return tuple(row for row in self.options if row.part == PACE)

    def scanned(self, ledger: Ledger, job: Job, mode: str, artifacts: Path, now_ms: int) -> Conditions:
        """Which targets of a completed job a scan in that mode fetches again; none: all of them."""
        return self.newly(ledger, job, artifacts, now_ms) if mode == "new" and self.newly is not None else self.again

    def same(self, name: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
        """Whether a param says the same in both."""
        one, other = before.get(name), after.get(name)
        if name == self.inputs and isinstance(one, list) and isinstance(other, list):
            return sorted(one) == sorted(other)
        return bool(one == other)

    def differing(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
        """The params that differ between the stored job and the submitted one."""
        return [name for name in {**before, **after} if not self.same(name, before, after)]

    def change(self, name: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
        """How a param differs, for people."""
        told = self.told.get(name)
        if told is not None:
            return told(before.get(name), after.get(name))
        return f"{name}: {_shown(before.get(name))}, now {_shown(after.get(name))}"

    def grown(self, before: Mapping[str, Any], after: dict[str, Any]) -> dict[str, Any]:
        """The params after a change: inputs that were there keep their order, and others stand behind them."""
        after = after if self.grows is None else self.grows(before, after)
        one, other = before.get(self.inputs), after.get(self.inputs)
        if self.inputs not in self.scope or not isinstance(one, list) or not isinstance(other, list):
            return after
        return {**after, self.inputs: [*(each for each in one if each in other), *(x for x in other if x not in one)]}
