"""The page of the command line, from the commands' real argument parsers. Every Python gives the same page."""

from __future__ import annotations

import argparse
import re
from importlib import import_module

from generator.markdown import page, table

from holdfast.cli.arguments import NAMES
from holdfast.cli.commands.table import COMMANDS, Command
from holdfast.cli.exits import MEANINGS
from holdfast.cli.parser import Parser
from holdfast.policy.filters import KEYS

EVERYWHERE = {
    "--data DIR": "the data folder (`./holdfast-data`, or `HOLDFAST_DATA`)",
    "--database URL": "`sqlite` in the data folder, or `postgresql://…` (or `HOLDFAST_DATABASE_URL`)",
    "--server URL": "a Holdfast server to work with; this version cannot ask one yet, and says so (exit code 2)",
    "-C, --config FILE": "read this file in place of the nearest `holdfast.toml`",
    "--env-file FILE": "read variables from this `.env` file; the environment wins over it",
    "--json[=FIELDS]": "one JSON document at the end; with fields only those: `--json=status,counts`",
    "--jsonl": "one JSON object per line: rows of `targets`, events of a running job",
    "--plain": "calm lines instead of a live screen, also on a terminal",
    "-q, --quiet": "only refusals and the summary",
    "-v, --verbose": "more log lines",
    "--no-color": "no colours (`NO_COLOR` is heeded too)",
    "--no-input": "never ask anything; this version never does",
    "-y, --yes": "answer yes; this version asks nothing",
    "--version": "the version, and nothing else",
}


def command_line() -> str:
    _refuse_gaps()
    keys = ", ".join(f"`{key}`" for key in KEYS)
    return page(
        "Command line",
        "JOB is a job's name, its id (`J-7f3a`) or the beginning of its id. Data goes to stdout, messages and progress "
        "to stderr. Durations are `500ms 2s 30m 2h`, sizes `10kB 1.5GB`. A typing error gets a suggestion and exit "
        "code 2.",
        *(_command(row) for row in COMMANDS),
        "## Everywhere\n\nThese work before and after every command; `demo` alone has no JSON, "
        "and refuses to be asked for it.",
        table(("option", "means"), [(f"`{option}`", meaning) for option, meaning in EVERYWHERE.items()]),
        "## Filters\n\n`--where` takes conditions separated by spaces; all must hold. `key:a,b` is one or the other, "
        "`-key:a` is not, `depth:>2` compares, `*` stands for anything, quotes keep spaces together. "
        f"Keys: {keys}.",
        "## Environment\n\nAn option wins over the environment, and both over `holdfast.toml`: "
        "[settings](settings.md).",
        "## Exit codes\n\n10 to 14 mean: safe, continue later; after a limit (12, 13) with a higher one. "
        "What to do about each: [troubleshooting](troubleshooting.md).",
        table(("code", "means"), [(f"`{code}`", meaning) for code, meaning in MEANINGS.items()]),
    )


def parser_of(row: Command) -> Parser:
    """The command's real parser."""
    parser = Parser(row.name, row.summary, row.examples)
    import_module(f"holdfast.cli.commands.{row.module}").arguments(parser)
    return parser


def _refuse_gaps() -> None:
    """A global option without a line here, or a line without its option, stops the generator."""
    spelled = {word for option in EVERYWHERE for word in re.findall(r"--?[A-Za-z-]+", option)}
    if spelled != set(NAMES):
        raise ValueError(f"EVERYWHERE and the parser differ: {sorted(spelled ^ set(NAMES))}")


def _command(row: Command) -> str:
    parser = parser_of(row)
    arguments = [
        (f"`{_spelled(action)}`", (action.help or "").replace("%%", "%"))
        for group in parser._action_groups
        for action in group._group_actions
        if action.dest != "help"
    ]
    return "\n\n".join(
        [
            f"## holdfast {row.usage}",
            f"{row.summary[:1].upper()}{row.summary[1:]}.",
            "\n".join(["```console", *(f"$ {line}" for line in row.examples), "```"]),
            *([table(("argument", "means"), arguments).strip()] if arguments else []),
            *([" ".join(parser.epilog.split())] if parser.epilog else []),
        ]
    )


def _spelled(action: argparse.Action) -> str:
    """`--scope host|domain|prefix|any`, `-o, --output PATH`, `--new`, `JOB`."""
    value = "|".join(map(str, action.choices)) if action.choices else str(action.metavar or action.dest.upper())
    if not action.option_strings:
        return value
    names = ", ".join(action.option_strings)
    return names if action.nargs == 0 else f"{names} {value}"
