"""What the pages of a court's search come to, whichever client got them: evidence of the search, and the record."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from holdfast.errors import FetchError
from holdfast.model.outcome import Record
from holdfast.recipes.cases.completeness import INCOMPLETE, Observation, what_is_missing
from holdfast.recipes.cases.detail import read_detail, record_of
from holdfast.recipes.cases.site_client import CASE, RawPage
from holdfast.recipes.cases.source import CaseSource


def evidence(looks: Sequence[Observation], because: str, title: str = "") -> dict[str, Any]:
    """What is kept of a search besides its page: CAS-07's proof, and the title, which only the table has."""
    seen = [{"asked": look.asked, "rows": list(look.rows), "at_ms": look.at_ms} for look in looks]
    return {"looks": seen, "because": because, "title": title}


def case_records(
    source: CaseSource, case: str, page: RawPage, search: dict[str, Any], seen_ms: int
) -> tuple[Record, ...]:
    """The record in the page that shows a case; FetchError where it is another case's, or not all there."""
    detail = read_detail(page.content.decode("utf-8", "replace"))
    if missing := what_is_missing(case, detail):
        raise FetchError(INCOMPLETE, f"{case}: {', '.join(missing)}", status=page.status)
    record = record_of(
        detail,
        style_of_cause=search.get("title", ""),
        court=source.court,
        url=source.url,
        scraped_at=datetime.fromtimestamp(seen_ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    )
    return (Record(CASE, msgspec.json.encode(record)),)
