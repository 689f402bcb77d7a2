"""The arguments of the start commands, made from the rows of job options, and what was typed, as params and pace.

Only what was typed counts as asked for (ux 3.2, 3.3).
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import msgspec

from holdfast.cli.parser import Parser
from holdfast.cli.screen.values import of_an_option, show_size
from holdfast.config.options import OPTIONS
from holdfast.errors import BadParams
from holdfast.model.option import COMMAND, PACE, Option
from holdfast.model.value_types import FLAG
from holdfast.recipe.kind import Kind

PACE_HEADING = "pace and limits (kept with the job; a changed one is applied and printed)"
SEEDS_BYTES_MAX = 50_000_000


class TypedOptions(msgspec.Struct, frozen=True):
    """Scope params and pace as typed; what is absent was not typed."""

    seeds: tuple[str, ...]
    scope: dict[str, Any]
    pace: dict[str, Any]


def arguments(parser: Parser, kind: Kind) -> None:
    """The options that describe a job of this kind: its own, then those of all kinds."""
    own_arguments(parser, kind)
    pace_arguments(parser, kind)


def own_arguments(parser: Parser, kind: Kind) -> None:
    """The options that only this kind has, but for its pace."""
    for row in kind.options:
        if row.part != PACE:
            _add(parser, row)


def pace_arguments(parser: Parser, kind: Kind | None = None) -> None:
    """The options of every start command: how fast, how long, to which addresses. Behind them the kind's own pace.

    Before them what the command does that works the job, but for what start commands add in an order of their own.
    """
    for row in (*(row for row in OPTIONS if row.part == COMMAND), *_pace_rows(kind)):
        _add(parser, row)


def read_typed(options: argparse.Namespace, urls: list[str], kind: Kind) -> TypedOptions:
    seeds = [*urls, *(_seeds(options.seeds) if options.seeds else ())]
    preset = kind.presets.get(options.preset)
    scope, pace = read_params(options, kind), read_pace(options, kind)
    if preset is not None:
        scope, pace = {**preset.params, **scope}, {**preset.pace, **pace}
    return TypedOptions(tuple(seeds), scope, pace)


def read_params(options: argparse.Namespace, kind: Kind) -> dict[str, Any]:
    """What was typed of the kind's own params. `--exclude ''` means no pattern at all: the way to take one back."""
    typed = ((row, getattr(options, row.destination, None)) for row in kind.own_params)
    return {row.name: _param(row, value) for row, value in typed if value is not None}


def _param(row: Option, value: Any) -> Any:
    if row.type.gather is None:
        return value
    found = row.type.gather(row.words(value))
    return list(found) if isinstance(found, tuple) else found


def read_pace(options: argparse.Namespace, kind: Kind | None = None) -> dict[str, Any]:
    """What was typed of the pace, by the fields of a job's options; whatever is absent was not typed."""
    found: dict[str, Any] = {}
    for row in _pace_rows(kind):
        value = getattr(options, row.destination, None)
        if value is not None and row.field:
            found[row.field] = value if row.type.gather is None else row.type.gather(value)
    return found


def _pace_rows(kind: Kind | None) -> tuple[Option, ...]:
    common = tuple(row for row in OPTIONS if row.part == PACE)
    return common if kind is None else (*common, *kind.own_pace)


def _add(parser: Parser, row: Option) -> None:
    """The argument of this option; none where it has no help."""
    if not row.help:
        return
    group = headed(parser, row.heading or (PACE_HEADING if row.part == PACE else ""))
    if row.type is FLAG:
        group.add_argument(row.flag, action="store_true", default=None, help=row.help)
    elif row.type.choices:
        group.add_argument(row.flag, choices=row.type.choices, help=row.help)
    else:
        action = "store" if row.type.gather is None or row.joined else "append"
        read = of_an_option(row.read_word)
        group.add_argument(row.flag, dest=row.destination, type=read, action=action, metavar=row.metavar, help=row.help)


def headed(parser: Parser, heading: str) -> argparse._ActionsContainer:
    """The part of --help under this heading; without one, the first."""
    if not heading:
        return parser
    known = (group for group in parser._action_groups if group.title == heading)
    return next(known, None) or parser.add_argument_group(heading)


def _seeds(name: str) -> list[str]:
    path = Path(name)
    try:
        if path.stat().st_size > SEEDS_BYTES_MAX:
            raise BadParams(f"--seeds: {name} is larger than {show_size(SEEDS_BYTES_MAX)}")
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise BadParams(f"--seeds: {name} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BadParams(f"--seeds: {name} cannot be read: it is not UTF-8 text") from error
    seeds = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    if not seeds:
        raise BadParams(f"--seeds: {name} names no URL")
    return seeds
