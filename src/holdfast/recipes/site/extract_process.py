"""Entities extracted in a process of its own: the event loop is free, and a page that eats time or memory ends with it.

One child per worker process; it starts with the first page, reads requests from its stdin and ends with it. A page that
takes longer than its time, or more memory than the child may have, fails alone: the next one gets a new child.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import IO

import msgspec

from holdfast.recipes.child_process import ChildProcess, limit_time, read_message, run_child, write_message

CPU_S = 10.0  # of one page
PAGE_S = 60.0  # for an answer, should the child be stopped by somebody
MEMORY_BYTES_MAX = 1_000_000_000
PAGES_PER_CHILD = 500
COMMAND = ("-P", "-m", "holdfast.recipes.site.extract_process")

_encode = msgspec.msgpack.Encoder().encode
_request = msgspec.msgpack.Decoder(tuple[str, bytes, str]).decode
_answer = msgspec.msgpack.Decoder(tuple[bytes, str]).decode


class ExtractFailed(Exception):
    """The extractor could not work this page; the message says why."""


class ExtractProcess:
    """Called from any thread, one page at a time. Answers the page's record as JSON."""

    def __init__(self, page_s: float = PAGE_S) -> None:
        self._page_s = page_s
        self._lock = threading.Lock()
        self._child = ChildProcess(*COMMAND)
        self._worked = 0

    def __call__(self, url: str, body: bytes, content_type: str) -> bytes:
        with self._lock:
            if self._worked >= PAGES_PER_CHILD:
                self._stop()
            killer = threading.Timer(self._page_s, self._child.kill)
            killer.start()
            try:
                record, wrong = self._asked(url, body, content_type)
            except (OSError, EOFError, msgspec.DecodeError) as error:
                self._stop()
                limits = f"{CPU_S:g} s of processor time, {self._page_s:g} s in all"
                raise ExtractFailed(f"it took more than {limits}, or more memory than there is") from error
            finally:
                killer.cancel()
        if wrong:
            raise ExtractFailed(wrong)
        return record

    def close(self) -> None:
        with self._lock:
            self._stop()

    def _asked(self, url: str, body: bytes, content_type: str) -> tuple[bytes, str]:
        requests, answers = self._child.pipes()
        write_message(requests, _encode((url, body, content_type)))
        answer: tuple[bytes, str] = _answer(read_message(answers))
        self._worked += 1
        return answer

    def _stop(self) -> None:
        self._worked = 0
        self._child.end()


def serve(source: IO[bytes], out: IO[bytes]) -> None:
    """One answer per request: the record, or why there is none."""
    from holdfast.recipes.site.entities.extract import extract

    with suppress(EOFError):
        while True:
            url, body, content_type = _request(read_message(source))
            limit_time(CPU_S)
            try:
                answer = (msgspec.json.encode(extract(url, body, content_type)), "")
            except Exception as error:  # noqa: BLE001 - whatever a rule raises is that page's failure, and is told
                answer = (b"", f"{type(error).__name__}: {error}"[:300])
            write_message(out, _encode(answer))


if __name__ == "__main__":
    run_child(serve, MEMORY_BYTES_MAX)
