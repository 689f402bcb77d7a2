"""`holdfast cancel JOB`: stop for good, when the pages in hand are done or at once."""

from __future__ import annotations

from holdfast.cli import stop
from holdfast.cli.call import Call
from holdfast.cli.parser import Parser
from holdfast.engine import control


def arguments(parser: Parser) -> None:
    stop.arguments(parser)
    parser.add_argument("--now", action="store_true", help="do not wait for the pages in hand: they are cancelled, too")


def run(call: Call) -> int:
    now = call.options.now
    return stop.stopped(call, "cancel", lambda ledger, job: control.cancel(ledger, job, actor="cli", now=now))
