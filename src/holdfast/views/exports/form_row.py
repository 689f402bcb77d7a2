"""One form that results are written in. The module that writes it declares it, as `FORM`."""

from __future__ import annotations

import msgspec

FOLDER = "/"


class Form(msgspec.Struct, frozen=True, kw_only=True):
    """The module whose `FORM` it is has `write(asked, out, rows)`, one of a folder also `write_into(asked, path)`.

    It may have `check_early(kind, path)`, which is asked before a job is made; see exporter.check_early. One of a
    folder may have `names_beside(kind)`, see exporter.names_beside, and `check_folder(storage, path)`, asked likewise.

    `ending` is how a path ends that means this form; `/` is a folder. `place` is that in lists: of several forms with
    one ending, a path means the first. `noun` is what is counted, where it is not the noun of the job's kind.
    """

    name: str
    ending: str
    place: int = 0
    title: str = ""  # for sentences: `a WARC file`
    is_text: bool = True  # else bytes, which no terminal can show
    noun: str = ""
    has_shards: bool = False  # its files are of a size that is asked for, and so are the parts of the whole
    module: str = ""  # of this package; filled in where the list is generated

    @property
    def is_folder(self) -> bool:
        return self.ending == FOLDER
