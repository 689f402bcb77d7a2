"""Errors as REST answers them: each class has its status beside its code (design.md 6: an illegal move is 409)."""

from __future__ import annotations

import pytest

from holdfast import errors


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        (errors.UsageError, 422),
        (errors.NotFound, 404),
        (errors.IllegalMove, 409),
        (errors.Refused, 409),
        (errors.BadParams, 422),
        (errors.LedgerUnavailable, 503),
        (errors.LedgerUnfit, 500),
        (errors.LostLease, 409),
        (errors.Denied, 403),
        (errors.DiskFull, 507),
        (errors.Corrupt, 500),
        (errors.FetchError, 500),
    ],
)
def test_every_error_has_its_status(kind: type[errors.HoldfastError], status: int) -> None:
    assert kind.http_status == status
