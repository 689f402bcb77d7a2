"""URLs that no end comes of (H10): a path that repeats itself, an address that grows. Decides only.

`/a/a/a/a` is what a relative link makes of a site that answers every path: any number of pages that are one. Three
times in a row is seen on honest sites, more is not.
"""

from __future__ import annotations

import re

from holdfast.model.keys import Address

TIMES_MAX = 3  # in a row, of the same segment or the same few segments
CYCLE_MAX = 4  # segments
URL_MAX = 2_083  # characters; the longest that browsers once agreed on

LIMIT = "limit"  # the disposition of what a cap leaves out; which cap is its rule
REPEATS, TOO_LONG, PER_HOST = "repeated_path", "url_length", "targets_per_host"
SENTENCES = {
    REPEATS: f"the same part of its path comes more than {TIMES_MAX} times in a row, as in a trap without end",
    TOO_LONG: f"its URL has more than {URL_MAX} characters",
    PER_HOST: "the job had as many targets of its host as it may have",
}
_REPEATED = re.compile(rf"((?:/[^/]++){{1,{CYCLE_MAX}}}?)\1{{{TIMES_MAX},}}(?=/|$)")


def trap(address: Address) -> str:
    """The cap that keeps a link to this address from being followed; "" where there is none."""
    if len(address.url) > URL_MAX:
        return TOO_LONG
    if address.path.count("/") <= TIMES_MAX:
        return ""
    return REPEATS if _REPEATED.search(address.path.partition("?")[0]) else ""
