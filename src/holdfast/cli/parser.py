"""Command lines, read by argparse in our words: an error is one sentence with a suggestion, help begins by example."""

from __future__ import annotations

import argparse
import itertools
import re
import sys
from collections.abc import Sequence
from typing import Never

from holdfast.cli.arguments import NAMES, did_you_mean
from holdfast.cli.screen.console import columns_of, fitting
from holdfast.errors import UsageError

GLOBAL_HELP = """\
Everywhere, before or after the command:
  --data DIR (./holdfast-data)  --database URL  --server URL  -C, --config FILE  --env-file FILE
  --json[=FIELDS]  --jsonl  --plain  -q  -v  --no-color  --no-input  -y, --yes  --version
"""
# Options whose value may begin with a dash, and what such a value looks like.
DASHED = {"--where": r"-[a-z_.]+:", "--skip-where": r"-[a-z_.]+:", "--sort": r"-[a-z_]+"}
# What begins like a number is a value, `-3s` and `-5MB` too: it is refused as the wrong value that it is.
NUMBERED = re.compile(r"-[.]?[0-9]\S*")
WIDTH = 100
# Options that other tools have, and ours of another spelling.
ELSEWHERE = {"--depth": "--max-depth"}


class Parser(argparse.ArgumentParser):
    """The parser of one command."""

    def __init__(self, command: str, summary: str, examples: Sequence[str]) -> None:
        super().__init__(
            prog=f"holdfast {command}", description=summary, allow_abbrev=False, formatter_class=_Formatter
        )
        self._command, self._examples = command, tuple(examples)
        self._negative_number_matcher = NUMBERED

    def read(self, argv: Sequence[str]) -> argparse.Namespace:
        """Options and positionals in any order; what is left over is unknown."""
        argv = self._with_dashes(argv)
        for word in itertools.takewhile(lambda word: word != "--", argv):
            if word.startswith("--") and word.partition("=")[0] not in self._option_string_actions:
                raise UsageError(self._unknown(word), hint=f"holdfast {self._command} --help")
        options, rest = self.parse_known_intermixed_args(list(argv))
        if rest:
            self.error(f"unrecognized arguments: {' '.join(rest)}")
        return options

    def _with_dashes(self, argv: Sequence[str]) -> list[str]:
        """`--where -code:http_404` as `--where=-code:http_404`: argparse would take the NOT for an option."""
        words: list[str] = []
        for word in argv:
            if words and words[-1] in DASHED and re.match(DASHED[words[-1]], word):
                words[-1] += f"={word}"
            else:
                words.append(word)
        return words

    def format_help(self) -> str:
        examples = "".join(f"  {line}\n" for line in self._examples)
        return fitting(f"Example:\n{examples}\n{super().format_help()}\n{GLOBAL_HELP}", sys.stdout)

    def error(self, message: str) -> Never:
        raise UsageError(self._in_our_words(message), hint=f"holdfast {self._command} --help")

    def _in_our_words(self, message: str) -> str:
        unknown = re.fullmatch(r"unrecognized arguments: (\S+).*", message, re.DOTALL)
        if unknown is not None:
            return self._unknown(unknown[1])
        missing = re.fullmatch(r"the following arguments are required: (.*)", message)
        if missing is not None:
            return f"{self._command} needs {missing[1]}"
        return re.sub(r"^argument (?:\S+/)?(\S+): ", r"\1: ", message).replace("expected one argument", "needs a value")

    def _unknown(self, word: str) -> str:
        if not word.startswith("-"):
            return f"{self._command} does not know what to do with {word!r}"
        name = word.partition("=")[0]
        known = [option for action in self._actions for option in action.option_strings]
        if ELSEWHERE.get(name) in known:
            return f"{self._command} has no option {name}; did you mean {ELSEWHERE[name]}?"
        return f"{self._command} has no option {name}{did_you_mean(name, [*known, *NAMES])}"


class _Formatter(argparse.HelpFormatter):
    def __init__(self, prog: str) -> None:
        is_shown = sys.stdout is not None and sys.stdout.isatty()
        columns = min(WIDTH, columns_of(sys.stdout)) if is_shown else WIDTH
        super().__init__(prog, max_help_position=30, width=columns)
