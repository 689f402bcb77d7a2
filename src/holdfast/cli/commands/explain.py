"""`holdfast explain JOB URL|KEY`: why a target was, or was not, fetched. Only reads."""

from __future__ import annotations

from holdfast.cli.call import Call
from holdfast.cli.parser import Parser
from holdfast.cli.screen.text import clean_lines, table
from holdfast.policy.retry import bare
from holdfast.views.explain import Explanation, attempt_document, explain

HEAD = ("TRY", "BEGAN", "OUTCOME", "CODE", "HTTP", "MS", "MESSAGE")


def arguments(parser: Parser) -> None:
    parser.add_argument("job", metavar="JOB", help="name or id")
    parser.add_argument(
        "target", metavar="URL|KEY", help="any URL or path, known to the job or not; or a target's id or key"
    )


def run(call: Call) -> int:
    with call.existing_ledger() as ledger:
        job = ledger.job(call.options.job)
        found = explain(ledger, job, call.options.target, now_ms=call.clock.wall_ms())
    if call.globals.json or call.globals.jsonl:
        call.console.document(found.document())
    else:
        call.console.data(clean_lines(_text(found)))
    return 0


def _text(found: Explanation) -> str:
    lines = [found.url, f"{found.verdict.replace('_', ' ')}: {found.because}"]
    facts = {
        "target": None if found.target is None else f"T-{found.target.id:x}",
        "rule": found.rule,
        "found on": found.found_on or ("a seed" if found.target is not None and found.target.depth == 0 else None),
        "depth": None if found.depth is None else str(found.depth),
        "to change it" if found.verdict != "redirected" else "see": found.undo,
    }
    lines += [f"  {name}: {value}" for name, value in facts.items() if value is not None]
    if found.attempts:
        tries = [attempt_document(each) for each in found.attempts]
        cells = [
            (
                str(n), each["started_at"] or "-", each["outcome"], each["code"] or "-",
                str(each["http_status"] or "-"), str(each["ms"]),
                bare(each["message"] or "", each["code"] or "", found.url),
            )
            for n, each in enumerate(tries, 1)  # one after the other: after a retry they count from 1 again
        ]  # fmt: skip
        lines += [f"  {line}" for line in table(HEAD, cells).splitlines()]
    return "\n".join(lines)
