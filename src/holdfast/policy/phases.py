"""What follows a phase of a job: it goes on, another phase opens, or the job ends. Pure: it judges over values."""

from __future__ import annotations

import msgspec

from holdfast.model.job import FETCHING, PHASES, Phases


class WorkLeft(msgspec.Struct, frozen=True):
    """What is left of a job. `planned`: the plan of its phase is done; `busy`: phases with targets to do or in hand, or
    that were left before they were planned; `limited`: the page limit is reached: nothing more can be claimed in the
    first phase, whatever it has to do."""

    planned: bool
    walks: bool
    busy: tuple[str, ...]
    limited: bool = False


class Opens(msgspec.Struct, frozen=True):
    """This phase is next. `anew`: its plan begins at its first target; else it goes on where the phase was left."""

    phase: str
    anew: bool


class Ends(msgspec.Struct, frozen=True):
    """Nothing is left to do in any phase; `limited`: but for what the page limit keeps from being done."""

    limited: bool = False


def following(phase: str, phases: Phases, work: WorkLeft) -> Opens | Ends | None:
    """None: the phase is not drained. An earlier phase that has something to do again comes before any later one."""
    kept_off = work.limited and (FETCHING in work.busy or (phase == FETCHING and not work.planned))
    busy = [name for name in PHASES if name in work.busy and not (kept_off and name == FETCHING)]
    planned = work.planned or (kept_off and phase == FETCHING)
    if work.walks or phase in busy or not planned:
        return None
    here = PHASES.index(phase)
    earlier = next((name for name in PHASES[:here] if name in busy), None)
    if earlier is not None:
        return Opens(earlier, anew=False)
    later = next((name for name in PHASES[here + 1 :] if name in busy or name in phases.names), None)
    return Ends(kept_off) if later is None else Opens(later, anew=True)
