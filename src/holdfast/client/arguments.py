"""Arguments of the wrong kind, refused at the door: what a method is annotated with is what it takes."""

from __future__ import annotations

import functools
import inspect
import os
import types
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from reprlib import Repr
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from holdfast.errors import BadParams

C = TypeVar("C")
VALUE_LENGTH_MAX = 60

# The name of an annotation, and which values fit it: True is not a number, and a text is not read as one.
KINDS: dict[Any, tuple[str, Callable[[Any], bool]]] = {
    Any: ("anything", lambda value: True),
    types.NoneType: ("None", lambda value: value is None),
    str: ("a text", lambda value: isinstance(value, str)),
    bool: ("True or False", lambda value: isinstance(value, bool)),
    int: ("a whole number", lambda value: isinstance(value, int) and not isinstance(value, bool)),
    float: ("a number", lambda value: isinstance(value, (int, float)) and not isinstance(value, bool)),
    Path: ("a path", lambda value: isinstance(value, os.PathLike)),
    Callable: ("a function", callable),
    Mapping: ("a dict", lambda value: isinstance(value, Mapping)),
    Sequence: ("a list", lambda value: isinstance(value, Collection) and not isinstance(value, Mapping)),
}
INSIDE: dict[Any, Callable[[Any], list[Collection[Any]]]] = {  # what a thing holds, in the order of its annotation
    Mapping: lambda value: [value.keys(), value.values()],
    Sequence: lambda value: [value],
}
OF_TEXTS = {Mapping: "a dict of texts", Sequence: "a list of texts"}


def refuses_wrong_kinds(*within: str) -> Callable[[type[C]], type[C]]:
    """For a class: its public methods, and those named, take only what their annotations say, or raise BadParams."""

    def decorate(kind: type[C]) -> type[C]:
        for name, method in list(vars(kind).items()):
            if inspect.isfunction(method) and (name in within or not name.startswith("_")):
                setattr(kind, name, _checked(method))
        return kind

    return decorate


def check_kind(name: str, value: Any, wanted: Any) -> None:
    """BadParams unless the value is of the kind that the annotation `wanted` names."""
    if not _fits(value, wanted):
        raise BadParams(f"{name}: {_shown(value)} is given; wanted is {_words(wanted)}")


def _checked(method: Callable[..., Any]) -> Callable[..., Any]:
    signature = inspect.signature(method)
    # Read at the first call: not everything that annotations name is there when the class is made.
    hints = functools.cache(lambda: get_type_hints(method))

    @functools.wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        given: dict[str, Any] = {}
        with suppress(TypeError):  # too few or too many: Python says it best, when the method is called
            given = signature.bind(*args, **kwargs).arguments
        for name, value in given.items():
            for each in _each(signature.parameters[name], value):
                check_kind(name, each, hints().get(name, Any))
        return method(*args, **kwargs)

    return call


def _each(parameter: inspect.Parameter, value: Any) -> tuple[Any, ...]:
    """What of this argument has the annotation's kind; options by name are read elsewhere, each by its own rule."""
    if parameter.kind is inspect.Parameter.VAR_KEYWORD:
        return ()
    return tuple(value) if parameter.kind is inspect.Parameter.VAR_POSITIONAL else (value,)


def _fits(value: Any, wanted: Any) -> bool:
    kinds = _kinds(wanted)
    if len(kinds) > 1:
        return any(_fits(value, kind) for kind in kinds)
    origin = get_origin(wanted) or wanted
    if not _kind(origin)[1](value):
        return False
    parts = INSIDE[origin](value) if origin in INSIDE and not isinstance(value, str) else []
    return all(_fits(each, part) for part, held in zip(get_args(wanted), parts, strict=False) for each in held)


def _kind(origin: Any) -> tuple[str, Callable[[Any], bool]]:
    return KINDS.get(origin) or (origin.__name__, lambda value: isinstance(value, origin))


def _kinds(wanted: Any) -> tuple[Any, ...]:
    return get_args(wanted) if get_origin(wanted) in (Union, types.UnionType) else (wanted,)


def _words(wanted: Any) -> str:
    names = [_word(kind) for kind in _kinds(wanted)]
    return " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _word(kind: Any) -> str:
    origin = get_origin(kind) or kind
    return OF_TEXTS[origin] if origin in OF_TEXTS and set(get_args(kind)) == {str} else _kind(origin)[0]


def _shown(value: Any) -> str:
    short = Repr()
    short.maxstring = short.maxother = VALUE_LENGTH_MAX
    return short.repr(value)
