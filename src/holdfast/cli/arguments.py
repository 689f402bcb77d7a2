"""The pass over argv that takes out the global options, so that they work before and after every command.

It knows no command. What it leaves is the command's own argv, in its order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from holdfast.errors import UsageError
from holdfast.model.spelling import did_you_mean as did_you_mean

ALL_FIELDS = "*"


class Globals(NamedTuple):
    """`fields` is None without --json, `*` for the whole document, else the fields that were asked for."""

    data: str | None = None
    database: str | None = None
    server: str | None = None
    config: str | None = None
    env_file: str | None = None
    fields: str | None = None
    jsonl: bool = False
    plain: bool = False
    quiet: bool = False
    verbose: bool = False
    no_color: bool = False
    no_input: bool = False
    yes: bool = False
    version: bool = False

    @property
    def json(self) -> bool:
        return self.fields is not None


# fmt: off
WITH_VALUE = {
    "--data": "data", "--database": "database", "--server": "server", "-C": "config", "--config": "config",
    "--env-file": "env_file",
}
SWITCHES = {
    "--jsonl": "jsonl", "--plain": "plain", "--no-color": "no_color", "--no-input": "no_input", "--version": "version",
    "-q": "quiet", "--quiet": "quiet", "-v": "verbose", "--verbose": "verbose", "-y": "yes", "--yes": "yes",
}
# fmt: on
NAMES = (*WITH_VALUE, "--json", *SWITCHES)
_SEVERAL = re.compile(r"-[qvy]{2,}")


def take_globals(argv: Sequence[str]) -> tuple[Globals, list[str]]:
    """The global options and what is left. A value that is missing or not text is a UsageError."""
    found: dict[str, Any] = {}
    left: list[str] = []
    words = iter(_expanded(argv))
    for word in words:
        if word == "--":
            left += [word, *words]
            break
        name, equals, value = word.partition("=")
        if word in SWITCHES:
            found[SWITCHES[word]] = True
        elif name == "--json":
            found["fields"] = value if equals else ALL_FIELDS
        elif name in WITH_VALUE:
            found[WITH_VALUE[name]] = _needed(name, value if equals else next(words, ""))
        else:
            left.append(word)
    return _checked(Globals(**found)), left


def _expanded(argv: Sequence[str]) -> list[str]:
    words: list[str] = []
    for word in argv:
        if not word.isprintable() and any("\ud800" <= char <= "\udfff" for char in word):
            raise UsageError(f"an argument is not valid UTF-8: {word!a}")
        words += [f"-{letter}" for letter in word[1:]] if _SEVERAL.fullmatch(word) else [word]
    return words


def _needed(name: str, value: str) -> str:
    if not value:
        raise UsageError(f"{name} needs a value")
    return value


def _checked(found: Globals) -> Globals:
    if found.json and found.jsonl:
        raise UsageError("--json gives one document and --jsonl one line per event: choose one of them")
    if found.fields == "":
        raise UsageError("--json= needs field names, as in --json=id,status")
    return found
