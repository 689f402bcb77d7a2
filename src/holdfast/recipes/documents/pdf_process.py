"""Opens PDFs in a process of its own, with caps on memory, time and use: a hostile file ends that process, not the
crawl.

The child reads paths from its stdin, one JSON string per line, and ends with it. pypdf is loaded in the child alone;
where it is not installed (the extra `documents`) every look says so and judges nothing.

Time is the child's own processor time, so that a busy computer condemns no file; and a large file may well need more
than it is given, so that running out of it says nothing of the file either.
"""

from __future__ import annotations

import json
import os
import select
import sys
from contextlib import suppress
from functools import partial
from typing import IO, Any

import msgspec
from msgspec.structs import asdict

from holdfast.recipes.child_process import OUT_OF_TIME, CannotStart, ChildProcess, limit_time, run_child

CPU_S_MAX = 60.0  # for one file
ANSWER_S_MAX = 600.0  # by the clock on the wall, for a computer that stands still; like START_S_MAX no file's fault
START_S_MAX = 60.0  # of the process, on a busy machine
ENDING_S = 1.0  # of a child whose pipe has ended
MEMORY_BYTES_MAX = 1_500_000_000
LOOKS_PER_CHILD = 500
MESSAGE_CHARS_MAX = 200
ANSWER_BYTES_MAX = 4_096
READY = b"ready\n"
COMMAND = ("-P", "-m", "holdfast.recipes.documents.pdf_process")  # -P: nothing of the current folder is imported


class PdfLook(msgspec.Struct, frozen=True):
    """`error` is "" for a PDF that opens. `was_opened` is False where nobody could look to the end: no pypdf, no
    process, or not enough time.

    An encrypted PDF opens, and its pages are not known.
    """

    pages: int | None = None
    error: str = ""
    was_opened: bool = True


NOBODY_LOOKED = PdfLook(was_opened=False)


class PdfProcess:
    """`look(path)` gives what the child saw. Starts with the first file; `close` ends it. Not for several threads."""

    def __init__(
        self, *, cpu_s: float = CPU_S_MAX, answer_s: float = ANSWER_S_MAX, memory_bytes: int = MEMORY_BYTES_MAX
    ) -> None:
        self._answer_s = answer_s
        self._child = ChildProcess(*COMMAND, str(memory_bytes), str(cpu_s))
        self._looks = 0

    def __call__(self, path: str) -> PdfLook:
        """A child that dies over a file is the file's fault, one that has no time left is not; the next file gets a new
        one."""
        if self._looks >= LOOKS_PER_CHILD:
            self.close()
        if self._child.pid is None and not self._started():
            return NOBODY_LOOKED
        try:
            return self._asked(path)
        except TimeoutError:
            self.close()
            return NOBODY_LOOKED
        except (OSError, EOFError, ValueError):
            if self.close(ENDING_S) == OUT_OF_TIME:
                return NOBODY_LOOKED
            return PdfLook(error="opening it took too much memory, or ended the process that tried")

    @property
    def pid(self) -> int | None:
        return self._child.pid

    def close(self, patience_s: float = 0.0) -> int | None:
        """The exit code of the child, if there was one: its own, where it ends by itself within `patience_s`."""
        self._looks = 0
        return self._child.end(patience_s)

    def _started(self) -> bool:
        """Whether a child is there and has said so. It loads pypdf before, so that no file pays for that."""
        try:
            _, answers = self._child.pipes()
            return _line(answers, START_S_MAX) == READY
        except (CannotStart, OSError, EOFError):  # a time-out is an OSError
            self.close()
            return False

    def _asked(self, path: str) -> PdfLook:
        paths, answers = self._child.pipes()
        self._looks += 1
        paths.write(json.dumps(path).encode() + b"\n")
        paths.flush()
        return PdfLook(**json.loads(_line(answers, self._answer_s)))


def _line(source: IO[bytes], seconds: float) -> bytes:
    """One line of the child. The deadline is for its first byte; a line is written at once."""
    readable, _, _ = select.select([source], [], [], seconds)
    if not readable:
        raise TimeoutError
    line = b""
    while not line.endswith(b"\n"):
        part = os.read(source.fileno(), ANSWER_BYTES_MAX)
        if not part:
            raise EOFError
        line += part
    return line


def look_at(path: str) -> PdfLook:
    """In the child: open the file as strictly as a reader that must show every page would."""
    try:
        from pypdf import PdfReader
        from pypdf.errors import PyPdfError
    except ImportError:
        return NOBODY_LOOKED
    try:
        reader = PdfReader(path, strict=False)
        if reader.is_encrypted:
            return PdfLook()
        pages = len(reader.pages)
        missing = sum(not _is_there(page) for page in reader.pages)
        root: Any = reader.root_object
        if missing or pages < int(root["/Pages"].get("/Count", pages)):
            return PdfLook(error=f"it says it has pages that are not there ({missing or 'whole ones'})")
    except (PyPdfError, OSError, ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError) as error:
        return PdfLook(error=" ".join(str(error).split())[:MESSAGE_CHARS_MAX] or type(error).__name__)
    return PdfLook(pages) if pages else PdfLook(error="it has no pages")


def _is_there(page: Any) -> bool:
    """Whether what a page shows can be found; a page may show nothing. Its streams are not unpacked."""
    return "/Contents" not in page or page["/Contents"] is not None


def serve(source: IO[bytes], out: IO[bytes], cpu_s: float = CPU_S_MAX) -> None:
    """Says that it is there, then gives one answer per path, until there are no more."""
    with suppress(ImportError):
        import pypdf  # noqa: F401 - loaded before a file's time begins
    out.write(READY)
    out.flush()
    for line in source:
        limit_time(cpu_s)
        out.write(json.dumps(asdict(look_at(json.loads(line)))).encode() + b"\n")
        out.flush()


if __name__ == "__main__":
    run_child(partial(serve, cpu_s=float(sys.argv[2])), int(sys.argv[1]))
