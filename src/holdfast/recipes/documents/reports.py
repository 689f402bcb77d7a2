"""The report's row of one kept document (DOC-31), and how much room the documents still to come may need (DOC-22)."""

from __future__ import annotations

from pathlib import PurePosixPath

from holdfast.recipes.documents.lists import Entry

SIZE_GUESSED_BYTES = 400_000  # of a document, while none is held that says otherwise
SIZES_LOOKED_AT = 1_000  # of held documents: enough for an average
UNDATED_SORTS_AS = "0000-00-00"


def report_row(entry: Entry, *, downloaded_at: str, saved_path: str, size_bytes: int) -> dict[str, str | float]:
    """Only kept documents have one. A date that cannot be read is shown as the list has it, and sorts before all."""
    return {
        "actions_token": entry.key,
        "title": entry.title,
        "subject": entry.subject,
        "court": entry.court,
        "category": entry.category,
        "judgment_date": entry.judgment_date or entry.judgment_date_raw,
        "sort_judgment_date": entry.judgment_date or UNDATED_SORTS_AS,
        "cause_number": entry.cause_number,
        "downloaded_at": downloaded_at,
        "saved_path": saved_path,
        "filename": PurePosixPath(saved_path).name,
        "size_kb": round(size_bytes / 1024, 1),
    }


def bytes_still_needed(remaining: int, held: int, held_bytes: int) -> int:
    """What the remaining documents will take, by the average of those held."""
    return remaining * (held_bytes // held if held else SIZE_GUESSED_BYTES)
