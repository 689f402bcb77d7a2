"""The text of pages, derived in a process of its own: a crawl that works in this one is not slowed by it.

The child reads requests from its stdin and ends with it, so it never outlives its parent. Where it cannot be started,
or dies, the text is derived here: slower, never missing.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from contextlib import suppress
from typing import IO

import msgspec

from holdfast.recipes.site.text import visible_text

LENGTH_BYTES = 4
# -P: nothing in the current folder is taken for our package.
COMMAND = ("-P", "-m", "holdfast.recipes.site.text_process")

_encode = msgspec.msgpack.Encoder().encode
_request = msgspec.msgpack.Decoder(tuple[bytes, str]).decode
_answer = msgspec.msgpack.Decoder(str | None).decode


class TextProcess:
    """Reads text as `visible_text` does; the child starts with the first page."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        self._is_lost = not sys.executable

    def __call__(self, body: bytes, content_type: str) -> str | None:
        if not self._is_lost:
            try:
                return self._asked(body, content_type)
            except (OSError, EOFError, msgspec.DecodeError):
                self._is_lost = True
                self.close()
        return visible_text(body, content_type)

    def close(self) -> None:
        child, self._child = self._child, None
        if child is None:
            return
        with suppress(OSError):  # of what a dead child did not read
            child.communicate()

    def _asked(self, body: bytes, content_type: str) -> str | None:
        if self._child is None:
            argv = [sys.executable, *COMMAND]
            self._child = subprocess.Popen(
                argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        _write(self._child.stdin, _encode((body, content_type)))
        text: str | None = _answer(_read(self._child.stdout))
        return text


def serve(source: IO[bytes], out: IO[bytes]) -> None:
    """One answer per request, until there are no more."""
    with suppress(EOFError):
        while True:
            _write(out, _encode(visible_text(*_request(_read(source)))))


def _write(out: IO[bytes], message: bytes) -> None:
    out.write(len(message).to_bytes(LENGTH_BYTES, "big"))
    out.write(message)
    out.flush()


def _read(source: IO[bytes]) -> bytes:
    length = source.read(LENGTH_BYTES)
    message = source.read(int.from_bytes(length, "big"))
    if len(length) < LENGTH_BYTES or len(message) < int.from_bytes(length, "big"):
        raise EOFError
    return message


if __name__ == "__main__":
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # a crawl that is told to stop still needs its text
        signal.signal(ignored, signal.SIG_IGN)
    with suppress(BrokenPipeError):
        serve(sys.stdin.buffer, sys.stdout.buffer)
