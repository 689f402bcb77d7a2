"""A server that speaks another language is understood by its SQLSTATEs. Here one that says a single thing."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest
from psycopg import errors as pg

from holdfast.clock import ManualClock
from holdfast.errors import BadParams, Denied, HoldfastError, LedgerUnavailable
from holdfast.ledger.postgres import PostgresLedger
from holdfast.ledger.postgres_address import check_address
from holdfast.ledger.postgres_refusals import translated

WANTS_TLS = (80877103).to_bytes(4, "big")


@contextmanager
def refusing(code: str, sentence: str) -> Iterator[str]:
    """The address of a server that refuses everybody in these words."""
    fields = b"".join(text.encode() + b"\0" for text in ("SFATAL", "VFATAL", f"C{code}", f"M{sentence}"))
    answer = b"E" + (len(fields) + 5).to_bytes(4, "big") + fields + b"\0"

    def serve() -> None:
        while True:
            try:
                guest, _ = listener.accept()
            except OSError:
                return
            with guest:
                if guest.recv(1000)[4:8] == WANTS_TLS:
                    guest.sendall(b"N")
                    guest.recv(1000)
                guest.sendall(answer)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = threading.Thread(target=serve)
        server.start()
        try:
            yield f"postgresql://frog:secret@127.0.0.1:{listener.getsockname()[1]}/the%20marsh"
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            server.join()


@pytest.mark.parametrize(
    ("code", "sentence", "kind"),
    [
        ("3D000", "Datenbank »the marsh« existiert nicht", BadParams),
        ("28P01", "Passwort-Authentifizierung für Benutzer »frog« fehlgeschlagen", Denied),
        ("28000", "Rolle »frog« existiert nicht", Denied),
        ("42501", "keine Berechtigung für Datenbank »the marsh«", Denied),
        ("57P03", "das Datenbanksystem startet", LedgerUnavailable),
        ("53300", "tut mir leid, schon zu viele Verbindungen", LedgerUnavailable),
    ],
)
def test_a_refusal_in_another_language_is_understood(code: str, sentence: str, kind: type[HoldfastError]) -> None:
    """D14: what passes by itself is waited for, and nothing else."""
    with refusing(code, sentence) as url, pytest.raises(HoldfastError) as refused:
        PostgresLedger.open(url, ManualClock())
    assert type(refused.value) is kind
    assert "secret" not in f"{refused.value} {refused.value.hint}"


def test_a_database_that_is_not_there_is_named_in_our_words() -> None:
    with refusing("3D000", "Datenbank »the marsh« existiert nicht") as url, pytest.raises(BadParams) as refused:
        PostgresLedger.open(url, ManualClock())
    assert refused.value.message == 'PostgreSQL has no database "the marsh"'
    assert refused.value.hint == "createdb 'the marsh', or check the name in --database"


@pytest.mark.parametrize(
    ("error", "kind"), [(pg.InvalidCatalogName, BadParams), (pg.InvalidPassword, Denied), (pg.DiskFull, HoldfastError)]
)
def test_what_the_driver_gives_a_sqlstate_is_told_by_it(error: type[psycopg.Error], kind: type[HoldfastError]) -> None:
    told = translated(error("nö"))
    assert isinstance(told, kind)
    assert not isinstance(told, LedgerUnavailable)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://", "postgres://h", "postgresql:///marsh?host=/run/pg", "postgresql://h1:1,h2:2,h3/marsh",
        "postgresql://[::1]:5432/marsh", "postgresql://frog:p%40s%2Fs?#@h/marsh", "postgresql://h/m?user=frog@pond",
        "postgresql://%2Frun%2Fpg/marsh?options=-csearch_path%3Dt", "postgresql://h/marsh?password=a@b/c",
        "postgresql:///db@x",
    ],
)  # fmt: skip
def test_an_address_that_can_be_read_is_not_refused(url: str) -> None:
    check_address(url)
