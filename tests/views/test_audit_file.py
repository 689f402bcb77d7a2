"""`audit.json` beside exported files, of a job whose pages say anything."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

from holdfast.model.job import Counts
from holdfast.views.exports.files import FileExport

ODD = "one\u2028two\u2029three\u0085four\x0bfive\nsix"


def test_what_failed_is_in_the_audit_as_it_was_said() -> None:
    """Some letters end a line of text, and none in JSON."""
    job = SimpleNamespace(
        id=1, uid="J-1", name="list", recipe="documents", status="completed", run=1, health="ok", params={}
    )
    failed = [SimpleNamespace(id=n, name=f"A-{n}", url="http://a.test/", code="http_404", because=ODD) for n in (1, 2)]
    views = SimpleNamespace(
        books=lambda _: (job, Counts(), None),
        targets=lambda _, *, where, after, limit: [row for row in failed if row.id > after],
    )
    export: Any = FileExport(SimpleNamespace(), SimpleNamespace(job=job, views=views))  # type: ignore[arg-type]
    written: list[bytes] = []
    export.audit(written.append)
    text = b"".join(written)
    assert [each["because"] for each in json.loads(text)["failed"]] == [ODD, ODD]
    assert b'\n "failed": [\n  {\n   "key": "A-1",\n' in text
