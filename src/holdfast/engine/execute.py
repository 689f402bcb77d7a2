"""Working one target: call the recipe's step with a guarded fetch, and judge what it says into a verdict.

The one catch-all of the product is here; it ends in an outcome. Only our own cancelling passes through.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from holdfast.clock import Clock
from holdfast.engine.fetching import Fetching, StepFetch
from holdfast.errors import Blocked, Disallowed, FetchError, HoldfastError, HostWaits, LostLease, RobotsUnreachable
from holdfast.model.codes import CODES
from holdfast.model.outcome import Body, Done, Failed, Outcome, Skipped, Verdict
from holdfast.model.target import Claimed
from holdfast.policy.retry import judge
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
    ) -> None:
        self._recipe, self._context, self._fetching, self._clock = recipe, context, fetching, clock
        self._max_attempts, self._random = max_attempts, random

    @property
    def held_bytes(self) -> int:
        """Of answers, by steps that are not over."""
        return self._fetching.held_bytes

    async def work(self, claimed: Claimed, *, late: bool = False) -> Finished:
        """`late`: the turn that the claim took at its host is over, so another is taken."""
        began_at = self._clock.wall_ms()
        fetch = StepFetch(self._fetching, claimed, late=late)
        try:
            outcome = await self._outcome(claimed, fetch)
        except (HostWaits, LostLease) as error:
            hold_ms, wait_ms = (error.hold_ms, error.wait_ms) if isinstance(error, HostWaits) else (0, None)
            return handed_back(claimed, self._clock.wall_ms(), error.message[:MESSAGE_LENGTH_MAX], hold_ms, wait_ms)
        except Blocked as error:
            if error.hold_ms:
                because = f"{error.code}: {error.message}"[:MESSAGE_LENGTH_MAX]
                return handed_back(claimed, self._clock.wall_ms(), because, error.hold_ms)
            outcome = Failed(error.code, error.message)
        finally:
            fetch.end()
        if isinstance(outcome, Failed) and outcome.code in HANDED_BACK:
            return self._not_its_fault(claimed, outcome)
        return self._judged(claimed, outcome, began_at, elsewhere=fetch.elsewhere)

    async def _outcome(self, claimed: Claimed, fetch: StepFetch) -> Outcome:
        try:
            return await self._recipe.step(claimed, fetch, self._context)
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

    def _judged(self, claimed: Claimed, outcome: Outcome, began_at: int, *, elsewhere: bool) -> Finished:
        now = self._clock.wall_ms()
        ruling = judge(outcome, attempts=claimed.attempts, max_attempts=self._max_attempts, random=self._random)
        body = outcome.body if isinstance(outcome, Done) else None
        has_links = not isinstance(outcome, Failed)
        verdict = Verdict(
            target=claimed.id,
            move=ruling.move,
            began_at=began_at,
            ended_at=now,
            disposition="" if isinstance(outcome, Failed) else outcome.disposition,
            code=ruling.code,
            rule="" if isinstance(outcome, Failed) else outcome.rule,
            because=ruling.because[:MESSAGE_LENGTH_MAX],
            wait_ms=ruling.wait_ms,
            elsewhere=elsewhere,
            hold_host_ms=0 if elsewhere else ruling.hold_host_ms,
            status_code=outcome.status_code,
            bytes=len(body.content) if body else 0,
            records=outcome.records if has_links else (),  # type: ignore[union-attr]
            found=outcome.found if has_links else (),  # type: ignore[union-attr]
            external=outcome.external if has_links else (),  # type: ignore[union-attr]
        )
        return Finished(claimed, verdict, body, kind=ruling.kind or "")


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
