"""The seams: protocols that the engine speaks to and adapters fulfil. They say when to call and what empty means.

The ledger has several faces. `Jobs`, `Edits` and `Rollbacks` are for people's verbs, `Work` for workers; `Views`,
`Looks` and `Surveys` only read. All are synchronous; a ledger object belongs to one thread. Every call is one
transaction and ends *acked* (it returned), *refused* (a HoldfastError other than LedgerUnavailable) or *unknown*
(LedgerUnavailable): then repeat it.
"""

from holdfast.ports.blobs import Archive, Blobs, Journal
from holdfast.ports.copies import Copies, Judge, Query, Shelf
from holdfast.ports.fetch import Fetcher, ProgressListener
from holdfast.ports.hosts import Hosts
from holdfast.ports.jobs import Edits, IsDead, Jobs, Rollbacks
from holdfast.ports.ledger import Ledger, OpenLedger
from holdfast.ports.reads import Looks, Surveys, Views
from holdfast.ports.work import Work

__all__ = [
    "Archive",
    "Blobs",
    "Copies",
    "Edits",
    "Fetcher",
    "Hosts",
    "IsDead",
    "Jobs",
    "Journal",
    "Judge",
    "Ledger",
    "Looks",
    "OpenLedger",
    "ProgressListener",
    "Query",
    "Rollbacks",
    "Shelf",
    "Surveys",
    "Views",
    "Work",
]
