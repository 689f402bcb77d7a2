"""The options of a job as Python spells them: those of the command line with underscores, read the same way.

They are read by the rows of config/options.py and of each `Kind`. The typed dicts for editors and type checkers are
generated from the same rows: option_types.py.
"""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, get_args

from holdfast.client.arguments import check_kind
from holdfast.config.options import OPTIONS
from holdfast.errors import BadParams
from holdfast.model.option import PACE, Option
from holdfast.recipe.kind import Kind, Preset

PRESET = "preset"


def python_options(kind: Kind) -> dict[str, Option]:
    """The options that Python takes for a job of this kind, by their names there."""
    rows = (*(row for row in OPTIONS if row.part == PACE), *kind.own_pace, *kind.own_params)
    return {row.python_name: row for row in rows if row.python_name}


def read_options(given: Mapping[str, Any], kind: Kind) -> tuple[dict[str, Any], dict[str, Any]]:
    """(options of its params, pace fields) of what was given for a job of this kind; None counts as not given.

    BadParams names what cannot be used.
    """
    rows = python_options(kind)
    known = (*rows, *((PRESET,) if kind.presets else ()))
    for name, value in given.items():
        if name in known and value is not None:
            _check(name, value, rows[name].type.python if name in rows else str)
    preset = _preset(given, kind)
    params, pace = dict(preset.params), dict(preset.pace)  # what is given beside it wins
    for name, value in given.items():
        if name not in known:
            near = get_close_matches(name, known, n=1)
            guess = f"; did you mean {near[0]}?" if near else ""
            raise BadParams(f"there is no option {name!r}{guess}", hint=f"options: {' '.join(known)}")
        if value is None or name == PRESET:
            continue
        row = rows[name]
        read = _read(name, value, row)
        if row.part == PACE:
            pace[row.field] = read
        else:
            params[name] = list(read) if isinstance(read, tuple) else read
    return params, pace


def _is_number(annotation: Any) -> bool:
    """Numbers are read from texts as well, as the command line reads them."""
    return bool({int, float} & {annotation, *get_args(annotation)})


def _check(name: str, value: Any, annotation: Any) -> None:
    """Of everything but numbers, the annotation is the rule."""
    if not _is_number(annotation):
        check_kind(name, value, annotation)


def _preset(given: Mapping[str, Any], kind: Kind) -> Preset:
    word = given.get(PRESET) if kind.presets else None
    if word is None:
        return Preset({}, {}, "")
    if word not in kind.presets:
        raise BadParams(f"there is no preset {word!r}", hint=f"presets: {' '.join(kind.presets)}")
    return kind.presets[word]


def _read(name: str, value: Any, row: Option) -> Any:
    try:
        if row.type.gather is not None:
            return row.type.gather([row.read_word(word) for word in _words(row, value)])
        if _is_number(row.type.python):
            return row.type.read(_number(value))
        if isinstance(value, str):
            return row.read_word(value)
        return row.type.read(dict(value) if isinstance(value, Mapping) else value)
    except (ValueError, ArgumentTypeError) as error:
        raise BadParams(f"{name}: {error}") from None


def _number(value: Any) -> str:
    """A number as the command line would have it."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError(f"{value!r} is not a number")
    return value if isinstance(value, str) else f"{value:f}".rstrip("0").rstrip(".") or "0"


def _words(row: Option, value: Any) -> list[str]:
    """A list or a table as the words of a repeated option; a lone text is read as if it had been typed."""
    if isinstance(value, str):
        return row.words(value if row.joined else [value])
    if not isinstance(value, Mapping):
        return list(value)
    sign = "=" if row.type.gather is dict else ": "
    return [f"{name}{sign}{text}" for name, text in value.items()]
