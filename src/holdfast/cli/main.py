"""The command `holdfast`: from argv to an exit code. It loads only what the command needs."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from importlib import import_module
from typing import TYPE_CHECKING

from holdfast.cli.arguments import NAMES, Globals, did_you_mean, take_globals
from holdfast.cli.commands.table import COMMANDS, TOPIC_NAMES, Command, command, overview
from holdfast.errors import HoldfastError, UsageError
from holdfast.version import __version__

if TYPE_CHECKING:
    from holdfast.cli.screen.console import Console
    from holdfast.config import Settings

ELSEWHERE = {"list": "status", "ls": "status", "version": "--version"}  # words of other tools, and ours
REMOVES = ("rm", "remove", "delete")
HELP = ("-h", "--help", "help")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; its exit code is that of ux 3.5."""
    _open_closed_streams()
    try:
        code = _main(argv)
    finally:
        _forget_unsaid()
    if argv is None:
        _leave_threads(code)
    return code


def _main(argv: Sequence[str] | None) -> int:
    words = sys.argv[1:] if argv is None else list(argv)
    try:
        options, rest = take_globals(words)
    except HoldfastError as error:
        return _complain(Globals(), error)
    try:
        return _dispatch(options, rest)
    except BrokenPipeError:
        return _reader_gone()
    except KeyboardInterrupt:
        return 130
    except SystemExit as done:  # argparse has shown its help
        return int(done.code or 0)


def _dispatch(options: Globals, rest: list[str]) -> int:
    """Find the command and let it run; every error ends here as one sentence and a code."""
    if options.version:
        print(f"holdfast {__version__}")
        return 0
    try:
        found = _command(rest)
    except HoldfastError as error:
        return _complain(options, error)
    if found is None:
        return _help(rest[1] if len(rest) > 1 else None) if rest else _run(options, None, [])
    return _run(options, found, rest[1:])


def _command(rest: list[str]) -> Command | None:
    """The command among the words; None: help was asked for, or nothing at all."""
    if not rest:
        return None
    if rest[0] in HELP:
        return _helped(rest)
    if rest[0].startswith("-"):
        raise UsageError(f"there is no option {rest[0]}{did_you_mean(rest[0], NAMES)}", hint="holdfast --help")
    found = command(rest[0])
    if found is None:
        if rest[0] in REMOVES:
            raise UsageError(
                "nothing removes a job yet: `holdfast cancel JOB` stops it for good, and a data folder can be deleted "
                "with all its jobs"
            )
        meant = ELSEWHERE.get(rest[0])
        guess = f"; did you mean {meant}?" if meant else did_you_mean(rest[0], [row.name for row in COMMANDS])
        raise UsageError(f"there is no command {rest[0]!r}{guess}", hint="holdfast --help")
    return found


def _helped(rest: list[str]) -> Command | None:
    """`help COMMAND` is the command's own --help; None: a topic, or the overview."""
    if len(rest) == 1 or rest[0] != "help":
        return None
    named = command(rest[1]) if rest[1] not in TOPIC_NAMES else None  # `resume --help` has the options of `resume`
    if named is not None:
        rest[:] = [named.name, "--help"]
    elif rest[1] not in TOPIC_NAMES:
        known = [*(row.name for row in COMMANDS), *TOPIC_NAMES]
        raise UsageError(
            f"there is no help about {rest[1]!r}{did_you_mean(rest[1], known)}", hint=f"topics: {' '.join(TOPIC_NAMES)}"
        )
    return named


def _help(topic: str | None) -> int:
    from holdfast.cli.screen.console import fitting

    if topic is None:
        print(fitting(overview(), sys.stdout))
        return 0
    from holdfast.cli.screen.topics import TOPICS

    print(fitting(TOPICS[topic][1](), sys.stdout))
    return 0


def _run(options: Globals, found: Command | None, argv: list[str]) -> int:
    from holdfast.cli.call import Call
    from holdfast.cli.screen.console import standard_console
    from holdfast.cli.screen.stdout_capture import stdout_captured
    from holdfast.config import Settings

    console = standard_console(options)
    settings = None
    try:
        module = import_module(f"holdfast.cli.commands.{found.module if found else 'home'}")
        from holdfast.cli.parser import Parser

        name = found.name if found else ""
        parser = Parser(name, found.summary if found else "", found.examples if found else ())
        module.arguments(parser)
        typed = parser.read(argv)
        settings = Settings() if getattr(module, "READS_SETTINGS_ITSELF", False) else _settings(options, name)
        _listen_to_logs(console)
        with nullcontext() if getattr(module, "WRITES_STDOUT_ITSELF", False) else stdout_captured(console):
            code: int = module.run(Call(name, typed, options, settings, console))
        sys.stdout.flush()
    except (BrokenPipeError, KeyboardInterrupt):
        raise
    except Exception as error:  # noqa: BLE001 - the edge: whatever happened becomes a sentence and an exit code
        return _report(console, settings, error)
    return code


def _settings(options: Globals, name: str) -> Settings:
    """Read and checked before anything is done, whatever the command (CFG-01)."""
    from holdfast import config

    if options.server is not None:
        raise UsageError(
            f"this version cannot ask a server yet; holdfast {name} works in this process", hint="leave out --server"
        )
    if options.env_file is not None:
        config.add_env_file(options.env_file)
    return config.load(data=options.data, database=options.database, config=options.config)


def _report(console: Console, settings: Settings | None, error: Exception) -> int:
    from holdfast.cli import exits
    from holdfast.dispatch.crashes import Unexpected, explained

    known = isinstance(error, Unexpected) or exits.of_error(error) != exits.UNEXPECTED
    told = error if isinstance(error, HoldfastError) and known else explained(settings, error)
    console.complain(told)
    return exits.of_error(told)


def _listen_to_logs(console: Console) -> None:
    from holdfast.cli.screen.log_lines import send_logs_to

    send_logs_to(console)


def _complain(options: Globals, error: HoldfastError) -> int:
    from holdfast.cli import exits
    from holdfast.cli.screen.console import standard_console

    standard_console(options).complain(error)
    return exits.of_error(error)


def _open_closed_streams() -> None:
    """`holdfast … >&-`: whatever is opened next would be the standard stream, a ledger or a worker's pipe."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # the lowest number that is free: this one
            setattr(sys, name, os.fdopen(number, mode, closefd=False))


def _forget_unsaid() -> None:
    """What could not be shown is not tried once more at the end, where Python would make exit code 120 of it."""
    for name in ("stdout", "stderr"):
        try:
            getattr(sys, name).flush()
        except OSError:
            setattr(sys, name, None)


def _leave_threads(code: int) -> None:
    """A step's thread that had no time to end: Python would wait for it here, and everything is saved and said."""
    threads = sys.modules.get("holdfast.engine.step_threads")
    if threads is not None and threads.are_left():
        os._exit(code)
    if "multiprocessing.process" in sys.modules:
        from holdfast.cli.child_processes import leave_behind

        leave_behind(code)


def _reader_gone() -> int:
    """`holdfast export … | head`: the reader has what it wanted, and Python must not flush the rest at its end."""
    os._exit(141)


if __name__ == "__main__":
    sys.exit(main())
