"""What a session is built from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from holdfast.clock import Clock
from holdfast.model.lease import OUTAGE_S
from holdfast.policy.leasing import AHEAD
from holdfast.ports import (
    Blobs,
    Files,
    Journal,
    LanguageModel,
    OpenFetcher,
    OpenLedger,
    ProgressListener,
)
from holdfast.recipe import AnyRecipe
from holdfast.recipe.contract import Archived

if TYPE_CHECKING:
    from random import Random

STALE_AFTER_S = 3600.0


class Parts(msgspec.Struct, frozen=True):
    """What a session is built from; `wiring` makes it. `place`: which of so many workers of the job it is."""

    open_ledger: OpenLedger
    open_fetcher: OpenFetcher
    blobs: Blobs
    recipe: AnyRecipe
    clock: Clock
    progress: ProgressListener | None
    has_room: Callable[[], bool]
    make_room: Callable[[], None]
    random: Random
    lease_s: float
    stop_deadline_s: float
    trigger: str
    workers: int = 1
    place: int = 0
    claims_ahead: int = AHEAD
    stale_after_s: float = STALE_AFTER_S
    outage_s: float = OUTAGE_S
    journal: Journal | None = None
    files: Files | None = None  # without it no step can keep a file
    kept: Callable[[str], Path] = Path  # where a kept file of that name lies
    open_model: Callable[[], LanguageModel | None] = lambda: None
    refusal: Callable[[str], str | None] = lambda _url: None  # why a URL at a literal address is never connected to
    archived: Archived | None = None  # the pages of the archive that answers in place of the web
