"""Pages derived in a process of their own, which has a limit of processor time and memory for each page.

A page built to take an hour costs its limit and nothing else: the process dies of it, another one takes its place, and
the page becomes plain text with a flag. The child reads requests from its stdin and ends with it, so it never outlives
its parent. Where no child can ever be started the page is derived here. Where there are no descriptors or no memory for
one just now, it becomes plain text, and the next page is tried again: never missing.
"""

from __future__ import annotations

import gc
import select
from collections.abc import Sequence
from contextlib import suppress
from typing import IO

import msgspec

from holdfast.model.derived import FAILED, TOO_SLOW, Derived
from holdfast.recipes.child_process import (
    OUT_OF_TIME,
    CannotStart,
    ChildProcess,
    limit_time,
    read_message,
    run_child,
    write_message,
)
from holdfast.recipes.site.derive import INPUT_BYTES_MAX, derive, derive_plainly

CPU_S = 2.2  # of one page
PLAIN_CPU_S = 0.8  # of one that gets plain text, perhaps after the other
WALL_S = 60  # for an answer, should the child be stopped by somebody
MEMORY_BYTES = 768_000_000
PAGES_MAX = 2_000  # before another process takes its place
COLLECT_EVERY = 25  # pages: trees hold cycles, and are collected by the dozen
# -P: nothing in the current folder is taken for our package.
COMMAND = ("-P", "-m", "holdfast.recipes.site.derive_process")

Request = tuple[bytes, str, str, str]  # content, URL, content type, and a flag where plain text is wanted for a reason

_encode = msgspec.msgpack.Encoder().encode
_request = msgspec.msgpack.Decoder(Request).decode
_answer = msgspec.msgpack.Decoder(Derived).decode


class DeriveProcess:
    """Derives as `derive` does; the child starts with the first page. For one thread at a time."""

    def __init__(self, command: Sequence[str] = COMMAND) -> None:
        self._child = ChildProcess(*command)
        self._ended_by: int | None = None
        self._pages = 0

    def __call__(self, content: bytes, url: str, content_type: str) -> Derived:
        content = content[: INPUT_BYTES_MAX + 1]
        try:
            return self._apart(content, url, content_type)
        except CannotStart as error:  # a hostile page has no limits here, so it is read in linear time, if at all
            return derive_plainly(content, content_type, FAILED) if error.passes else derive(content, url, content_type)

    def _apart(self, content: bytes, url: str, content_type: str) -> Derived:
        # A child may die of something else than its page, so a page has a second one before it is blamed.
        for flag in ("", "", TOO_SLOW):
            derived = self._tried((content, url, content_type, flag))
            if derived is not None:
                return derived
            if self._ended_by == OUT_OF_TIME:
                return self._tried((content, url, content_type, TOO_SLOW)) or Derived(flags=(FAILED,))
        return Derived(flags=(FAILED,))

    def _tried(self, request: Request) -> Derived | None:
        """None where the child died, or did not answer."""
        try:
            return self._asked(request)
        except (OSError, EOFError, msgspec.DecodeError):
            # It closed its pipe, so it is about to end by itself.
            self._ended_by = self._child.end(patience_s=1)
            return None

    def close(self) -> None:
        self._child.end()

    def _asked(self, request: Request) -> Derived:
        if self._child.pid is None:
            self._pages = 0
        requests, answers = self._child.pipes()
        write_message(requests, _encode(request))
        if not select.select([answers], [], [], WALL_S)[0]:
            raise EOFError
        derived = _answer(read_message(answers))
        self._pages += 1
        if self._pages >= PAGES_MAX:
            self.close()
        return derived


def serve(source: IO[bytes], out: IO[bytes]) -> None:
    """One answer per request, until there are no more."""
    pages = 0
    with suppress(EOFError):
        while True:
            content, url, content_type, flag = _request(read_message(source))
            limit_time(PLAIN_CPU_S if flag else CPU_S)
            write_message(out, _encode(_derived(content, url, content_type, flag)))
            pages += 1
            if pages % COLLECT_EVERY == 0:
                gc.collect()


def _derived(content: bytes, url: str, content_type: str, flag: str) -> Derived:
    if flag:
        return derive_plainly(content, content_type, flag)
    try:
        return derive(content, url, content_type)
    except MemoryError:
        return derive_plainly(content, content_type, TOO_SLOW)


if __name__ == "__main__":
    gc.disable()
    run_child(serve, MEMORY_BYTES)
