"""Which documents a job plans, over all versions of its list: each once, in the order in which they first came.

A later version only ever adds to the plan: documents that are new, and those whose address has changed. So a plan
goes on behind its cursor, and whatever was unfinished when the list changed is still planned.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path

from holdfast.recipes.documents.digests import Digests
from holdfast.recipes.documents.list_file import ListFile, ListShape
from holdfast.recipes.documents.lists import Entry

_DIGEST_BYTES = 8


def planned(paths: Sequence[Path], shape: ListShape) -> Iterator[tuple[str, Entry, int]]:
    """(name, entry, index of the version) of every document to get. A document whose address changed is planned again
    under a name of its own; its first name stays what it was. Criminal cases are in no plan (DOC-09).
    """
    first: dict[int, int] = {}  # addresses by key, of all versions but the last
    for version, path in enumerate(paths):
        is_last = version == len(paths) - 1
        listed = Digests()  # a second row of the same key says nothing, whatever its address
        for entry in ListFile.open(path, shape).entries():
            key = _digest(entry.key)
            if entry.is_criminal or not listed.add(key):  # all that grows with a list of one version
                continue
            known, address = first.get(key), _digest(entry.url)
            if known is None:
                if not is_last:
                    first[key] = address
                yield entry.key, entry, version
            elif known != address:
                renamed = f"{entry.key}~{address:016x}"[: len(entry.key) + 9]
                again = _digest(renamed)
                if again not in first and again not in listed:
                    first[again] = address
                    yield renamed, entry, version


def _digest(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).digest())
