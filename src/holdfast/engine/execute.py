"""Working one target: call the recipe's step with a guarded fetch, and judge what it says into a verdict.

The one catch-all of the product is here; it ends in an outcome. Only our own cancelling passes through.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import msgspec

from holdfast.clock import Clock
from holdfast.engine.fetching import Fetching, StepFetch
from holdfast.engine.stored import NOT_STORED, ReadStored, kept_as_it_was, outcome_of
from holdfast.errors import (
    BadParams,
    Blocked,
    Corrupt,
    Disallowed,
    DiskFull,
    FetchError,
    HoldfastError,
    HostWaits,
    LostLease,
    NotFound,
    RobotsUnreachable,
)
from holdfast.model.codes import CODES
from holdfast.model.keys import canonical
from holdfast.model.outcome import UNCHANGED, Body, BodyRef, Done, Failed, Outcome, Skipped, Verdict
from holdfast.model.target import Claimed
from holdfast.policy.retry import judge
from holdfast.ports import Keeping
from holdfast.recipe import AnyRecipe, Context
from holdfast.recipe.blame import is_theirs

if TYPE_CHECKING:
    from random import Random

MESSAGE_LENGTH_MAX = 500
HANDED_BACK = frozenset(code.name for code in CODES.values() if code.hands_back)


class Finished(msgspec.Struct, frozen=True, gc=False):
    """A target worked to its end, not yet settled. `pauses_job`: the code of a cause that concerns everything, not this
    target; `ran_short`: there is one, and it will pass by itself."""

    claimed: Claimed
    verdict: Verdict
    body: Body | None = None
    files: tuple[Keeping, ...] = ()
    pauses_job: str = ""
    ran_short: bool = False
    kind: str = ""  # why it is, or is not, tried again


class Executor:
    """Works targets of one job; it holds no state of its own between them."""

    def __init__(
        self,
        recipe: AnyRecipe,
        context: Context,
        fetching: Fetching,
        clock: Clock,
        *,
        max_attempts: int,
        random: Random,
        stored: ReadStored | None = None,
    ) -> None:
        self._recipe, self._context, self._fetching, self._clock = recipe, context, fetching, clock
        self._max_attempts, self._random = max_attempts, random
        self._stored = stored  # where the job is run again over stored pages

    @property
    def held_bytes(self) -> int:
        """Of answers, by steps that are not over."""
        return self._fetching.held_bytes

    async def work(self, claimed: Claimed, *, late: bool = False) -> Finished:
        """`late`: the turn that the claim took at its host is over, so another is taken."""
        began_at = self._clock.wall_ms()
        if not claimed.host:
            claimed = self._with_host(claimed)
        if self._stored is not None and claimed.host:
            return await self._again(claimed, self._stored, began_at)
        fetch = StepFetch(self._fetching, claimed, late=late)
        files: tuple[Keeping, ...] = ()
        continues = True
        try:
            outcome = await self._outcome(lambda: self._recipe.step(claimed, fetch, self._context))
            if isinstance(outcome, Done) and outcome.files:
                outcome, files = self._taken(fetch, outcome)
            continues = isinstance(outcome, Failed)
        except (HostWaits, LostLease) as error:
            hold_ms, wait_ms = (error.hold_ms, error.wait_ms) if isinstance(error, HostWaits) else (0, None)
            return handed_back(claimed, self._clock.wall_ms(), error.message[:MESSAGE_LENGTH_MAX], hold_ms, wait_ms)
        except DiskFull as error:
            return self._not_its_fault(claimed, Failed(error.code, error.message))
        except Blocked as error:
            if error.hold_ms:
                because = f"{error.code}: {error.message}"[:MESSAGE_LENGTH_MAX]
                return handed_back(claimed, self._clock.wall_ms(), because, error.hold_ms)
            outcome = Failed(error.code, error.message)
        finally:
            fetch.end()
            if fetch.has_files:
                await fetch.close(continues=continues)
        if isinstance(outcome, Failed) and outcome.code in HANDED_BACK:
            return self._not_its_fault(claimed, outcome)
        elsewhere = fetch.elsewhere or not self._fetching.asks_hosts
        return self._judged(claimed, outcome, began_at, files, elsewhere=elsewhere)

    def _with_host(self, claimed: Claimed) -> Claimed:
        """A target that an archive answers waits for no host; its step is told which one it is of."""
        address = None if self._fetching.asks_hosts else canonical(claimed.url)
        return claimed if address is None else msgspec.structs.replace(claimed, host=address.host)

    async def _again(self, claimed: Claimed, read: ReadStored, began_at: int) -> Finished:
        """The recipe over what is stored. Another attempt would find the same."""
        reference: BodyRef | None = None

        async def once() -> Outcome:
            nonlocal reference
            found = await read(claimed.id)
            reference = found.reference
            return await outcome_of(self._recipe, claimed, self._context, found)

        try:
            outcome = await self._outcome(once)
        except (NotFound, Corrupt) as error:
            outcome = Failed(NOT_STORED, error.message)
        outcome = kept_as_it_was(outcome)
        finished = self._judged(claimed, outcome, began_at, elsewhere=True)
        if outcome.disposition == UNCHANGED:
            return finished
        return msgspec.structs.replace(finished, verdict=msgspec.structs.replace(finished.verdict, body=reference))

    async def _outcome(self, step: Callable[[], Awaitable[Outcome]]) -> Outcome:
        try:
            return await step()
        except Disallowed as error:
            return Skipped("robots", error.message, rule=error.rule)
        except RobotsUnreachable as error:
            return Failed("robots_unreachable", error.message, final=True)
        except FetchError as error:
            return Failed(error.code, error.message, error.status, error.retry_after_s)
        except HoldfastError:
            raise
        except BaseException as error:  # the one catch-all: whatever a step raises is that target's outcome
            if not is_theirs(error):
                raise
            return Failed("recipe_error", f"{type(error).__name__}: {error}"[:MESSAGE_LENGTH_MAX])

    def _not_its_fault(self, claimed: Claimed, outcome: Failed) -> Finished:
        """The cause concerns everything: the target is given back, and the job pauses or the worker rests."""
        because = f"{outcome.code}: {outcome.message}"[:MESSAGE_LENGTH_MAX]
        back = handed_back(claimed, self._clock.wall_ms(), because)
        if CODES[outcome.code].pauses_job:
            return msgspec.structs.replace(back, pauses_job=outcome.code)
        return msgspec.structs.replace(back, ran_short=True)

    def _taken(self, fetch: StepFetch, outcome: Done) -> tuple[Outcome, tuple[Keeping, ...]]:
        """Its files get their names just before the commit that says so."""
        try:
            return outcome, fetch.taken(outcome.files)
        except BadParams as error:
            return Failed("recipe_error", error.message[:MESSAGE_LENGTH_MAX]), ()

    def not_kept(self, finished: Finished, error: BadParams) -> Finished:
        """The same target, one of whose files cannot have its name."""
        verdict = finished.verdict
        outcome = Failed("recipe_error", error.message[:MESSAGE_LENGTH_MAX])
        return self._judged(finished.claimed, outcome, verdict.began_at, elsewhere=verdict.elsewhere)

    def _judged(
        self,
        claimed: Claimed,
        outcome: Outcome,
        began_at: int,
        files: tuple[Keeping, ...] = (),
        *,
        elsewhere: bool,
    ) -> Finished:
        now = self._clock.wall_ms()
        ruling = judge(outcome, attempts=claimed.attempts, max_attempts=self._max_attempts, random=self._random)
        body = outcome.body if isinstance(outcome, Done) else None
        worked = None if isinstance(outcome, Failed) else outcome
        verdict = Verdict(
            target=claimed.id,
            move=ruling.move,
            began_at=began_at,
            ended_at=now,
            disposition=worked.disposition if worked else "",
            code=ruling.code,
            rule=worked.rule if worked else "",
            because=ruling.because[:MESSAGE_LENGTH_MAX],
            wait_ms=ruling.wait_ms,
            elsewhere=elsewhere,
            hold_host_ms=0 if elsewhere else ruling.hold_host_ms,
            status_code=outcome.status_code,
            bytes=(len(body.content) if body else 0) + (sum(each.size for each in files) if files else 0),
            records=worked.records if worked else (),
            found=worked.found if worked else (),
            external=worked.external if worked else (),
        )
        return Finished(claimed, verdict, body, files, kind=ruling.kind or "")


def handed_back(
    claimed: Claimed, now: int, because: str, hold_host_ms: int = 0, wait_ms: int | None = None
) -> Finished:
    """A target given back untouched: its attempt is refunded."""
    verdict = Verdict(
        target=claimed.id,
        move="hand_back",
        began_at=now,
        ended_at=now,
        because=because,
        wait_ms=wait_ms,
        hold_host_ms=hold_host_ms,
    )
    return Finished(claimed, verdict)
