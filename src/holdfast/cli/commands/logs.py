"""`holdfast logs JOB`: the lines of a job's log, and with -f those to come. Only reads."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any, Protocol

from holdfast import wiring
from holdfast.cli.call import Call
from holdfast.cli.parser import Parser
from holdfast.cli.screen.text import clean, to_json
from holdfast.cli.screen.values import whole
from holdfast.cli.signals import SignalHandlers, handling_signals
from holdfast.engine.recovery import holder_of
from holdfast.engine.reference import find
from holdfast.model.job import Job
from holdfast.model.logline import LEVELS, read_line
from holdfast.ports import Ledger
from holdfast.recipes.catalogue import kind_of

LINES_SHOWN = 100
FOLLOW_EVERY_S = 0.5
Line = tuple[str, dict[str, Any]]


class LogLines(Protocol):
    """A log that is read on from where it was."""

    def lines(self) -> Iterator[str]: ...


def arguments(parser: Parser) -> None:
    parser.add_argument("job", metavar="JOB", help="name or id")
    parser.add_argument("-f", "--follow", action="store_true", help="go on with new lines until the job stops")
    parser.add_argument("--level", choices=LEVELS, default="debug", help="this level and above (all)")
    parser.add_argument("--target", metavar="T-N|URL", help="only the lines about this target; or its path or key")
    parser.add_argument(
        "--limit", type=whole(1, 10**9), metavar="N", help=f"the last N lines ({LINES_SHOWN}; all in JSON)"
    )


def run(call: Call) -> int:
    handlers = SignalHandlers(call.settings.pause_deadline_s)
    with call.existing_ledger() as ledger, handling_signals(handlers):
        job = ledger.job(call.options.job)
        reader = wiring.journal_reader(call.settings, job)
        about = _about(call, ledger, job)
        if call.globals.json:
            call.console.listing("log", [fields for _, fields in _last(call, _fitting(call, reader.lines(), about))])
            return 0
        shown = 0
        for line in _last(call, _fitting(call, reader.lines(), about)):
            shown += 1
            _show(call, line)
        if call.options.follow:
            _follow(call, ledger, job, reader, handlers, about)
        elif not shown:
            call.console.say(f"No log lines of {job.name} fit." if _is_choosy(call) else f"{job.name} has no log yet.")
    return 0


def _about(call: Call, ledger: Ledger, job: Job) -> tuple[str, ...]:
    """The id and the URL of the target that is meant, as `explain` understands it; nothing where none was named."""
    if call.options.target is None:
        return ()
    row, address = find(ledger, job, kind_of(job), call.options.target)
    return (f"T-{row.id:x}", row.url) if row is not None else (address.url,) if address is not None else ()


def _follow(
    call: Call, ledger: Ledger, job: Job, reader: LogLines, handlers: SignalHandlers, about: tuple[str, ...]
) -> None:
    """Until no process works the job any more, or Ctrl-C: a process that is gone has written everything."""
    while not handlers.stopped:
        is_over = holder_of(ledger, ledger.job(job.id)) is None
        for line in _fitting(call, reader.lines(), about):
            _show(call, line)
        call.console.out.flush()
        if is_over:
            call.console.say(f"No process works {job.name} any more.")
            return
        handlers.wait(FOLLOW_EVERY_S)


def _fitting(call: Call, lines: Iterator[str], about: tuple[str, ...]) -> Iterator[Line]:
    wanted = LEVELS[LEVELS.index(call.options.level) :]
    for text in lines:
        fields = read_line(text)
        if fields is not None and fields["level"] in wanted and _is_about(about, fields):
            yield text, fields


def _is_about(about: tuple[str, ...], fields: dict[str, Any]) -> bool:
    """A line names its target by id or by URL, or both."""
    return not about or fields.get("target") in about or fields.get("url") in about


def _last(call: Call, lines: Iterator[Line]) -> Iterator[Line]:
    limit = call.options.limit
    if limit is None and (call.globals.json or call.globals.jsonl):
        return lines
    return iter(deque(lines, maxlen=limit or LINES_SHOWN))


def _show(call: Call, line: Line) -> None:
    text, fields = line
    call.console.data(to_json(fields) if call.globals.jsonl else clean(text))


def _is_choosy(call: Call) -> bool:
    return call.options.target is not None or call.options.level != LEVELS[0]
