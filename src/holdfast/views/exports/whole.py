"""Whether what an export wrote is all there: its list, which is written last, and the files that this names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from holdfast.ports import Storage
from holdfast.views.exports.folder import JOURNAL, MANIFEST
from holdfast.views.exports.folder_owner import is_marked
from holdfast.views.exports.forms import FORMS
from holdfast.views.exports.markdown import INDEX

JOURNALS = (f".{INDEX}.part", JOURNAL)


class _Line(msgspec.Struct):
    file: str | None = None


def is_whole(storage: Storage, path: Path, form: str) -> bool:
    """A file is there or not. In a folder a journal is what a killed export leaves; files may have been removed by
    hand."""
    if not FORMS[form].is_folder:
        return path.is_file()
    if not path.is_dir() or any((path / name).exists() for name in JOURNALS):
        return False
    is_list_optional = is_marked(path)  # other forms than Markdown mark their folder, and not all have a list
    names = path / (MANIFEST if is_list_optional else INDEX)
    if not names.is_file():
        return is_list_optional
    return all((path / name).exists() for name in _named(storage, names))


def _named(storage: Storage, path: Path) -> Iterator[str]:
    """The files of a list; a line that cannot be read names none."""
    with storage.opened(path) as lines:
        for line in lines:
            with suppress(msgspec.DecodeError, UnicodeDecodeError):
                name = msgspec.json.decode(line, type=_Line).file
                if name:
                    yield name
