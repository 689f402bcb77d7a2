"""Which target a person means: by id (`T-9`), by the key that its recipe gave it, by URL or by path. Only reads."""

from __future__ import annotations

import re
from typing import Protocol

from holdfast.errors import BadParams, NotFound
from holdfast.model.job import Job
from holdfast.model.keys import KEY_BYTES, Address, canonical, key_of, key_of_name, origin_of, seed_address
from holdfast.model.target import TargetRow
from holdfast.ports import Looks, Views
from holdfast.recipe.kind import Kind

SAME_URL_MAX = 100  # a `*` in a URL is a glob to the filter: of what it finds, only the very URL counts
_TARGET_ID = re.compile(r"T-([0-9a-f]{1,15})")
_KEY = re.compile(rf"[0-9a-f]{{{2 * KEY_BYTES}}}")
_LIKE_A_URL = re.compile(r"[^/\s]+\.[^/\s]+/\S*")  # example.org/docs


class TargetLookup(Views, Looks, Protocol):
    """The faces of a ledger that a target is looked up in."""


def find(ledger: TargetLookup, job: Job, kind: Kind, reference: str) -> tuple[TargetRow | None, Address | None]:
    """The target, or else the address that the job has no target for.

    NotFound for an id or a key that is not there, BadParams for a URL that cannot be fetched.
    """
    row = _by_id(ledger, job, reference) or ledger.find(job.id, key_of_name(reference, ledger.salt()))
    if row is None and _KEY.fullmatch(reference):
        row = ledger.find(job.id, bytes.fromhex(reference))
    if row is not None:
        return row, None
    address = _address(ledger, job, kind, reference)
    return _by_other_name(ledger, job, kind, address, reference) or _by_address(ledger, job, kind, address), address


def target_of(ledger: Views, job: Job, target: int) -> TargetRow | None:
    """The job's target of this id."""
    rows = ledger.targets(job.id, after=target - 1, limit=1)
    return rows[0] if rows and rows[0].id == target else None


def _by_id(ledger: Views, job: Job, reference: str) -> TargetRow | None:
    found = _TARGET_ID.fullmatch(reference)
    return None if found is None else target_of(ledger, job, int(found[1], 16))


def _by_other_name(ledger: TargetLookup, job: Job, kind: Kind, address: Address, reference: str) -> TargetRow | None:
    """By what the kind calls targets that are about a URL, as it was typed or in canonical form."""
    salt = ledger.salt()
    names = (name for url in dict.fromkeys((reference, address.url)) for name in kind.also_named(job.params, url))
    rows = (ledger.find(job.id, key_of_name(name, salt)) for name in names)
    return next((row for row in rows if row is not None), None)


def _by_address(ledger: TargetLookup, job: Job, kind: Kind, address: Address) -> TargetRow | None:
    """By the key of the URL; a target with a key of its own is looked for among the rows."""
    row = ledger.find(job.id, key_of(address, ledger.salt()))
    if row is not None or not kind.names_targets:  # there may be millions of them
        return row
    rows = ledger.targets(job.id, where=[("url", True, (address.url,))], limit=SAME_URL_MAX)
    return next((row for row in rows if row.url == address.url), None)


def _address(ledger: Views, job: Job, kind: Kind, reference: str) -> Address:
    """A URL as it was typed; a path is taken where the kind of job is at home."""
    hint = f"holdfast targets {job.word}"
    if _TARGET_ID.fullmatch(reference):
        raise NotFound(f"{job.name} has no target {reference}", hint=hint)
    if reference.startswith("/"):
        origin = kind.home(job.params) or _first_origin(ledger, job)
        address = None if origin is None else canonical(origin + reference)
        if address is not None:
            return address
    elif "://" in reference or _LIKE_A_URL.fullmatch(reference):
        try:
            return seed_address(reference)
        except BadParams:
            told = f"{reference!r} is neither a URL nor a target"
            raise BadParams(told, hint="https://…, T-9 or a key") from None
    raise NotFound(f"no target of {job.name} has the key {reference}; a URL begins with http", hint=hint)


def _first_origin(ledger: Views, job: Job) -> str | None:
    """Of the first target; None before there is one."""
    rows = ledger.targets(job.id, limit=1)
    return origin_of(rows[0].url) if rows else None
