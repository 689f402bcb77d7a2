"""`holdfast verify JOB`: the audit's checks for one job; --deep also reads every body. Only reads; findings exit 9."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from holdfast import wiring
from holdfast.cli import exits
from holdfast.cli.call import Call
from holdfast.cli.parser import Parser
from holdfast.control.losses import every_page
from holdfast.errors import Corrupt, NotFound
from holdfast.model.job import Job
from holdfast.model.outcome import BodyRef
from holdfast.model.spelling import count_of
from holdfast.model.target import PageRow
from holdfast.ports import Ledger

BODIES_CHECK = "F1"
FILES_CHECK = "F1.file"
FILE_CHECK = "C1.file"


def arguments(parser: Parser) -> None:
    parser.add_argument("job", metavar="JOB", help="name or id")
    parser.add_argument(
        "--deep", action="store_true", help="also read every stored body and file and compare its sha256"
    )


def run(call: Call) -> int:
    with call.existing_ledger() as ledger:
        damage = [_finding(FILE_CHECK, f"the ledger's file is damaged: {text}", []) for text in ledger.damage()]
        try:
            judged = _judged(call, ledger)
        except Exception as error:  # rows of a damaged file may break any reader, and the damage is known
            if not damage:
                raise
            reason = f"nothing else could be judged: {type(error).__name__}: {error}"
            judged = JobFindings(None, call.options.job, [_finding(FILE_CHECK, reason, [])])
    judged.findings[:0] = damage
    if call.globals.json or call.globals.jsonl:
        document = {"schema": "holdfast.verify/1", "job": judged.uid, "name": judged.name, "ok": not judged.findings}
        call.console.document(
            {**document, "bodies_read": judged.bodies, "files_read": judged.files, "findings": judged.findings}
        )
    else:
        _tell(call, judged)
    return exits.CHECK_FAILED if judged.findings else exits.OK


@dataclass(slots=True)
class JobFindings:
    """What was found in one job; without an id where not even its row could be read."""

    uid: str | None
    name: str
    findings: list[dict[str, Any]]
    bodies: int = 0
    files: int = 0


def _judged(call: Call, ledger: Ledger) -> JobFindings:
    from holdfast.audit.verify import verify

    job = ledger.job(call.options.job)
    found = [_finding(each.check, each.sentence, each.rows) for each in verify(ledger.query, job.id)]
    found += _segments(call, ledger, job)
    found += _files(call, ledger, job)
    bodies, damaged = _bodies(call, ledger, job) if call.options.deep else (0, [])
    files, wrong = _file_contents(call, ledger, job) if call.options.deep else (0, [])
    return JobFindings(job.uid, job.name, found + damaged + wrong, bodies, files)


def _finding(check: str, detail: str, rows: Any) -> dict[str, Any]:
    return {"check": check, "detail": detail, "rows": [[_plain(cell) for cell in row] for row in rows]}


def _plain(cell: Any) -> Any:
    return bytes(cell).hex() if isinstance(cell, (bytes, memoryview)) else cell


def _segments(call: Call, ledger: Ledger, job: Job) -> list[dict[str, Any]]:
    """The files that bodies lie in: there, and long enough. What is in them is read by --deep only."""
    from holdfast.audit.segments import short_segments

    short = short_segments(ledger.query, job.id, lambda name: wiring.segment_size(call.settings, name))
    return [_finding(BODIES_CHECK, str(each), []) for each in short]


def _files(call: Call, ledger: Ledger, job: Job) -> list[dict[str, Any]]:
    """Files of their own: there, and of the size that the ledger says."""
    from holdfast.audit.artifacts import wrong_files

    wrong = wrong_files(ledger.query, job.id, wiring.files_of(call.settings).size)
    return [_finding(FILES_CHECK, str(each), []) for each in wrong]


def _file_contents(call: Call, ledger: Ledger, job: Job) -> tuple[int, list[dict[str, Any]]]:
    """Every file that is there: read piece by piece, and hashed. What is missing or cut short was told already."""
    from holdfast.audit.artifacts import stored_files

    files, read, damaged = wiring.files_of(call.settings), 0, []
    for row in stored_files(ledger.query, job.id):
        if files.size(row.path) != row.size:
            continue
        read += 1
        try:
            files.check(row.path, row.sha256)
        except (Corrupt, NotFound) as error:
            damaged.append(_finding(FILES_CHECK, f"T-{row.target:x}: {error.message}", []))
    return read, damaged


def _bodies(call: Call, ledger: Ledger, job: Job) -> tuple[int, list[dict[str, Any]]]:
    """Every body that a succeeded target refers to: read, decoded, hashed."""
    blobs = wiring.blobs_of(call.settings, job)
    read, damaged = 0, []
    try:
        for row in every_page(ledger, job.id):
            read += 1
            try:
                blobs.read(_reference(row))
            except (Corrupt, NotFound) as error:
                damaged.append(_finding(BODIES_CHECK, f"T-{row.target:x} {row.url}: {error.message}", []))
    finally:
        blobs.close()
    return read, damaged


def _reference(row: PageRow) -> BodyRef:
    return BodyRef(row.segment, row.offset, row.length, row.size, row.sha256, row.media)


def _tell(call: Call, judged: JobFindings) -> None:
    read = f", {count_of(judged.bodies, 'body').replace('bodys', 'bodies')} read" if call.options.deep else ""
    read += f", {count_of(judged.files, 'file')} read" if judged.files else ""
    if not judged.findings:
        call.console.data(f"{judged.name}: every check holds{read}.")
        return
    call.console.insist(f"{judged.name}: {count_of(len(judged.findings), 'finding')}{read}.")
    for finding in judged.findings:
        rows = f" ({count_of(len(finding['rows']), 'row')})" if finding["rows"] else ""
        call.console.insist(f"  {finding['check']}: {finding['detail']}{rows}")
