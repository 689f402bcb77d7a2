"""The options that only jobs of cases have. A row here is all that an option needs: its value becomes a param."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.model.option import PARAM, Option
from holdfast.model.value_types import TEXT, whole
from holdfast.recipes.cases.ids import NUMBER_MAX, SAFE_STOP_MAX

OPTIONS = (
    Option(
        "url",
        TEXT,
        "the URL of a case, with `{prefix} {number} {year}`",
        "--url",
        metavar="TEMPLATE",
        help="where a case is, with {prefix} {number} {year} in it; or NAME of sources.NAME",
    ),
    Option(
        "start",
        whole(0, NUMBER_MAX),
        "the first number",
        "--start",
        metavar="N",
        help="with IMM-*-25: the first number",
    ),
    Option(
        "max_cases",
        whole(1, NUMBER_MAX),
        "how many numbers",
        "--max-cases",
        metavar="M",
        help="with IMM-*-25: how many numbers",
    ),
    Option(
        "safe_stop",
        whole(1, SAFE_STOP_MAX),
        "misses in a row that prove the end of an open range",
        "--safe-stop",
        metavar="N",
        help="of IMM-*-25 without --max-cases: as many misses in a row prove the end (50)",
    ),
)
OF_THE_RANGE = ("start", "max_cases")  # they become a part of `ranges`
OWN_PARAMS = tuple(row.name for row in OPTIONS if row.part == PARAM and row.name not in OF_THE_RANGE)


def given_params(options: Mapping[str, Any]) -> dict[str, Any]:
    """Those that were given a value."""
    return {name: options[name] for name in OWN_PARAMS if options.get(name) is not None}
