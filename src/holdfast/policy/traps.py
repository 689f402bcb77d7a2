"""URLs that no end comes of (H10): paths that repeat themselves, addresses that grow, filters upon filters. It decides.

`/a/a/a/a` is what a relative link makes of a site that answers every path: any number of pages that are one. Three
times in a row is seen on honest sites, more is not. `?size=a&size=b&size=a&size=b` is what a shop makes whose filters
can be set once more on every page: a choice of a choice, without end.
"""

from __future__ import annotations

import re
from collections import Counter

from holdfast.model.keys import Address

TIMES_MAX = 3  # in a row, of the same segment or the same few segments
CYCLE_MAX = 4  # segments
URL_MAX = 2_083  # characters; the longest that browsers once agreed on

LIMIT = "limit"  # the disposition of what a cap leaves out; which cap is its rule
REPEATS, TOO_LONG, PER_HOST = "repeated_path", "url_length", "targets_per_host"
FACETS = "piled_filters"
SENTENCES = {
    REPEATS: f"the same part of its path comes more than {TIMES_MAX} times in a row, as in a trap without end",
    TOO_LONG: f"its URL has more than {URL_MAX} characters",
    FACETS: f"its query has one parameter more than {TIMES_MAX} times: filters upon filters, as in a shop without end",
    PER_HOST: "the job had as many targets of its host as it may have",
}
_REPEATED = re.compile(rf"((?:/[^/]++){{1,{CYCLE_MAX}}}?)\1{{{TIMES_MAX},}}(?=/|$)")


def trap(address: Address) -> str:
    """The cap that keeps a link to this address from being followed; "" where there is none."""
    if len(address.url) > URL_MAX:
        return TOO_LONG
    path, _, query = address.path.partition("?")
    if query.count("=") > TIMES_MAX and _is_piled(query):
        return FACETS
    if path.count("/") <= TIMES_MAX:
        return ""
    return REPEATS if _REPEATED.search(path) else ""


def _is_piled(query: str) -> bool:
    times = Counter(part.partition("=")[0] for part in query.split("&") if part)
    return max(times.values(), default=0) > TIMES_MAX
