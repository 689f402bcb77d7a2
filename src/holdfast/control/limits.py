"""Limits of single hosts as the settings state them, for every job."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.model.keys import seed_address
from holdfast.ports import Ledger


def limit_hosts(ledger: Ledger, hosts: Mapping[str, Mapping[str, int]]) -> None:
    """What the settings say about single hosts, for every job; what was typed since they said it stays."""
    for name, fields in hosts.items():
        host = seed_address(name).host
        ledger.configure_host(host, delay_ms=fields.get("delay"), concurrency=fields.get("concurrency"))
