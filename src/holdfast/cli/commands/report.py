"""`holdfast report JOB`: the report of a site, as Markdown, JSON or one HTML file. Only reads the job.

A job that made none, or is not complete, gets one of what is stored so far, and that is said.
"""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from holdfast import wiring
from holdfast.cli.call import Call
from holdfast.cli.parser import Parser
from holdfast.cli.screen.text import to_json
from holdfast.cli.screen.values import show_size
from holdfast.cli.start.outputs import STDOUT, shown
from holdfast.config.results_file import writable, writable_folder
from holdfast.errors import UsageError
from holdfast.model.job import Job
from holdfast.ports import Ledger
from holdfast.recipe.kind import Report
from holdfast.recipes.catalogue import kind_of

FORMS = ("md", "json", "html")
SUFFIXES = {".md": "md", ".markdown": "md", ".json": "json", ".html": "html", ".htm": "html"}


def arguments(parser: Parser) -> None:
    parser.add_argument("job", metavar="JOB", help="name or id")
    parser.add_argument(
        "which", nargs="?", metavar="VERSION", help="an earlier report: 2, or that of a run: R-3 (the newest)"
    )
    parser.add_argument(
        "--format", choices=FORMS, metavar="FORM", help="md, json or html; from the suffix of FILE (md)"
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="where to; - is stdout, and so is nothing")
    parser.add_argument(
        "--audit",
        metavar="DIR",
        help="of cases and documents: also write audit_….json and one line per attempt or download into that folder",
    )
    parser.add_argument("--open", action="store_true", help="write it as HTML and open it in the browser")


def run(call: Call) -> int:
    from holdfast.views.exports.inputs import refuse_input
    from holdfast.views.reports import report_reader, written

    form, path = _asked(call)
    with call.existing_ledger() as ledger:
        job, counts, _ = ledger.books(ledger.job(call.options.job).id)
        if path is not None:
            refuse_input(job, path)
        if call.options.audit is not None:
            _write_audit(call, ledger, job)
        if (own := kind_of(job).report) is not None:
            return _of_kind(call, own(ledger, job, call.settings.artifacts), form, path)
        with report_reader(wiring.storage(call.settings), ledger, job, counts) as read:
            report = read(call.options.which)
        if report["metadata"]["partial"]:
            call.console.say(f"partial: {report['metadata']['because']}")
        content = written(report, form)
        if path is None and call.options.open:
            version = report["analysis"]["version"]
            path = call.settings.data / "reports" / job.uid / (f"{version}.html" if version else "now.html")
    if path is None:
        call.console.write_bytes_out(content)
        return 0
    wiring.publish(path, lambda file: _write(file, content), ours=call.options.output is None)
    call.console.say(f"The report is in {shown(path)} ({show_size(float(f'{len(content):.3g}'))}).")
    if call.options.open:
        _open(call, path)
    return 0


def _write_audit(call: Call, ledger: Ledger, job: Job) -> None:
    """Files of a kind that has them, made from the ledger: as whole after a kill as after a good end."""
    make = kind_of(job).audit
    if make is None:
        raise UsageError(f"a job of kind {job.recipe} has no audit files", hint="leave --audit out")
    folder = writable_folder(Path(call.options.audit), call.settings.data)
    folder.mkdir(exist_ok=True)
    for name, lines in make(ledger, job, call.settings.artifacts):
        wiring.publish(folder / name, lambda file, lines=lines: file.writelines(lines))  # type: ignore[misc]
        call.console.say(f"Wrote {shown(folder / name)}.")


def _of_kind(call: Call, report: Report, form: str, path: Path | None) -> int:
    """The report that a kind makes itself: Markdown, or its document as JSON."""
    if form == "html":
        raise UsageError("the report of this kind of job is Markdown or JSON", hint="--format md or --format json")
    content = to_json(report.document).encode() + b"\n" if form == "json" else report.markdown.encode()
    if path is None:
        call.console.write_bytes_out(content)
        return 0
    wiring.publish(path, lambda file: _write(file, content))
    call.console.say(f"The report is in {shown(path)}.")
    return 0


def _asked(call: Call) -> tuple[str, Path | None]:
    """The form and the file; None: stdout."""
    options = call.options
    name = None if options.output in (None, STDOUT) else options.output
    form = options.format or ("html" if options.open else "")
    if options.open and form != "html":
        raise UsageError("--open shows HTML; without it: --format md or --format json")
    if call.globals.json and form in ("", "json"):
        form = "json"
    if name is None:
        return form or "md", None
    suffix = SUFFIXES.get(Path(name).suffix.lower())
    if not form and suffix is None:
        raise UsageError(f"{name}: the suffix names no form", hint="-o report.html, or --format md|json|html")
    return form or str(suffix), writable(Path(name), call.settings.data)


def _write(file: BinaryIO, content: bytes) -> None:
    file.write(content)


def _open(call: Call, path: Path) -> None:
    import webbrowser

    if not webbrowser.open(path.resolve().as_uri()):
        call.console.say("No browser could be opened.")
