"""The one list of forms that results are written in: their names, how a path says which one is meant, what each can do.

Every start command reads this list, so it loads none of the modules that write.
"""

from __future__ import annotations

import msgspec

FOLDER = "/"
CONTRACT = ("webdataset",)  # names that are known, and refused as long as they have no row


class Form(msgspec.Struct, frozen=True, kw_only=True):
    """`module`, of this package, has `write(asked, out, rows)`, one of a folder also `write_into(asked, path)`.

    It may have `check_early(kind, path)`, which is asked before a job is made; see exporter.check_early. One of a
    folder may have `names_beside(kind)`; see exporter.names_beside.

    `ending` is how a path ends that means this form; `/` is a folder. `noun` is what is counted, where it is not the
    noun of the job's kind.
    """

    name: str
    module: str
    ending: str
    title: str = ""  # for sentences: `a WARC file`
    is_text: bool = True  # else bytes, which no terminal can show
    noun: str = ""

    @property
    def is_folder(self) -> bool:
        return self.ending == FOLDER


FORMS: dict[str, Form] = {
    form.name: form
    for form in (
        Form(name="md", module="markdown", ending=FOLDER, title="Markdown", noun="page"),
        Form(name="jsonl", module="jsonl", ending=".jsonl"),
        Form(name="csv", module="csv", ending=".csv"),
        Form(
            name="warc", module="warc", ending=".warc.gz", title="a WARC file", is_text=False, noun="page",
        ),
        Form(
            name="wacz", module="wacz", ending=".wacz", title="a WACZ file", is_text=False, noun="page",
        ),
        Form(name="parquet", module="parquet", ending=".parquet", title="a Parquet file", is_text=False),
        Form(name="html", module="contact_sheet", ending=".html"),
        Form(name="zip", module="zip", ending=".zip", title="a ZIP file", is_text=False),
        Form(name="files", module="files", ending=FOLDER, title="a folder of files"),
        Form(name="webdataset", module="webdataset", ending=FOLDER, title="a folder of shards"),
    )
}  # fmt: skip
DEFAULT = "jsonl"
NAMES = tuple(FORMS)
LATER = tuple(name for name in CONTRACT if name not in FORMS)


def form_by_ending(path: str) -> Form | None:
    """The form that the path asks for; None where it names none."""
    return next((form for form in FORMS.values() if path.endswith(form.ending)), None)
