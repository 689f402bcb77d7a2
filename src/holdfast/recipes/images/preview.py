"""What `--dry-run` says of a list: how many URLs of which keywords, and which rows cannot be used."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from holdfast.model.keys import canonical
from holdfast.model.spelling import count_of
from holdfast.recipes.images.candidate_list import read_list

KEYWORDS_SHOWN = 20
ROWS_SHOWN = 20


def lines_of(given: dict[str, Any]) -> list[str]:
    """`given` is the list as params have it. A URL that two rows of a keyword have counts once for each row."""
    path = Path(given["path"])
    urls: Counter[str] = Counter()
    unusable: list[str] = []
    count = 0
    for row in read_list(path, keyword=path.stem, columns=given.get("mapping", {})):
        if row.candidate is not None and canonical(row.candidate.url) is not None:
            urls[row.keyword] += 1
            continue
        count += 1
        if len(unusable) < ROWS_SHOWN:
            unusable.append(f"  row {row.number + 1}: {row.why or 'no usable URL'}")
    head = f"{path.name}: {count_of(urls.total(), 'URL')} of {count_of(len(urls), 'keyword')}"
    lines = [f"{head}, {count_of(count, 'row')} that cannot be used"]
    lines += [f"  {keyword}: {number}" for keyword, number in urls.most_common(KEYWORDS_SHOWN)]
    if len(urls) > KEYWORDS_SHOWN:
        lines.append(f"  and {count_of(len(urls) - KEYWORDS_SHOWN, 'keyword')} more")
    lines += unusable
    return [*lines, f"  and {count_of(count - ROWS_SHOWN, 'row')} more"] if count > ROWS_SHOWN else lines
