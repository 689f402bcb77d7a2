"""`holdfast selftest`: reads the options; the test itself is in holdfast.testing. It touches no existing ledger."""

from __future__ import annotations

from holdfast.cli.call import Call
from holdfast.cli.parser import Parser
from holdfast.cli.screen.values import whole

WRITES_STDOUT_ITSELF = True  # what it shows is what was asked for


def arguments(parser: Parser) -> None:
    parser.add_argument("--pages", type=whole(1, 1_000_000), default=3000, metavar="N", help="size of the tree (3000)")
    parser.add_argument("--kill", type=whole(0, 10_000), default=20, metavar="N", help="how often to SIGKILL (20)")
    parser.add_argument("--processes", type=whole(1, 16), default=1, metavar="N", help="worker processes (1)")
    parser.add_argument("--seed", type=whole(0, 2**53), metavar="S", help="the same seed kills at the same moments")


def run(call: Call) -> int:
    from holdfast.testing import selftest

    options, everywhere = call.options, call.globals
    return selftest.run(
        options.pages,
        options.kill,
        options.seed,
        call.settings.database_url,
        processes=options.processes,
        json=everywhere.json,
        plain=everywhere.plain,
        color=not everywhere.no_color,
    )
