"""WARC files that answer in place of the web."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from holdfast.config import Settings
from holdfast.errors import BadParams
from holdfast.model.job import Job
from holdfast.ports import WebArchive
from holdfast.recipes import catalogue

log = logging.getLogger(__name__)


def check_archives(params: Mapping[str, Any], options: Mapping[str, Any]) -> None:
    """BadParams where WARC files that were named cannot be read, or something is asked for that they cannot give."""
    if not params.get("from_warc"):
        return
    from holdfast.blobs.web_archive.index import check_archives

    if options.get("browser") or options.get("record"):
        raise BadParams("--from-warc: an archive answers, so there is nothing to fetch with --browser or to --record")
    check_archives(params["from_warc"])


def open_archive(settings: Settings, job: Job) -> WebArchive | None:
    """The WARC files that the job reads, indexed by its first worker; None: it reads the web."""
    names = None if catalogue.kind_of(job).is_own_code else job.params.get("from_warc")
    if not names:
        return None
    from holdfast.blobs.web_archive.archive import WarcFiles

    archive = WarcFiles.of(names, settings.archives / f"{job.uid}.db")
    for told in archive.told():
        log.warning("%s", told)
    return archive
