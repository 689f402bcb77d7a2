"""The files of kept images, for the exports that carry them: their friendly names, and their bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Any

from holdfast.errors import BadParams
from holdfast.ports import Storage
from holdfast.recipe.kind import Kind
from holdfast.recipes.images.manifest import NUMBER_DIGITS, folder_of
from holdfast.recipes.images.validation import EXTENSIONS
from holdfast.views.exports.file_names import folded
from holdfast.views.results import Results

HASH_LENGTH = 8
ROWS_PER_RUN = 5_000  # an image has many fields: these take some 15 MB


class FileNames:
    """`red panda/0001.jpg`. Of keywords whose folders would be called alike the job's first has the plain name, so that
    a keyword that is added later, or is not exported, renames no file of another; the others have their hash in it."""

    def __init__(self, keywords: Iterable[str] = ()) -> None:
        self._folders: dict[str, str] = {}
        self._taken: set[str] = set()
        for keyword in keywords:
            self.folder(keyword)

    def name(self, image: Mapping[str, Any]) -> str:
        extension = EXTENSIONS.get(image["format"], "bin")
        return f"{self.folder(image['keyword'])}/{image['number']:0{NUMBER_DIGITS}d}.{extension}"

    def folder(self, keyword: str) -> str:
        if keyword not in self._folders:
            plain = folder_of(keyword)
            digest = sha256(keyword.encode("utf-8", "surrogatepass")).hexdigest()
            names = (plain, *(f"{plain}~{digest[:length]}" for length in range(HASH_LENGTH, len(digest) + 1)))
            name = next(name for name in names if folded(name) not in self._taken)
            self._folders[keyword] = name
            self._taken.add(folded(name))
        return self._folders[keyword]


def images_in_order(results: Results, storage: Storage) -> Iterator[dict[str, Any]]:
    """Keyword by keyword, in the order in which they were kept; outside memory, where there are many."""
    every = (results.kind.result(row) for row in results.rows())
    return storage.in_order(every, kind=dict[str, Any], key=_place, rows_per_run=ROWS_PER_RUN)


def _place(image: Mapping[str, Any]) -> tuple[str, int]:
    return image["keyword"], image["number"]


def blocks_of(storage: Storage, image: Mapping[str, Any]) -> Iterator[bytes]:
    """The bytes of a kept image, piece by piece."""
    return storage.files.blocks(image["path"], image["bytes"])


def refuse_others(kind: Kind, form: str) -> None:
    """Exports of image files are for jobs that keep images."""
    if "path" not in (kind.columns or ()) or "thumbnail" not in (kind.columns or ()):
        raise BadParams(f"{form} is a form for images; a {kind.noun} has no picture", hint="-o FILE.jsonl")
