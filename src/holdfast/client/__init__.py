"""The Python facade: the words of the command line, over the same engine. `import holdfast as hf` re-exports it.

job = hf.crawl("https://docs.x.dev", max_pages=500)     # the same call later is the same job
run = job.run(on_progress=print)                         # blocks; goes on if unfinished
"""

from __future__ import annotations

from holdfast.client.aio import AsyncJob
from holdfast.client.core import (
    AsyncClient,
    Client,
    batch,
    cases,
    crawl,
    docs,
    doctor,
    images,
    job,
    jobs,
    limits,
    restore,
    run,
)
from holdfast.client.facade import JobHandle as Job
from holdfast.client.option_types import CrawlOptions, PaceOptions
from holdfast.client.values import Row, Run
from holdfast.client.working import Progress
from holdfast.errors import (
    BadParams,
    Corrupt,
    Denied,
    DiskFull,
    HoldfastError,
    IllegalMove,
    LedgerUnavailable,
    LedgerUnfit,
    NotFound,
    Refused,
)
from holdfast.model.job import Counts

__all__ = [
    "AsyncClient",
    "AsyncJob",
    "BadParams",
    "Client",
    "Corrupt",
    "Counts",
    "CrawlOptions",
    "Denied",
    "DiskFull",
    "HoldfastError",
    "IllegalMove",
    "Job",
    "LedgerUnavailable",
    "LedgerUnfit",
    "NotFound",
    "PaceOptions",
    "Progress",
    "Refused",
    "Row",
    "Run",
    "batch",
    "cases",
    "crawl",
    "docs",
    "doctor",
    "images",
    "job",
    "jobs",
    "limits",
    "restore",
    "run",
]
