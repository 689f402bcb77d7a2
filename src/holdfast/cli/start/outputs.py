"""Where results go: the options -o and --to, and writing the export whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import msgspec

from holdfast.cli.call import Call
from holdfast.cli.parser import Parser
from holdfast.cli.screen.summary import exported
from holdfast.config.results_file import writable, writable_folder
from holdfast.errors import BadParams, UsageError
from holdfast.model.spelling import as_word
from holdfast.recipes.catalogue import kind_of
from holdfast.views.exports.forms import DEFAULT, FORMS, NAMES, form_by_ending

if TYPE_CHECKING:
    from holdfast.model.job import Counts, Job
    from holdfast.model.target import PageRow
    from holdfast.ports import Ledger
    from holdfast.views.results import Fields

STDOUT = "-"
MARKDOWN, FILES = "md", "files"
OVER = ("completed", "timeout")  # nothing works such a job unless it is asked to
SAID_FROM = 50  # results: more of them may take a while to be derived and written


class Output(msgspec.Struct, frozen=True):
    """`path` is None for stdout."""

    path: Path | None
    form: str = DEFAULT


class Selection(msgspec.Struct, frozen=True):
    """Which results, and what of them. `dated_ms`: the date of every result, else that of its fetch."""

    where: Sequence[tuple[str, bool, tuple[str, ...]]] = ()
    fields: Fields | None = None
    distinct: bool = False
    distinct_text: bool = False
    dated_ms: int | None = None
    shard: int | None = None  # images in one file, where a form has many
    split: str = ""

    @property
    def is_whole(self) -> bool:
        return not (self.where or self.fields or self.distinct or self.distinct_text)


ALL = Selection()


def arguments(parser: Parser) -> None:
    group = parser.add_argument_group("results")
    group.add_argument("-o", "--output", metavar="PATH", help="write results when the command ends; - is stdout")
    group.add_argument(
        "--to",
        choices=(*NAMES, "none"),
        metavar="FORM",
        help=f"the form of the results: {', '.join(NAMES)} or none (from the suffix of PATH)",
    )


def read_output(call: Call, name: str | None, form: str | None) -> Output | None:
    """Where to write, checked before any work begins; None: nowhere."""
    if form == "none":
        return None
    if name is None:
        if form is not None:
            what, place = ("folder", "FOLDER") if FORMS[form].is_folder else ("file", "FILE")
            ending = FORMS[form].ending
            raise UsageError(f"--to {form} needs a {what} to write to: -o {place}{ending}, or -o - for stdout")
        return None
    if name == STDOUT:
        if call.globals.json or call.globals.jsonl:
            raise UsageError("stdout can carry one thing: -o - or --json/--jsonl; write the results to a file")
        chosen = FORMS[form or DEFAULT]
        if not chosen.is_text and call.console.out.isatty():
            raise UsageError(f"{chosen.title} is not for a terminal: -o FILE{chosen.ending}, or a pipe")
        return Output(None, chosen.name)
    if form is not None and FORMS[form].is_folder:
        _refuse_file_name(name, f"--{'format' if call.command == 'export' else 'to'} {form}")
    return _placed(call, name, form or _form_of(name))


def _refuse_file_name(name: str, asked: str) -> None:
    """A folder called `x.jsonl` is not what anybody meant, unless it is there."""
    if asked.endswith(f" {MARKDOWN}") and Path(name).suffix == f".{MARKDOWN}" and not is_folder(name):
        raise _is_no_file(name)
    meant = form_by_ending(name)
    if meant is not None and not meant.is_folder and not os.path.isdir(name):
        folder = name.removesuffix(meant.ending)
        raise UsageError(f"{asked} writes a folder, and {name} is the name of a file: -o {folder}/")


def _placed(call: Call, name: str, form: str) -> Output:
    check = writable_folder if FORMS[form].is_folder else writable
    return Output(check(Path(name), call.settings.data), form)


def keep_output(call: Call, ledger: Ledger, job: Job, output: Output | None) -> Job:
    """The job, which remembers the file for whatever command works it next; `--to none` makes it forget."""
    forget = call.options.to == "none" and call.options.output is None
    if not forget and (output is None or output.path is None):
        return job
    if output is not None:
        _refuse_input(job, output)
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
        output = _placed(call, job.options.output, job.options.output_form)
        _refuse_input(job, output)
        return output
    except BadParams as error:
        call.console.insist(f"Results are not written: {error.message}. Elsewhere: holdfast export {job.word} -o FILE")
        return None


def written_before(call: Call, job: Job) -> str | None:
    """Where the results of a complete job lie, which it wrote when it ended. What lies in the place of one that was set
    aside is another's."""
    path = job.options.output if job.status == "completed" and job.identity is not None else ""
    if not path or not Path(path).exists():
        return None
    return not_whole(job) if owes_results(call, job) else shown(Path(path))


def owes_results(call: Call, job: Job) -> bool:
    """Whether a job that is over has results to write: it was killed while it wrote them, or they are gone."""
    from holdfast import wiring
    from holdfast.views.exports.whole import is_whole

    path, form = job.options.output, job.options.output_form
    if job.status not in OVER or not path or job.identity is None:
        return False
    return wiring.owes_results(call.settings, job) or not is_whole(wiring.storage(call.settings), Path(path), form)


