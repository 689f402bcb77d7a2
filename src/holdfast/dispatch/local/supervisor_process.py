"""`python -m holdfast.dispatch.local.supervisor_process ORDERS MESSAGES`: supervises a worker pool for a program that
must not fork itself. Both words are descriptors of pipes: one brings the assignment and orders, one takes messages.

When the program dies, whatever of, this process is told to go by SIGTERM: its workers finish the pages in hand and end.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress

import msgspec
from msgspec.structs import replace

from holdfast.dispatch.crashes import explained
from holdfast.dispatch.local.fork_server import ForkServer, tie_to
from holdfast.dispatch.local.messages import failure_of
from holdfast.dispatch.local.pool_messages import (
    Order,
    PoolAssignment,
    PoolEnd,
    PoolMessage,
    PoolProgress,
    Said,
    pool_line,
)
from holdfast.dispatch.runners import runner_here
from holdfast.errors import HoldfastError
from holdfast.model.job import Counts, Job
from holdfast.ports import Runner

READ_BYTES = 1 << 16
SIGNALS = {signal.SIGTERM: "drain", signal.SIGHUP: "drain", signal.SIGINT: "pause"}


def main(order_pipe: int, message_pipe: int) -> int:
    for descriptor in (order_pipe, message_pipe):
        os.set_inheritable(descriptor, False)  # a program that a recipe starts must not look like us
    orders = _lines(order_pipe)
    line = next(orders, None)
    if line is None:
        return 0  # the program is gone before it could say what to do
    assignment = msgspec.json.decode(line, type=PoolAssignment)
    tie_to(assignment.parent, signal.SIGTERM)
    settings = assignment.settings_read()
    try:
        pipes = (order_pipe, message_pipe)
        with ForkServer(assignment.processes, settings, recipe=assignment.job.recipe, private=pipes) as fork_server:
            end = supervise(assignment, fork_server, orders, message_pipe)
    except HoldfastError as error:
        end = PoolEnd(failure=failure_of(error))
    except Exception as error:  # noqa: BLE001 - the edge: whatever happened becomes a sentence for the program
        end = PoolEnd(failure=failure_of(explained(settings, error)))
    _tell(message_pipe, end)
    return 0 if end.failure is None else 1


def _lines(descriptor: int) -> Iterator[bytes]:
    begun = b""
    while part := os.read(descriptor, READ_BYTES):
        *whole, begun = (begun + part).split(b"\n")
        yield from whole


def _tell(message_pipe: int, message: PoolMessage) -> None:
    """A program that is gone hears nothing; its workers finish their pages all the same."""
    line = pool_line(message)
    with suppress(OSError):
        while line:
            line = line[os.write(message_pipe, line) :]


def supervise(
    assignment: PoolAssignment, fork_server: ForkServer, orders: Iterator[bytes], message_pipe: int
) -> PoolEnd:
    """Work the assignment to its end."""

    def progress(job: Job, counts: Counts, in_flight: int, checkpoint: int | None) -> None:
        waiting, rescued = runner.waiting, runner.rescued
        numbers = PoolProgress(
            job=replace(job, params={}),
            counts=counts,
            in_flight=in_flight,
            checkpoint=checkpoint,
            waiting=waiting,
            rescued=rescued,
        )
        _tell(message_pipe, numbers)

    runner = runner_here(
        assignment.settings_read(),
        assignment.job,
        progress=progress,
        say=lambda words: _tell(message_pipe, Said(words)),
        trigger=assignment.trigger,
        fork_server=fork_server,
    )
    _listen(orders, runner)
    return PoolEnd(end=runner.run(), not_saved=runner.not_saved, rescued=runner.rescued)


def _listen(orders: Iterator[bytes], runner: Runner) -> None:
    """Orders come as lines, and as signals when the program is dead. The end of the lines alone orders nothing."""
    for number, why in SIGNALS.items():
        signal.signal(number, lambda *_, why=why: runner.interrupt(why))

    def obey() -> None:
        for line in orders:
            runner.interrupt(msgspec.json.decode(line, type=Order).why)

    threading.Thread(target=obey, name="orders", daemon=True).start()


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
