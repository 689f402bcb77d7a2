"""Where results go: the options -o and --to, and writing the export whole or not at all."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import msgspec

from holdfast.cli.call import Call
from holdfast.cli.parser import Parser
from holdfast.cli.screen.summary import exported
from holdfast.config.results_file import writable
from holdfast.errors import BadParams, UsageError

if TYPE_CHECKING:
    from holdfast.model.job import Counts, Job
    from holdfast.model.target import PageRow
    from holdfast.ports import Ledger
    from holdfast.views.results import Fields

STDOUT = "-"
SUFFIXES = {".jsonl": "jsonl", ".csv": "csv", ".warc.gz": "warc"}
FORMATS = ("jsonl", "csv", "warc")
LATER = ("md", "parquet", "zip", "webdataset")  # names of the contract that cannot be written yet


@dataclass(frozen=True, slots=True)
class Output:
    """`path` is None for stdout."""

    path: Path | None
    form: str = "jsonl"


@dataclass(frozen=True, slots=True)
class Selection:
    """Which results, and what of them. `dated_ms`: the date of every record of a WARC file, else that of its fetch."""

    where: Sequence[tuple[str, bool, tuple[str, ...]]] = ()
    fields: Fields | None = None
    distinct: bool = False
    dated_ms: int | None = None


ALL = Selection()


def arguments(parser: Parser) -> None:
    group = parser.add_argument_group("results")
    group.add_argument("-o", "--output", metavar="PATH", help="write results when the command ends; - is stdout")
    group.add_argument(
        "--to",
        type=form_of,
        choices=(*FORMATS, "none"),
        metavar="FORM",
        help=f"the form of the results: {', '.join(FORMATS)} or none (from the suffix of PATH)",
    )


def form_of(text: str) -> str:
    """A form that is asked for; those of the contract that cannot be written yet are refused, and offered nowhere."""
    if text in LATER:
        raise argparse.ArgumentTypeError(f"{text} is not available yet; there are: {', '.join(FORMATS)}")
    return text


def read_output(call: Call, name: str | None, form: str | None) -> Output | None:
    """Where to write, checked before any work begins; None: nowhere."""
    if form == "none":
        return None
    if name is None:
        if form is not None:
            suffix = next(suffix for suffix, known in SUFFIXES.items() if known == form)
            raise UsageError(f"--to {form} needs a file to write to: -o FILE{suffix}, or -o - for stdout")
        return None
    if name == STDOUT:
        if call.globals.json or call.globals.jsonl:
            raise UsageError("stdout can carry one thing: -o - or --json/--jsonl; write the results to a file")
        if form == "warc" and call.console.out.isatty():
            raise UsageError("a WARC file is not for a terminal: -o FILE.warc.gz, or a pipe")
        return Output(None, form or "jsonl")
    return Output(writable(Path(name), call.settings.data), form or _form_of(name))


def keep_output(call: Call, ledger: Ledger, job: Job, output: Output | None) -> Job:
    """The job, which remembers the file for whatever command works it next; `--to none` makes it forget."""
    forget = call.options.to == "none" and call.options.output is None
    if not forget and (output is None or output.path is None):
        return job
    path, form = ("", "") if output is None else (str(output.path), output.form)
    if (path, form) == (job.options.output, job.options.output_form):
        return job
    options = msgspec.structs.replace(job.options, output=path, output_form=form)
    return ledger.amend(
        job, options=options, actor="cli", because=f"results go to {path}" if path else "no results file"
    )


def kept_output(call: Call, job: Job) -> Output | None:
    """The file that the job remembers; what cannot be written any more is said and does no harm.

    A job that was set aside has left its file to the one that took its place.
    """
    if not job.options.output or job.identity is None:
        return None
    try:
        return Output(writable(Path(job.options.output), call.settings.data), job.options.output_form)
    except BadParams as error:
        call.console.insist(f"Results are not written: {error.message}. Elsewhere: holdfast export {job.word} -o FILE")
        return None


def shown(path: Path) -> str:
    """As it can be opened from here."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def _form_of(name: str) -> str:
    for suffix, form in SUFFIXES.items():
        if name.endswith(suffix):
            return form
    stem, suffix = Path(name).stem, Path(name).suffix.removeprefix(".")
    if suffix in LATER:
        raise UsageError(f"{name}: {suffix} is not available yet; there are: {', '.join(FORMATS)}")
    hint = f"-o {stem}.warc.gz" if suffix in ("warc", "gz") else f"-o {stem}.jsonl"
    raise UsageError(f"{name}: the suffix names no form that can be written", hint=hint)


def write_results(
    call: Call,
    ledger: Ledger,
    job: Job,
    counts: Counts,
    output: Output,
    selection: Selection = ALL,
    rows: Iterable[PageRow] | None = None,
    *,
    apart: bool = False,
) -> int:
    """The results as of the last commit; an unfinished job says so. Or `rows`, one by one."""
    from holdfast import wiring

    with wiring.exporter(
        call.settings,
        ledger,
        job,
        where=selection.where,
        fields=selection.fields,
        distinct=selection.distinct,
        dated_ms=selection.dated_ms,
        apart=apart,
        tell=call.console.insist,
    ) as export:
        if counts.left and rows is None:
            call.console.say(f"partial: {counts.left} pending")
        if output.path is None:
            written = export(output.form, _writer_out(call, output.form), rows)
            call.console.out.flush()
            return written
        lines = 0

        def write(file: BinaryIO) -> None:
            nonlocal lines
            lines = export(output.form, file.write, rows)

        wiring.publish(output.path, write)
    noun = "page" if output.form == "warc" or job.recipe == "site" else "record"
    call.console.say(exported(lines, noun, shown(output.path), output.path.stat().st_size))
    return lines


def _writer_out(call: Call, form: str) -> Callable[[bytes], object]:
    """Text is cleaned on its way to a terminal; a WARC file is bytes."""
    return call.console.out.buffer.write if form == "warc" else call.console.write_bytes_out