def not_whole(job: Job, output: Output | None = None) -> str:
    """Said in place of where the results are: these, or those that the job remembers."""
    output = output or Output(Path(job.options.output), job.options.output_form)
    assert output.path is not None
    what = "NOT written whole" if output.path.exists() else "NOT there"
    return f"{_place(output.path, output.form)}, {what}: {export_again(job, output.path, output.form)}"


def export_again(job: Job, path: Path, form: str) -> str:
    """The command that writes these results."""
    place = _place(path, form)
    meant = form_by_ending(place)
    named = "" if meant is not None and meant.name == form else f" --format {form}"
    return f"holdfast export {job.word} -o {as_word(place)}{named}"


def interrupted(output: Output, again: str) -> str:
    """What Ctrl-C leaves of results that were being written. A file that was there before is as it was."""
    assert output.path is not None
    how_far = " to the end" if FORMS[output.form].is_folder else ""
    return f"Interrupted: {_place(output.path, output.form)} was not written{how_far}. Again: {again}"


def _place(path: Path, form: str) -> str:
    return f"{shown(path)}{'/' if FORMS[form].is_folder else ''}"


def shown(path: Path) -> str:
    """As it can be opened from here."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def is_folder(name: str) -> bool:
    """Whether a person means a folder."""
    return name.endswith("/") or (name != STDOUT and os.path.isdir(name))


def _form_of(name: str) -> str:
    form = form_by_ending(name)
    if form is not None:
        return form.name
    stem, suffix = Path(name).stem, Path(name).suffix.removeprefix(".")
    if suffix == MARKDOWN or os.path.isdir(name):
        raise _is_no_file(name)
    hint = f"-o {stem}.warc.gz" if suffix in ("warc", "gz") else f"-o {stem}.jsonl"
    raise UsageError(f"{name}: the suffix names no form that can be written", hint=hint)


def _is_no_file(name: str) -> UsageError:
    return UsageError(f"{name}: Markdown is a folder of files, one per page", hint=f"-o {Path(name).stem}/")


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

    _refuse_input(job, output)
    if output.path is not None and rows is None and counts.succeeded > SAID_FROM and not call.globals.json:
        call.console.say(f"Writing {_noun(job, output.form)}s to {_place(output.path, output.form)} …")
    is_owed = rows is None and selection.is_whole and _is_remembered(job, output)
    if is_owed:
        wiring.owe_results(call.settings, job)
    with wiring.held_results(call.settings, job) if is_owed else nullcontext():
        written = _write(call, ledger, job, counts, output, selection, rows, apart=apart)
    if is_owed:
        wiring.settle_results(call.settings, job)
    return written


def _is_remembered(job: Job, output: Output) -> bool:
    """Whether this is what the job remembers. One that is worked owes its results until that ends."""
    remembered = (job.options.output, job.options.output_form)
    return job.status != "in_progress" and (str(output.path), output.form) == remembered


def _write(
    call: Call,
    ledger: Ledger,
    job: Job,
    counts: Counts,
    output: Output,
    selection: Selection,
    rows: Iterable[PageRow] | None,
    *,
    apart: bool,
) -> int:
    from holdfast import wiring
    from holdfast.views.exports.exporter import exporter

    if output.path is not None and FORMS[output.form].is_folder:
        return _write_folder(call, ledger, job, counts, output, selection, rows)
    with exporter(
        wiring.storage(call.settings, output.path),
        ledger,
        job,
        where=selection.where,
        fields=selection.fields,
        distinct=selection.distinct,
        distinct_text=selection.distinct_text,
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
    call.console.say(exported(lines, _noun(job, output.form), shown(output.path), output.path.stat().st_size))
    return lines


def _refuse_input(job: Job, output: Output) -> None:
    from holdfast.views.exports.exporter import names_beside
    from holdfast.views.exports.inputs import refuse_input

    if output.path is not None:
        refuse_input(job, output.path, names_beside(output.form, kind_of(job)))


def _write_folder(
    call: Call,
    ledger: Ledger,
    job: Job,
    counts: Counts,
    output: Output,
    selection: Selection,
    rows: Iterable[PageRow] | None,
) -> int:
    from holdfast import wiring
    from holdfast.views.exports.exporter import export_folder

    path, form = output.path, output.form
    assert path is not None
    if rows is not None:
        raise BadParams("a folder is brought up to date as a whole and cannot be followed: --follow is for -o -")
    if counts.left:
        call.console.say(f"partial: {counts.left} pending")
    files = export_folder(
        wiring.storage(call.settings, path),
        ledger,
        job,
        path,
        form,
        where=selection.where,
        fields=selection.fields,
        distinct=selection.distinct,
        distinct_text=selection.distinct_text,
        dated_ms=selection.dated_ms,
        shard=selection.shard,
        split=selection.split,
        tell=call.console.insist,
    )
    call.console.say(exported(files, _noun(job, form), f"{shown(path)}/", None))
    return files


def _noun(job: Job, form: str) -> str:
    """What is counted: pages in some forms, unless the kind has its own way to write them."""
    kind = kind_of(job)
    return kind.noun if form in kind.forms else FORMS[form].noun or kind.noun


def _writer_out(call: Call, form: str) -> Callable[[bytes], object]:
    """Text is cleaned on its way to a terminal; bytes are not."""
    return call.console.write_bytes_out if FORMS[form].is_text else call.console.out.buffer.write
