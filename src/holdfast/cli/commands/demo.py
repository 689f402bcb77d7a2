"""`holdfast demo [WORLD]`: reads the options; the story itself is in holdfast.demo."""

from __future__ import annotations

from holdfast.cli.call import Call
from holdfast.cli.parser import Parser
from holdfast.errors import UsageError

WRITES_STDOUT_ITSELF = True  # what it shows is what was asked for


def arguments(parser: Parser) -> None:
    from holdfast.demo.scenes import SHOWN

    first, *others, last = SHOWN
    worlds = f"{first} (default), {', '.join(others)} or {last}"
    parser.add_argument("world", nargs="?", default=first, metavar="WORLD", help=worlds)
    parser.add_argument("--keep", action="store_true", help="keep the folder it worked in; --data DIR names one")


def run(call: Call) -> int:
    from holdfast.demo import scenes, story

    options = call.globals
    if options.json or options.jsonl:
        raise UsageError("demo tells a story to people and has no JSON", hint="numbers: holdfast selftest --json")
    if call.options.world == scenes.JUDGMENTS:
        from holdfast.demo import collection

        return collection.run(
            data=options.data, keep=call.options.keep, plain=options.plain, color=not options.no_color
        )
    return story.run(
        call.options.world,
        data=options.data,
        keep=call.options.keep,
        plain=options.plain,
        color=not options.no_color,
    )
