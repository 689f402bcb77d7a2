"""Where results go: the options -o and --to, and writing the export whole or not at all."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from holdfast.cli.call import Call
from holdfast.cli.parser import Parser
from holdfast.cli.summary import exported
from holdfast.errors import BadParams, UsageError

if TYPE_CHECKING:
    from holdfast.model.job import Counts, Job
    from holdfast.ports import Ledger

STDOUT = "-"
FORMATS = ("jsonl",)
OURS = ("ledger.db", "segments", "artifacts", "snapshots", "spool", "logs", "reserve")  # ux 3.6


@dataclass(frozen=True, slots=True)
class Output:
    """`path` is None for stdout."""

    path: Path | None


def arguments(parser: Parser) -> None:
    group = parser.add_argument_group("results")
    group.add_argument("-o", "--output", metavar="PATH", help="write results when the command ends; - is stdout")
    group.add_argument("--to", choices=(*FORMATS, "none"), help="the form of the results (from the suffix of PATH)")


def read_output(call: Call, name: str | None, form: str | None) -> Output | None:
    """Where to write, checked before any work begins; None: nowhere."""
    if form == "none":
        return None
    if name is None:
        if form is not None:
            raise UsageError(f"--to {form} needs a file to write to: -o FILE.{form}, or -o - for stdout")
        return None
    if name == STDOUT:
        if call.globals.json or call.globals.jsonl:
            raise UsageError("stdout can carry one thing: -o - or --json/--jsonl; write the results to a file")
        return Output(None)
    path = Path(name)
    if form is None and path.suffix != ".jsonl":
        raise UsageError(f"{name}: the suffix names no form that can be written", hint=f"-o {path.stem}.jsonl")
    return Output(_writable(path, call.settings.data))


def _writable(path: Path, data: Path) -> Path:
    """Checked before any work begins, so that hours of crawling do not end in a file that cannot be written.

    The file itself, not a link to it: a rename would put a file in the link's place. And never in the place of what
    the data folder keeps: the ledger, the pages.
    """
    real, folder = path.resolve(), data.resolve()
    if folder in real.parents and real.relative_to(folder).parts[0].startswith(OURS):
        raise BadParams(f"{path} is where the data folder keeps its own", hint="write results somewhere else")
    if not real.parent.is_dir():
        raise BadParams(f"{path}: there is no folder {real.parent}", hint=f"mkdir -p {real.parent}")
    if not os.access(real.parent, os.W_OK | os.X_OK):
        raise BadParams(f"{path}: the folder {real.parent} cannot be written")
    if real.is_dir():
        raise BadParams(f"{path} is a folder; name a file in it", hint=f"-o {path}/results.jsonl")
    if real.exists() and not real.is_file():
        raise BadParams(f"{path} is not a regular file; -o - writes to stdout")
    return real


def write_results(call: Call, ledger: Ledger, job: Job, counts: Counts, output: Output) -> int:
    """The results as of the last commit; an unfinished job says so."""
    from holdfast import wiring
    from holdfast.engine.export import write_jsonl

    if counts.left:
        call.voice.say(f"partial: {counts.left} pending")
    if output.path is None:
        written = write_jsonl(ledger, job.id, call.voice.write_bytes_out)
        call.voice.out.flush()
        return written
    path, lines = output.path, 0

    def write(file: BinaryIO) -> None:
        nonlocal lines
        lines = write_jsonl(ledger, job.id, file.write)

    wiring.publish(path, write)
    call.voice.say(exported(lines, str(path), path.stat().st_size))
    return lines
