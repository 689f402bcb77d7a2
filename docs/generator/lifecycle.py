"""The lifecycle page, from the tables of model/states.py and policy/recovery.py."""

from __future__ import annotations

from itertools import groupby

from generator.markdown import page, table, yes

from holdfast.cli.screen.refusals import COMMAND_OF
from holdfast.model.states import CHUNK, JOB, MACHINES, TARGET, WIRE_STATUS, Machine, Move, State
from holdfast.policy.recovery import POISON_DEATHS, RECOVERY, every_sight, rescue_target

ABOUT = {
    JOB.thing: "What a person asked for. Results stay readable in every state.",
    CHUNK.thing: "The part of a job that one worker holds at a time. Its epoch rises by one with each lease.",
    TARGET.thing: "One thing to get. Settled is `succeeded`, `skipped`, `failed` or `cancelled`.",
}
FORMS = {
    State.READY: "may be claimed when its lane is due",
    State.WAITING: "not before a time, for a reason that is stored with it",
    State.SOLO: "suspect: claimed alone",
    State.HELD: "in a worker's hand, its attempt spent",
    State.SUCCEEDED: "settled, with its result",
    State.SKIPPED: "settled without a result; the disposition says why",
    State.FAILED: "settled; the code says why",
    State.CANCELLED: "settled because its job was cancelled",
}


def lifecycle() -> str:
    return page(
        "Lifecycle",
        "A job, a chunk and a target each have one table of moves, and one guard over it: a move that is not a row "
        "here is refused, and the refusal names what is allowed instead. The schema's constraints, "
        "`allowed_actions`, exit code 6 and this page all come from the same rows of `model/states.py`.",
        "A state is a fact. *Pausing* is `in_progress` with a request beside it; *waiting* is `pending` with a time "
        "and a because. A move that is *fenced* needs the chunk's present epoch: a worker that lost its lease cannot "
        "make it. A move *by* a user has its command; the others happen while a job is worked.",
        "Active time, which `--time-limit` counts, is added up where leases are renewed: every third of `lease`, ten "
        "seconds by default. A kill loses what came after the last renewal, so a killed job may run so much longer.",
        *(part for machine in MACHINES for part in _machine(machine)),
        "## How a status is stored\n\nA target's status has eight physical forms, so that the indexes of what can be "
        "claimed stay small however much is settled.",
        table(
            ("stored", "status", "means"),
            [(f"{state.value} {state.name.lower()}", f"`{WIRE_STATUS[state]}`", FORMS[state]) for state in State],
        ),
        *_recovery(),
        *_rescues(),
    )


def _machine(machine: Machine) -> list[str]:
    states = ", ".join(f"`{state}`" for state in machine.states)
    head = ("verb", "from", "to", "by", "fenced", "why", *(("command",) if machine is JOB else ()))
    return [
        f"## {machine.thing.capitalize()}\n\n{ABOUT[machine.thing]} States: {states}.{_last_states(machine)}",
        _diagram(machine),
        table(head, [_move(machine, row) for row in machine.moves]),
    ]


def _last_states(machine: Machine) -> str:
    sources = {row.source for row in machine.moves}
    last = [state for state in machine.states if state in machine.final]
    left, kept = [state for state in last if state in sources], [state for state in last if state not in sources]
    parts = (("Only a person's verb leaves", left), ("Nothing leaves", kept))
    return "".join(f" {says} {', '.join(f'`{state}`' for state in states)}." for says, states in parts if states)


def _move(machine: Machine, row: Move) -> tuple[str, ...]:
    cells = (f"`{row.verb}`", f"`{row.source}`", f"`{row.target}`", row.by, yes(row.fenced), row.why)
    if machine is not JOB:
        return cells
    command = COMMAND_OF[row.verb].format(name="JOB", start="crawl") if row.by == "user" else ""
    if (row.source, row.verb) == ("timeout", "resume"):
        command += " --extend 30m"
    return (*cells, f"`{command}`" if command else "")


def _diagram(machine: Machine) -> str:
    """Mermaid; verbs between the same two states share an arrow."""
    ways = sorted(machine.moves, key=lambda row: (machine.states.index(row.source), machine.states.index(row.target)))
    arrows = [
        f"    {source} --> {target}: {', '.join(dict.fromkeys(row.verb for row in rows))}"
        for (source, target), rows in groupby(ways, key=lambda row: (row.source, row.target))
    ]
    return "\n".join(["```mermaid", "stateDiagram-v2", f"    [*] --> {machine.states[0]}", *arrows, "```"])


def _recovery() -> list[str]:
    rows = [
        (
            *(_words(words) for words in (row.status, row.requested, row.holder, row.recipe, row.asked)),
            *(_words(words) for words in (row.limit, row.rest)),
            f"**{row.action}**",
            row.because,
        )
        for row in RECOVERY
    ]
    return [
        "## What start-up finds\n\nEvery start looks at the job first: its status, a request that stands, who holds "
        "its chunks, whether its recipe is known here, whether its limits leave room, whether a cancel "
        "has left pages pending (*rest*), and whether a command named it (*asked*) or a worker only looks "
        f"around (*unasked*). These {len(RECOVERY)} rows cover all {len(every_sight())} combinations, exactly one row "
        "each; a test enumerates them. Recovery only makes work pending again: it fetches nothing itself.",
        table(("status", "requested", "holder", "recipe", "asked", "limit", "rest", "action", "because"), rows),
    ]


def _words(words: str) -> str:
    return {"*": "any", "-": "none"}.get(words) or ", ".join(f"`{word}`" for word in words.split())


def _rescues() -> list[str]:
    """Every case of the pure function, asked."""
    cases = [("stopped, and no target is to blame", True, 0, False), ("died in company", False, 0, True)]
    cases += [(f"died alone; deaths alone before: {deaths}", True, deaths, True) for deaths in range(POISON_DEATHS)]
    rows = []
    for what, alone, deaths, blamed in cases:
        ruling = rescue_target(alone=alone, deaths=deaths, blamed=blamed)
        end = "`failed`, code `poison`" if ruling.poison else f"`pending` ({ruling.state.name.lower()})"
        rows.append((what, end, "refunded" if ruling.refund else "spent", ruling.deaths))
    return [
        "## What becomes of a target whose worker is gone\n\nA worker holds several targets at once. When it dies, one "
        "of them may have killed it and the others are innocent, so all become *suspect*, get their attempt back, and "
        "are tried alone from then on. Only a death alone counts against a target. Nobody is to blame when the whole "
        "computer stopped, when a lease merely ran out, or when the work was handed back.",
        table(("its worker", "then it is", "its attempt", "deaths alone"), rows),
    ]
