"""What is asked of an images job, as a person says it, made into params: keywords, a file of keywords, a list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from holdfast.errors import BadParams
from holdfast.recipes.images.options import ENGINES_OF_LIST, OF_LISTS, OWN_PARAMS
from holdfast.recipes.images.params import listed

KEYWORDS_BYTES_MAX = 10_000_000
TAKEN = (*OWN_PARAMS, "variations", "pages", "seed", "origins")


def given(inputs: Sequence[str], options: Mapping[str, Any]) -> dict[str, Any]:
    """Params that are still to be checked. A list brings its own keywords."""
    params = {name: options[name] for name in TAKEN if options.get(name) is not None}
    if "engines" in params:
        params["engines"] = names_in(params["engines"])
    if options.get("urls") and "engines" in params:
        raise BadParams(ENGINES_OF_LIST)
    keywords = [*inputs, *(read_keywords(Path(options["keywords_file"])) if options.get("keywords_file") else ())]
    if not options.get("urls"):
        for name in OF_LISTS:
            if options.get(name):
                raise BadParams(f"--{name.replace('_', '-')} is for a list: holdfast images --from FILE")
        return {**params, "keywords": keywords}
    if keywords:
        raise BadParams("a list brings its own keywords: give keywords, or --from FILE, not both")
    named, found = listed(Path(options["urls"]), names_in(options.get("save_columns")), options.get("columns"))
    return {**params, "keywords": found, "list": named}


def names_in(given: str | Sequence[str] | None) -> list[str]:
    """`a,b` as it is typed, or the names themselves."""
    names = given.split(",") if isinstance(given, str) else given or ()
    return list(dict.fromkeys(name.strip() for name in names if name.strip()))


def read_keywords(path: Path) -> list[str]:
    """A keyword per line; empty lines and those that begin with # are left out."""
    if not path.exists():
        raise BadParams(f"there is no file {path}")
    try:
        if path.stat().st_size > KEYWORDS_BYTES_MAX:
            raise BadParams(f"{path} is not a file of keywords: it has more than {KEYWORDS_BYTES_MAX:,} bytes")
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadParams(f"the keywords cannot be read from {path}: {error}") from None
    keywords = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    if not keywords:
        raise BadParams(f"{path} has no keyword: it has one per line, and lines that begin with # are left out")
    return keywords
