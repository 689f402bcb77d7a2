"""Where words go: data to stdout, everything else to stderr. Off a terminal no control code is ever written."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TextIO

from holdfast.cli import exits
from holdfast.cli.arguments import ALL_FIELDS, Globals, did_you_mean
from holdfast.cli.screen.text import clean_lines, folded, to_json
from holdfast.errors import HoldfastError, UsageError

FIRST_WORDS = ("a", "an", "cannot", "no", "that", "the", "there", "this")
COLUMNS = 80  # of a terminal that does not say
RETRYABLE = (exits.UNREACHABLE, exits.DISK_FULL)


class Above(Protocol):
    """A live screen that wants words printed above itself."""

    def __call__(self, text: str) -> None: ...


@dataclass(slots=True)
class Console:
    """The command's way to speak. While a live screen is up, `above` takes what is said to people."""

    options: Globals
    out: TextIO
    err: TextIO
    above: Above | None = None

    def say(self, text: str) -> None:
        """A message to people; --quiet silences it."""
        if not self.options.quiet:
            self.insist(text)

    def insist(self, text: str) -> None:
        """A message that --quiet does not silence: refusals, and the summary."""
        try:
            said = fitting(clean_lines(text), self.err)
            if self.above is not None:
                self.above(said)
            else:
                print(said, file=self.err, flush=True)
        except BrokenPipeError:
            raise
        except (OSError, ValueError):  # a full disk behind 2>, a closed file: what cannot be shown stops no work
            pass

    def data(self, text: str) -> None:
        """What was asked for; JSON is never broken into lines."""
        as_json = self.options.json or self.options.jsonl
        print(text if as_json else fitting(text, self.out), file=self.out)

    def document(self, document: dict[str, Any]) -> None:
        """One JSON document, cut down to the fields that were asked for."""
        self.data(to_json(self.selected(document)))

    def selected(self, row: dict[str, Any]) -> dict[str, Any]:
        names = self.fields(row)
        return row if names is None else {name: row[name] for name in names}

    def fields(self, known: Iterable[str]) -> list[str] | None:
        """The names given with --json=FIELDS; None for all. An unknown one is a UsageError that lists what there is."""
        wanted = self.options.fields
        if wanted is None or wanted == ALL_FIELDS:
            return None
        there = list(known)
        names = [name.strip() for name in wanted.split(",")]
        for name in names:
            if name not in there:
                raise UsageError(f"--json: there is no field {name!r}{did_you_mean(name, there)}", hint=" ".join(there))
        return names

    def listing(self, noun: str, rows: Sequence[dict[str, Any]], **beside: Any) -> None:
        """A list as JSON; fields are selected in its rows."""
        picked = [self.selected(row) for row in rows]
        self.data(to_json({"schema": f"holdfast.{noun}/1", noun: picked, "next_cursor": None, **beside}))

    def complain(self, error: HoldfastError) -> None:
        """An error as one sentence with its hint, or as problem+json where JSON was asked for."""
        if self.options.json or self.options.jsonl:
            self.insist(to_json(problem(error)))
            return
        hint = f" ({error.hint})" if error.hint else ""
        self.insist(f"{_as_sentence(error.message)}{hint}")

    @property
    def has_screen(self) -> bool:
        """Whether progress may be drawn: stderr is a terminal that understands it."""
        return self.err.isatty() and os.environ.get("TERM") != "dumb" and not self.options.plain

    def write_bytes_out(self, line: bytes) -> None:
        """Bytes to stdout; on a terminal they are cleaned on their way."""
        buffer = getattr(self.out, "buffer", None)
        if buffer is None or self.out.isatty():
            self.out.write(clean_lines(line.decode()))
        else:
            buffer.write(line)


def _as_sentence(text: str) -> str:
    """With a capital, unless it begins with a name: those stay as they are spelled."""
    return text[:1].upper() + text[1:] if text.partition(" ")[0] in FIRST_WORDS else text


def problem(error: HoldfastError) -> dict[str, Any]:
    """RFC 9457, with the fields of ux 5.1 that only a command has."""
    code = exits.of_error(error)
    return {**error.problem, "instance": None, "retryable": code in RETRYABLE, "exit_code": code}


def fitting(text: str, stream: TextIO) -> str:
    """The text as the stream's terminal can show it; a stream that is not a terminal gets whole lines."""
    return folded(text, columns_of(stream)) if stream.isatty() else text


def columns_of(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or COLUMNS
    except (OSError, ValueError):
        return COLUMNS


def standard_console(options: Globals) -> Console:
    """The process's own streams. A character that the terminal cannot show is spelled out, never an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    return Console(options, sys.stdout, sys.stderr)
