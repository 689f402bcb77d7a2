"""Holdfast: crawls that never lose their place."""

from typing import TYPE_CHECKING, Any

from holdfast.version import __version__

if TYPE_CHECKING:
    from holdfast.client import (
        AsyncClient,
        AsyncJob,
        BadParams,
        Client,
        Corrupt,
        Counts,
        CrawlOptions,
        Denied,
        DiskFull,
        HoldfastError,
        IllegalMove,
        Job,
        LedgerUnavailable,
        LedgerUnfit,
        NotFound,
        PaceOptions,
        Progress,
        Refused,
        Row,
        Run,
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
    "__version__",
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


def __getattr__(name: str) -> Any:
    """The facade is loaded when it is used: the command line starts without it."""
    if name not in __all__:
        raise AttributeError(f"module 'holdfast' has no attribute {name!r}")
    from holdfast import client

    return getattr(client, name)


def __dir__() -> list[str]:
    return sorted(__all__)
