"""One worker process of a crew: reads its post, works its part of the job, and says how it ended.

It takes orders from its supervisor only (SIGTERM: finish what is in hand and go) and never speaks to people: its words
are lines of JSON.
"""

from __future__ import annotations

import logging
import os
import signal
import traceback
from collections.abc import Callable

import msgspec

from holdfast import wiring
from holdfast.cli import collector
from holdfast.cli.cores import keep_to_own
from holdfast.cli.crashes import explained
from holdfast.cli.posts import Drained, Farewell, PlanFailed, Post, Ready, Word, failure_of, line_of
from holdfast.config.headers import with_secrets
from holdfast.errors import HoldfastError

READ_BYTES = 1 << 16
STDERR = 2


def main(post: int, wire: int) -> int:
    """The descriptors to read from and to speak to. Without a post the supervisor is gone: nothing is to be done."""
    text = b""
    while part := os.read(post, READ_BYTES):
        text += part
    os.close(post)
    if not text:
        return 0

    def say(word: Word) -> None:
        _write(wire, line_of(word))

    logging.getLogger("holdfast.config").setLevel(logging.ERROR)  # the supervisor has told what is odd there
    say(Ready())
    try:
        farewell = serve(msgspec.json.decode(text, type=Post), say)
    except BaseException:
        _write(STDERR, traceback.format_exc().encode(errors="backslashreplace"))
        raise
    say(farewell)
    return 0 if farewell.failure is None else 1


def _write(descriptor: int, text: bytes) -> None:
    while text:
        text = text[os.write(descriptor, text) :]


def serve(post: Post, say: Callable[[Word], None]) -> Farewell:
    """Work the post to its end. Whatever goes wrong is the farewell's failure."""
    settings = post.settings_read()
    keep_to_own(post.place, post.workers)
    try:
        session = wiring.open_session(
            settings, with_secrets(post.job), progress=None, workers=post.workers, place=post.place
        )
        session.on_plan_failed = lambda why: say(PlanFailed(why))
        session.on_drained = lambda: say(Drained())
        collector.rest()
        listen(session.interrupt)
        ended = session.run()
        farewell = Farewell(how=ended.how, not_saved=session.not_saved)
    except HoldfastError as error:
        farewell = Farewell(failure=failure_of(error))
    except Exception as error:  # noqa: BLE001 - the edge: whatever happened becomes a sentence for the supervisor
        farewell = Farewell(failure=failure_of(explained(settings, error)))
    return farewell.with_waits(wiring.lock_waits(settings))


def listen(interrupt: Callable[[str], None]) -> None:
    """SIGTERM was held back since before the fork, so that it cannot meet us without ears."""
    signal.signal(signal.SIGTERM, lambda *_: interrupt("drain"))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
