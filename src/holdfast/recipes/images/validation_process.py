"""Decoders in processes of their own: bounded in memory and time, replaced when they die and after 2,000 files.

What decodes strangers' files must not be able to take the crawl with it, and must not keep the event loop waiting. A
process gets files in batches, because a message each costs more than a small picture's decoding. When a batch kills its
process, its files are tried one by one, and the one that kills again is `crashed`.

Time is the decoder's own processor time, its start not counted, so that a busy computer condemns no file. What gets no
answer for long by the clock on the wall is given back.
"""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any

import msgspec

from holdfast.clock import SystemClock
from holdfast.errors import FetchError
from holdfast.recipes.child_process import (
    LENGTH_BYTES,
    OUT_OF_TIME,
    CannotStart,
    ChildProcess,
    limit_time,
    read_message,
    run_child,
    write_message,
)
from holdfast.recipes.images.validation import Rules, Validation, load_decoders, validate

COMMAND = ("-P", "-m", "holdfast.recipes.images.validation_process")
MEMORY_BYTES_MAX = 2 * 1024**3  # of addresses: 100 megapixels take 400 MB, twice while they are turned
CPU_S_MAX = 20.0  # for one file
ANSWER_S_MAX = 600.0  # for one file by the clock on the wall, for a computer that stands still; no file's fault
START_S_MAX = 60.0  # of the process, on a busy machine
ENDING_S = 1.0  # of a child whose pipe has ended
FILES_MAX = 2_000  # then the process is replaced, with what its decoders leaked
BATCH_BYTES_MAX = 64 * 1024 * 1024

Source = bytes | str  # the bytes, or the path of a file that holds them

_encode = msgspec.msgpack.Encoder().encode
_request = msgspec.msgpack.Decoder(tuple[Rules, list[Any]]).decode  # of Source: bytes and str keep their kind
_answer = msgspec.msgpack.Decoder(list[Validation]).decode


class ValidationProcess:
    """One process, started with the first file. Not thread-safe: see `ValidationPool`."""

    def __init__(self, *, cpu_s: float = CPU_S_MAX, answer_s: float = ANSWER_S_MAX, files_max: int = FILES_MAX) -> None:
        self._child = ChildProcess(*COMMAND, str(cpu_s))
        self._answer_s, self._files_max = answer_s, files_max
        self._files = 0
        self._clock = SystemClock()  # real time: it measures another process

    def check(self, sources: Sequence[Source], rules: Rules) -> list[Validation]:
        """One answer per source, in their order. Blocks; never raises for what is in a file.

        FetchError `no_resources`: there is no decoder, or it gave no answer, and no file is to blame.
        """
        found: list[Validation] = []
        for batch in _batches(sources):
            found += self._batch(batch, rules)
        return found

    def close(self, patience_s: float = 0.0) -> int | None:
        """The exit code of the child, if there was one: its own, where it ends by itself within `patience_s`."""
        self._files = 0
        return self._child.end(patience_s)

    def _batch(self, batch: list[Source], rules: Rules) -> list[Validation]:
        try:
            return self._asked(batch, rules)
        except TimeoutError as error:
            self.close()
            raise FetchError("no_resources", "an image's decoder gave no answer in time") from error
        except (OSError, EOFError, msgspec.DecodeError) as error:
            is_out_of_time = self.close(ENDING_S) == OUT_OF_TIME
            if len(batch) == 1:
                why = "it takes too long to decode" if is_out_of_time else str(error) or "its decoder died"
                return [Validation(_size(batch[0]), ("crashed",), why)]
        return [found for source in batch for found in self._batch([source], rules)]

    def _asked(self, batch: list[Source], rules: Rules) -> list[Validation]:
        if self._files >= self._files_max:
            self.close()
        if self._child.pid is None:
            self._start()
        requests, answers = self._child.pipes()
        self._files += len(batch)
        write_message(requests, _encode((rules, batch)))
        found = _answer(self._read_in_time(answers, self._answer_s * len(batch)))
        if len(found) != len(batch):
            raise EOFError("a decoder answered for another number of files")
        return found

    def _start(self) -> None:
        """A child that has said that it is there. It loads Pillow before, so that no file pays for that."""
        try:
            self._read_in_time(self._child.pipes()[1], START_S_MAX)
        except (OSError, EOFError) as error:  # a time-out is an OSError
            self.close()
            raise CannotStart(f"a decoder of images did not begin ({error})", passes=True) from error

    def _read_in_time(self, source: IO[bytes], seconds: float) -> bytes:
        """As `read_message`; past the deadline TimeoutError is raised, and the process is of no further use."""
        deadline_ms = self._clock.monotonic_ms() + seconds * 1000
        held = b""
        wanted = LENGTH_BYTES
        while len(held) < wanted:
            left_ms = deadline_ms - self._clock.monotonic_ms()
            if left_ms <= 0 or not select.select([source], [], [], left_ms / 1000)[0]:
                raise TimeoutError("its decoder took too long")
            part = os.read(source.fileno(), 1 << 20)
            if not part:
                raise EOFError("its decoder died")
            held += part
            if len(held) >= LENGTH_BYTES:
                wanted = LENGTH_BYTES + int.from_bytes(held[:LENGTH_BYTES], "big")
        return held[LENGTH_BYTES:]


class ValidationPool:
    """Several processes behind one call that any thread may make: `await asyncio.to_thread(pool.check, bodies, rules)`.

    At most `processes` calls are worked at a time, others wait. Closing it ends the processes.
    """

    def __init__(self, processes: int = 1) -> None:
        self._all = [ValidationProcess() for _ in range(max(1, processes))]
        self._free: SimpleQueue[ValidationProcess] = SimpleQueue()
        for process in self._all:
            self._free.put(process)

    def check(self, sources: Sequence[Source], rules: Rules) -> list[Validation]:
        with self._one() as process:
            return process.check(sources, rules)

    def close(self) -> None:
        """Call it when no `check` is under way."""
        for process in self._all:
            process.close()

    @contextmanager
    def _one(self) -> Iterator[ValidationProcess]:
        process = self._free.get()
        try:
            yield process
        finally:
            self._free.put(process)


def serve(source: IO[bytes], out: IO[bytes], cpu_s: float = CPU_S_MAX) -> None:
    """Says that it is there, then gives one answer per batch, until there are no more."""
    load_decoders()
    write_message(out, b"")
    with suppress(EOFError):
        while True:
            rules, sources = _request(read_message(source))
            write_message(out, _encode([_validated(one, rules, cpu_s) for one in sources]))


def _validated(source: Source, rules: Rules, cpu_s: float) -> Validation:
    limit_time(cpu_s)
    if isinstance(source, bytes):
        return validate(source, rules)
    size = _size(source)
    if size > rules.bytes_max:  # not even read
        return Validation(size, ("too_many_bytes",), f"{size} bytes, more than {rules.bytes_max}")
    return validate(Path(source).read_bytes(), rules)


def _batches(sources: Sequence[Source]) -> Iterator[list[Source]]:
    batch: list[Source] = []
    held = 0
    for source in sources:
        size = len(source) if isinstance(source, bytes) else 0
        if batch and held + size > BATCH_BYTES_MAX:
            yield batch
            batch, held = [], 0
        batch.append(source)
        held += size
    if batch:
        yield batch


def _size(source: Source) -> int:
    if isinstance(source, bytes):
        return len(source)
    try:
        return os.stat(source).st_size
    except OSError:
        return 0


if __name__ == "__main__":
    run_child(partial(serve, cpu_s=float(sys.argv[1])), MEMORY_BYTES_MAX)
