"""What a correct walk over the court's numbers holds: a record per file, and every gap as `no_record`."""

from __future__ import annotations

from typing import Any

from holdfast.demo.court.files import PREFIX, YEAR, CourtFile, case_id, exists, file_of, gaps, last_number
from holdfast.demo.court.pages import PAGE_PATH


def oracle_of(seed: int, day: int, base: str) -> dict[str, Any]:
    """`last` is the highest number there is; everything above it is beyond the end, not a gap."""
    last = last_number(seed, day)
    url = base + PAGE_PATH
    return {
        "seed": seed,
        "seeds": [url],
        "day": day,
        "prefix": PREFIX,
        "year": YEAR,
        "first": 1,
        "last": last,
        "gaps": sorted(case_id(number) for number in gaps(seed)),
        "records": [record_of(file_of(seed, n), url) for n in range(1, last + 1) if exists(seed, n, day)],
    }


def record_of(file: CourtFile, url: str) -> dict[str, Any]:
    """All fields but `scraped_at`. `title` is the style of cause and `date` the filing date: the site has no others."""
    return {
        "case_id": file.case_id,
        "case_number": file.case_id,
        "title": file.style,
        "court": "Federal Court",
        "date": file.filed,
        "case_type": file.case_type,
        "action_type": file.action,
        "nature_of_proceeding": file.nature,
        "filing_date": file.filed,
        "office": file.office,
        "style_of_cause": file.style,
        "language": file.language,
        "url": url,
        "docket_entries": [
            {
                "id": f"{file.case_id}/{entry.number}",
                "case_id": file.case_id,
                "doc_id": entry.number,
                "entry_date": entry.day,
                "entry_office": entry.office,
                "summary": entry.summary,
            }
            for entry in file.entries
        ],
    }
