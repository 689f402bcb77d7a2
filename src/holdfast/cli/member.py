"""One worker process of a crew: reads its post, works its part of the job, and says how it ended.

It takes orders from its supervisor only (SIGTERM: finish what is in hand and go) and never speaks to people: its
farewell is one line of JSON.
"""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Callable

import msgspec

from holdfast import wiring
from holdfast.cli.cores import keep_to_own
from holdfast.cli.crashes import explained
from holdfast.cli.posts import DRAINED, READY, Farewell, Post, failure_of, line, plan_failure
from holdfast.config.headers import with_secrets
from holdfast.errors import HoldfastError

READ_BYTES = 1 << 16
STDOUT = 1


def main(post: int) -> int:
    """`post` is the descriptor to read from; without a word on it the supervisor is gone, and nothing is to be done."""
    text = b""
    while part := os.read(post, READ_BYTES):
        text += part
    os.close(post)
    if not text:
        return 0
    say(READY)
    try:
        farewell = serve(msgspec.json.decode(text, type=Post))
    except BaseException:
        say(traceback.format_exc().encode(errors="backslashreplace"))
        raise
    say(msgspec.json.encode(farewell) + b"\n")
    return 0 if farewell.failure is None else 1


def say(words: bytes) -> None:
    while words:
        words = words[os.write(STDOUT, words) :]


def serve(post: Post) -> Farewell:
    """Work the post to its end. Whatever goes wrong is the farewell's failure."""
    settings = post.settings_read()
    keep_to_own(post.place, post.workers)
    try:
        session = wiring.open_session(
            settings, with_secrets(post.job), progress=None, workers=post.workers, place=post.place
        )
        session.on_plan_failed = lambda why: say(plan_failure(why))
        session.on_drained = lambda: say(line(DRAINED))
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
