"""Every fault suite there is, in the order in which they are told. Knows the suites; plays none."""

from __future__ import annotations

from crash.suites.clock_jumps import CLOCK_JUMPS
from crash.suites.damage import DAMAGE
from crash.suites.failing_calls import FAILING_CALLS
from crash.suites.fault_points import FAULT_POINTS, FAULT_POINTS_PG
from crash.suites.fighting import FIGHTING
from crash.suites.full_disk import FULL_DISK
from crash.suites.fuzzing import FUZZING
from crash.suites.killed_at_syscall import KILLED_AT_SYSCALL
from crash.suites.ledger_damage import LEDGER_DAMAGE
from crash.suites.migrations import MIGRATIONS, MIGRATIONS_PG
from crash.suites.outages import OUTAGES
from crash.suites.power_cut import POWER_CUT
from crash.suites.random_kills import RANDOM_KILLS, RANDOM_KILLS_PG, STOPPED
from crash.suites.simulated import SIMULATED
from crash.suites.suite import Suite

SUITES: tuple[Suite, ...] = (
    SIMULATED,
    FAULT_POINTS,
    FAULT_POINTS_PG,
    KILLED_AT_SYSCALL,
    RANDOM_KILLS,
    RANDOM_KILLS_PG,
    STOPPED,
    FIGHTING,
    POWER_CUT,
    FAILING_CALLS,
    FULL_DISK,
    OUTAGES,
    CLOCK_JUMPS,
    MIGRATIONS,
    MIGRATIONS_PG,
    DAMAGE,
    LEDGER_DAMAGE,
    FUZZING,
)


def suite(name: str) -> Suite:
    """The suite of this name; KeyError with the names there are."""
    found = {each.name: each for each in SUITES}
    if name not in found:
        raise KeyError(f"there is no suite {name}; there are: {', '.join(found)}")
    return found[name]
