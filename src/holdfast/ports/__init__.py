"""The seams: protocols that the engine speaks to and adapters fulfil. They say when to call and what empty means.

The ledger has several faces. `Jobs`, `Edits` and `Rollbacks` are for people's verbs, `Work` for workers; `Views`,
`Looks` and `Surveys` only read. All are synchronous; a ledger object belongs to one thread. Every call is one
transaction and ends *acked* (it returned), *refused* (a HoldfastError other than LedgerUnavailable) or *unknown*
(LedgerUnavailable): then repeat it.
"""

from holdfast.ports.blobs import Archive, Blobs, Journal, WebArchive
from holdfast.ports.copies import Copies, FileShelf, Judge, Query, Shelf
from holdfast.ports.fetch import Browsing, Fetcher, OpenFetcher, ProgressListener, Recorder
from holdfast.ports.files import Files, FileSink, Keeping, PartialFile
from holdfast.ports.hosts import Hosts
from holdfast.ports.jobs import Edits, IsDead, Jobs, Rollbacks
from holdfast.ports.language_model import LanguageModel, ModelFailed
from holdfast.ports.ledger import Ledger, OpenLedger
from holdfast.ports.reads import Looks, Surveys, Views
from holdfast.ports.runner import Runner, SessionEnd
from holdfast.ports.storage import Storage
from holdfast.ports.work import Work

__all__ = [
    "Archive",
    "Blobs",
    "Browsing",
    "Copies",
    "Edits",
    "Fetcher",
    "FileShelf",
    "FileSink",
    "Files",
    "Hosts",
    "IsDead",
    "Jobs",
    "Journal",
    "Judge",
    "Keeping",
    "LanguageModel",
    "Ledger",
    "Looks",
    "ModelFailed",
    "OpenFetcher",
    "OpenLedger",
    "PartialFile",
    "ProgressListener",
    "Query",
    "Recorder",
    "Rollbacks",
    "Runner",
    "SessionEnd",
    "Shelf",
    "Storage",
    "Surveys",
    "Views",
    "WebArchive",
    "Work",
]
