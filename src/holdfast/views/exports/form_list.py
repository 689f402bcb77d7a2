"""The list of forms that results are written in, which loads none of the modules that write.

Generated from the `FORM` of each module by `python docs/make.py`: change that, not this.
"""

from __future__ import annotations

from holdfast.views.exports.form_row import Form

FORMS: dict[str, Form] = {
    "md": Form(
        name="md",
        ending="/",
        place=10,
        title="Markdown",
        noun="page",
        module="markdown",
    ),
    "jsonl": Form(
        name="jsonl",
        ending=".jsonl",
        place=20,
        module="jsonl",
    ),
    "csv": Form(
        name="csv",
        ending=".csv",
        place=30,
        module="csv",
    ),
    "warc": Form(
        name="warc",
        ending=".warc.gz",
        place=40,
        title="a WARC file",
        is_text=False,
        noun="page",
        module="warc",
    ),
    "wacz": Form(
        name="wacz",
        ending=".wacz",
        place=50,
        title="a WACZ file",
        is_text=False,
        noun="page",
        module="wacz",
    ),
    "parquet": Form(
        name="parquet",
        ending=".parquet",
        place=60,
        title="a Parquet file",
        is_text=False,
        module="parquet",
    ),
    "html": Form(
        name="html",
        ending=".html",
        place=70,
        module="contact_sheet",
    ),
    "zip": Form(
        name="zip",
        ending=".zip",
        place=80,
        title="a ZIP file",
        is_text=False,
        module="zip",
    ),
    "files": Form(
        name="files",
        ending="/",
        place=90,
        title="a folder of files",
        module="files",
    ),
    "webdataset": Form(
        name="webdataset",
        ending="/",
        place=100,
        title="a folder of shards",
        has_shards=True,
        module="webdataset",
    ),
}
