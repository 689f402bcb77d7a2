"""`holdfast cancel JOB`: stop for good, when the pages in hand are done or at once."""

from __future__ import annotations

from holdfast.cli.call import Call
from holdfast.cli.commands import pause
from holdfast.cli.parser import Parser
from holdfast.control import stopping


def arguments(parser: Parser) -> None:
    pause.arguments(parser)
    parser.add_argument("--now", action="store_true", help="do not wait for the pages in hand: they are cancelled, too")


def run(call: Call) -> int:
    now = call.options.now
    return pause.stopped(call, "cancel", lambda ledger, job: stopping.cancel(ledger, job, actor="cli", now=now))
