"""The options that only jobs of documents have. A row here is all that a param needs."""

from __future__ import annotations

from holdfast.model.option import COMMAND, PARAM, Option
from holdfast.model.value_types import FLAG, TABLE, TEXT, TEXTS, whole

HEADING = "the list"
FAILED = (("status", True, ("failed",)),)  # what a completed job asks for again
OPTIONS = (
    Option(
        "columns", TABLE, "which column is what", "--columns", joined=True, typed=str, heading=HEADING,
        metavar="url=Link,id=Number,title=Title", help="which column is what; others are kept as they are",
    ),
    Option(
        "skip_where", TEXT, "rows not wanted", "--skip-where", typed=str, heading=HEADING, metavar="FILTER",
        help="rows not wanted: 'category:*draft* -court:\"Grand Court\"'",
    ),
    Option(
        "limit", whole(1, 10**9), "at most so many new ones", "--limit", part=COMMAND, heading=HEADING, metavar="N",
        help="get at most N now; the rest stays pending",
    ),
    Option(
        "refetch", FLAG, "get held ones again", "--refetch", part=COMMAND, heading=HEADING,
        help="get held documents again",
    ),
    Option(
        "require_fresh", FLAG, "stop if the list cannot be synced", "--require-fresh", part=COMMAND, heading=HEADING,
        help="stop if the list cannot be synced",
    ),
    Option(
        "accept_jump", FLAG, "believe a list that doubled or halved", "--accept-jump", part=COMMAND, heading=HEADING,
        help="believe a list that doubled or halved",
    ),
    Option(
        "site", TEXT, "the site to ask for files that rows name by a token only", "--site", typed=str, heading=HEADING,
        metavar="URL", help="the site to ask for files that rows name by a token only",
    ),
    Option(
        "hosts", TEXTS, "hosts that may serve these files", "--hosts", joined=True, heading=HEADING, metavar="LIST",
        help="hosts that may serve these files, with commas between",
    ),
)  # fmt: skip
OWN_PARAMS = tuple(row.name for row in OPTIONS if row.part == PARAM)
