"""One worker process of a pool: reads its assignment, works its part of the job, and reports how it ended.

It takes orders from its supervisor only (SIGTERM: finish what is in hand and exit) and prints nothing for people: its
messages are lines of JSON.
"""

from __future__ import annotations

import logging
import os
import signal
import traceback
from collections.abc import Callable

import msgspec

from holdfast import wiring
from holdfast.config.headers import with_secrets
from holdfast.cores import keep_to_own
from holdfast.dispatch.crashes import explained
from holdfast.dispatch.local import garbage_collector
from holdfast.dispatch.local.messages import (
    Assignment,
    Drained,
    FinalReport,
    Message,
    PlanRaised,
    Ready,
    failure_of,
    line_of,
)
from holdfast.errors import HoldfastError

READ_BYTES = 1 << 16
STDERR = 2


def main(assignment_pipe: int, message_pipe: int) -> int:
    """The descriptors to read from and to write to. Without an assignment the supervisor is gone: nothing to do."""
    text = b""
    while part := os.read(assignment_pipe, READ_BYTES):
        text += part
    os.close(assignment_pipe)
    if not text:
        return 0

    def say(message: Message) -> None:
        _write(message_pipe, line_of(message))

    logging.getLogger("holdfast.config").setLevel(logging.ERROR)  # the supervisor has told what is odd there
    say(Ready())
    try:
        final_report = serve(msgspec.json.decode(text, type=Assignment), say)
    except BaseException:
        _write(STDERR, traceback.format_exc().encode(errors="backslashreplace"))
        raise
    say(final_report)
    return 0 if final_report.failure is None else 1


def _write(descriptor: int, text: bytes) -> None:
    while text:
        text = text[os.write(descriptor, text) :]


def serve(assignment: Assignment, say: Callable[[Message], None]) -> FinalReport:
    """Work the assignment to its end. Whatever goes wrong is the failure in the final report."""
    settings = assignment.settings_read()
    keep_to_own(assignment.place, assignment.workers)
    try:
        session = wiring.open_session(
            settings, with_secrets(assignment.job), progress=None, workers=assignment.workers, place=assignment.place
        )
        session.on_plan_failed = lambda why: say(PlanRaised(why))
        session.on_drained = lambda: say(Drained())
        garbage_collector.rest()
        listen(session.interrupt)
        ended = session.run()
        final_report = FinalReport(how=ended.how, not_saved=session.not_saved)
    except HoldfastError as error:
        final_report = FinalReport(failure=failure_of(error))
    except Exception as error:  # noqa: BLE001 - the edge: whatever happened becomes a sentence for the supervisor
        final_report = FinalReport(failure=failure_of(explained(settings, error)))
    return final_report.with_waits(wiring.lock_waits(settings))


def listen(interrupt: Callable[[str], None]) -> None:
    """SIGTERM was blocked since before the fork, so that it cannot arrive before its handler is installed."""
    signal.signal(signal.SIGTERM, lambda *_: interrupt("drain"))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
