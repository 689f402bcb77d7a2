"""What start-up finds and what follows from it: one table with exactly one row per combination. It says, never acts.

After the action has been carried out, look again: a paused job that was asked for while its pause was still requested
is acknowledged first and resumed by the second look. The second half decides about targets whose worker is gone.
"""

from __future__ import annotations

from itertools import product

import msgspec

from holdfast.errors import Corrupt
from holdfast.model.job import REQUESTS
from holdfast.model.states import JOB, State

HOLDERS = ("nobody", "live", "dead_or_lapsed")
ACTIONS = ("start", "resume", "take_up", "watch", "acknowledge", "free", "leave", "refuse_recipe", "report")
POISON_DEATHS = 3


class Sight(msgspec.Struct, frozen=True, kw_only=True):
    """A job as start-up finds it. `asked`: a command named this job; else a worker or server looks around (PAU-05).

    `at_limit`: its limits leave no room to go on. `half_cancelled`: it is cancelled, and not all of it is.
    """

    status: str
    requested: str | None
    holder: str
    recipe_known: bool
    asked: bool
    at_limit: bool = False
    half_cancelled: bool = False


class RecoveryRule(msgspec.Struct, frozen=True):
    """One row of the table: words separated by spaces, `*` is any, `-` is none."""

    status: str
    requested: str
    holder: str
    recipe: str
    asked: str
    action: str
    because: str
    limit: str = "*"
    rest: str = "*"

    def matches(self, sight: Sight) -> bool:
        seen = (
            (self.status, sight.status),
            (self.requested, sight.requested or "-"),
            (self.holder, sight.holder),
            (self.recipe, "known" if sight.recipe_known else "unknown"),
            (self.asked, "asked" if sight.asked else "unasked"),
            (self.limit, "reached" if sight.at_limit else "room"),
            (self.rest, "pending" if sight.half_cancelled else "settled"),
        )
        return all(words == "*" or word in words.split() for words, word in seen)


# fmt: off
_ANY_REQUEST = "pause cancel time_out"
_NOW = "pending paused failed"
_END = "completed timeout cancelled"
_IDLE = "pending paused timeout"  # no process works them, and they may be cancelled
_OVER = "completed failed cancelled"
_FREE = "nobody dead_or_lapsed"
_FINE = "nobody live"
_DEAD = "dead_or_lapsed"
_Row = RecoveryRule  # keeps each rule on one line
#       status         requested       holder recipe     asked      action           because
RECOVERY = (
    _Row("in_progress", "-",            _FREE, "known",   "*",       "take_up",       "no process works it"),
    _Row("in_progress", "-",            _FREE, "unknown", "*",       "refuse_recipe", "its recipe is unknown here"),
    _Row("in_progress", _ANY_REQUEST,   _FREE, "*",       "*",       "acknowledge",   "no worker is left to do so"),
    _Row("in_progress", "*",            "live", "*",      "asked",   "watch",         "a live process works it"),
    _Row("in_progress", "*",            "live", "*",      "unasked", "leave",         "a live process works it"),
    _Row("pending",     "-",            "*",   "known",   "asked",   "start",         "it was never started"),
    _Row("paused",      "-",            "*",   "known",   "asked",   "resume",        "it was paused"),
    _Row("failed",      "-",            "*",   "known",   "asked",   "resume",        "it failed and may be mended"),
    _Row("timeout",     "-",            _FINE, "known",   "asked",   "resume",        "its limit was raised", "room"),
    _Row("timeout",     "-",            _FINE, "unknown", "asked",   "refuse_recipe", "its recipe is unknown", "room"),
    _Row("timeout",     "-",            _FINE, "*",       "asked",   "leave",         "its limit stands", "reached"),
    _Row(_NOW,          "-",            "*",   "unknown", "asked",   "refuse_recipe", "its recipe is unknown here"),
    _Row("pending",     "-",            _FINE, "*",       "unasked", "leave",         "it waits for its start"),
    _Row("paused",      "-",            _FINE, "*",       "unasked", "leave",         "a paused job stays paused"),
    _Row("failed",      "-",            _FINE, "*",       "unasked", "leave",         "it waits for its user"),
    _Row(_NOW,          "-",            _DEAD, "*",       "unasked", "free",          "a dead worker holds chunks"),
    _Row(_END,          "-",            _DEAD, "*",       "*",       "free",          "a dead worker holds chunks"),
    _Row("completed",   "-",            _FINE, "*",       "*",       "leave",         "it is complete"),
    _Row("timeout",     "-",            _FINE, "*",       "unasked", "leave",         "it waits for its user"),
    _Row("cancelled",   "-",            _FINE, "*", "*", "leave",       "it was cancelled for good", rest="settled"),
    _Row("cancelled",   "-",            _FINE, "*", "*", "acknowledge", "its cancel was cut short", rest="pending"),
    _Row(_IDLE,         "cancel",       "*",   "*",       "*",       "acknowledge",   "asked for, not yet carried out"),
    _Row(_IDLE,         "pause time_out", "*", "*",       "*",       "report",        "a request without work: damage"),
    _Row(_OVER,         _ANY_REQUEST,   "*",   "*",       "*",       "report",        "a request without work: damage"),
)
# fmt: on


def look(sight: Sight) -> RecoveryRule:
    """The one row for what is seen; a status or request outside the model is damage."""
    rows = [row for row in RECOVERY if row.matches(sight)]
    if len(rows) != 1:
        raise Corrupt(f"a job was found in no known condition: {sight}")
    return rows[0]


def every_sight() -> list[Sight]:
    """All combinations: what the tests enumerate and the docs print."""
    requests = (None, *REQUESTS)
    both = (False, True)
    return [
        Sight(
            status=status,
            requested=requested,
            holder=holder,
            recipe_known=known,
            asked=asked,
            at_limit=at_limit,
            half_cancelled=half_cancelled,
        )
        for status, requested, holder, known, asked, at_limit, half_cancelled in product(
            JOB.states, requests, HOLDERS, both, both, both, both
        )
    ]


class Rescue(msgspec.Struct, frozen=True):
    """Where a target goes whose worker is gone. `refund`: the attempt does not count. `deaths` are those alone."""

    state: State
    refund: bool
    deaths: int
    poison: bool = False


def rescue_target(*, alone: bool, deaths: int, blamed: bool) -> Rescue:
    """A target that kills its worker must not spend its neighbours' attempts; random kills poison no target (TGT-06).

    If several targets were in hand, each of them is suspect and is tried alone from now on. A target that was alone
    caused the death itself. `blamed` is false after a power cut or a hand-back: then no target is suspect.
    """
    if not blamed:
        return Rescue(State.READY, True, deaths)
    if not alone:
        return Rescue(State.SOLO, True, deaths)
    if deaths + 1 >= POISON_DEATHS:
        return Rescue(State.FAILED, False, deaths + 1, poison=True)
    return Rescue(State.SOLO, False, deaths + 1)
