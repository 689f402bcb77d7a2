"""Options of the kinds that find targets by what they fetch: which of them belong to the job."""

from __future__ import annotations

from holdfast.model.option import Option
from holdfast.model.value_types import TEXTS, whole

DEPTH_MAX = 100_000
INCLUDE = Option(
    "include", TEXTS, "patterns of paths", "--include", metavar="PAT", help="repeatable; glob on the path, or re:"
)
EXCLUDE = Option(
    "exclude",
    TEXTS,
    "patterns of paths; exclude wins",
    "--exclude",
    metavar="PAT",
    help="repeatable; exclude wins; '' for none",
)
MAX_DEPTH = Option(
    "max_depth",
    whole(0, DEPTH_MAX),
    "links beyond are skipped",
    "--max-depth",
    metavar="N",
    help="links beyond are skipped; seeds are 0",
)
