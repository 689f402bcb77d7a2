"""The files of kept images, for the exports that carry them: their friendly names, and their bytes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.errors import BadParams
from holdfast.ports import Storage
from holdfast.recipe.kind import Kind
from holdfast.recipes.images.manifest import NUMBER_DIGITS, folder_of, with_hash
from holdfast.recipes.images.validation import EXTENSIONS
from holdfast.views.exports.file_names import folded
from holdfast.views.results import Results


class FileNames:
    """`red panda/0001.jpg`. Of keywords that differ only in ways that some file systems do not see, such as upper case,
    all but the first have their hash in the name."""

    def __init__(self) -> None:
        self._folders: dict[str, str] = {}
        self._taken: set[str] = set()

    def name(self, image: Mapping[str, Any]) -> str:
        extension = EXTENSIONS.get(image["format"], "bin")
        return f"{self.folder(image['keyword'])}/{image['number']:0{NUMBER_DIGITS}d}.{extension}"

    def folder(self, keyword: str) -> str:
        if keyword not in self._folders:
            plain = folder_of(keyword)
            is_taken = folded(plain) in self._taken
            self._folders[keyword] = with_hash(plain, keyword) if is_taken else plain
            self._taken.add(folded(plain))
        return self._folders[keyword]


def images_in_order(results: Results, storage: Storage) -> Iterator[dict[str, Any]]:
    """Keyword by keyword, in the order in which they were kept; outside memory, where there are many."""
    every = (results.kind.result(row) for row in results.rows())
    return storage.in_order(every, kind=dict[str, Any], key=lambda image: (image["keyword"], image["number"]))


def blocks_of(storage: Storage, image: Mapping[str, Any]) -> Iterator[bytes]:
    """The bytes of a kept image, piece by piece."""
    return storage.files.blocks(image["path"], image["bytes"])


def refuse_others(kind: Kind, form: str) -> None:
    """Exports of image files are for jobs that keep images."""
    if "path" not in (kind.columns or ()) or "thumbnail" not in (kind.columns or ()):
        raise BadParams(f"{form} is a form for images; a {kind.noun} has no picture", hint="-o FILE.jsonl")
