"""`holdfast label JOB TARGET... LABEL`: mark results, so that they can be filtered. A crawl does not heed marks; a job
that collects a number of results has others take the place of those that are marked `rejected`."""

from __future__ import annotations

from holdfast.cli.call import Call
from holdfast.cli.parser import Parser
from holdfast.control.label import label
from holdfast.control.rescope import refill
from holdfast.errors import UsageError
from holdfast.model.spelling import count_of
from holdfast.policy.marks import REJECTED, check_word


def arguments(parser: Parser) -> None:
    parser.add_argument("job", metavar="JOB", help="name or id")
    parser.add_argument("words", nargs="+", metavar="TARGET... LABEL", help="ids (T-9), keys or URLs, then the mark")
    parser.add_argument("--remove", action="store_true", help="take the marks away: only TARGETs are given then")


def run(call: Call) -> int:
    *named, last = call.options.words
    targets, word = ([*named, last], None) if call.options.remove else (named, check_word(last))
    if not targets:
        raise UsageError("label needs a TARGET and a LABEL", hint="holdfast label docs T-9 rejected")
    with call.existing_ledger(to_change=True) as ledger:
        job = ledger.job(call.options.job)
        marked = label(ledger, job, targets, word, actor="cli")
        told = "without a mark" if word is None else f"marked {word}"
        call.console.say(f"{count_of(marked, 'target')} of {job.name} {told}.")
        if word == REJECTED and refill(ledger, ledger.job(job.id), actor="cli"):
            call.console.say(f"Others take their place: holdfast resume {job.word}")
        if call.globals.json:
            call.console.document({"schema": "holdfast.label/1", "job": job.uid, "label": word, "targets": marked})
    return 0
