"""What tests need from outside: fresh schemas on a real PostgreSQL, and an honest answer where a tool is missing."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import psycopg
import pytest
from psycopg import sql

DROP_LOCK_TIMEOUT_MS = 5000


@contextmanager
def fresh_schema(cluster_url: str) -> Iterator[str]:
    """The URL of a new, empty schema, dropped at the end. A transaction that a test left open makes the drop fail."""
    name = f"t_{secrets.token_hex(6)}"
    with psycopg.connect(cluster_url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(name)))
    yield f"{cluster_url}?options=-csearch_path%3D{name}"
    with psycopg.connect(cluster_url, autocommit=True) as connection:
        connection.execute(f"SET lock_timeout = {DROP_LOCK_TIMEOUT_MS}")
        connection.execute(sql.SQL("DROP SCHEMA {} CASCADE").format(sql.Identifier(name)))


def need_tool(name: str) -> str:
    """The path of a program this test cannot do without."""
    found = shutil.which(name)
    return found or cannot_run(f"{name} is not installed")


def need_root() -> None:
    if os.geteuid() != 0:
        cannot_run("needs root")


def cannot_run(reason: str) -> NoReturn:
    """In CI a test that cannot run has failed; elsewhere it is listed at the end of `make test`."""
    if os.environ.get("CI", "").lower() in ("1", "true"):
        pytest.fail(f"cannot run: {reason}", pytrace=False)
    pytest.skip(reason)
