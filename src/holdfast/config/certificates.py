"""Certificates to trust besides the system's: a file of the job, and the one that SSL_CERT_FILE names."""

from __future__ import annotations

import logging
import os
from argparse import ArgumentTypeError
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from holdfast.errors import BadParams
from holdfast.roots import system_roots

log = logging.getLogger(__name__)

VARIABLE = "SSL_CERT_FILE"
BYTES_MAX = 10_000_000
_BEGINS = b"-----BEGIN CERTIFICATE-----"


def read_bundle(text: str) -> str:
    """A file of certificates as typed, made independent of where a command runs. It is opened when the job is kept."""
    if not text.strip():
        raise ArgumentTypeError("a file of certificates has a name")
    return str(Path(os.path.expanduser(text)).absolute())


def more_roots(bundle: str, environ: Mapping[str, str] | None = None) -> bytes:
    """Both files, one after the other, in PEM form, without what the system trusts anyway. BadParams where the job's
    cannot be used."""
    env = os.environ if environ is None else environ
    own = _read("--ca-bundle", Path(bundle)) if bundle else b""
    others = _of_the_environment(Path(env[VARIABLE])) if env.get(VARIABLE) else b""
    return b"\n".join(filter(None, (own, others)))


def _of_the_environment(path: Path) -> bytes:
    """A variable may have been set long ago and for another program: what cannot be used of it is told and ignored, as
    OpenSSL and curl do."""
    try:
        return _read(VARIABLE, path)
    except BadParams as error:
        _tell_once(f"{error.message}; it is ignored")
        return b""


@cache
def _tell_once(line: str) -> None:
    log.warning("%s", line)


def _read(what: str, path: Path) -> bytes:
    try:
        if path.stat().st_size > BYTES_MAX:
            raise BadParams(f"{what}: {path} is too large to hold certificates")
        content = path.read_bytes()
    except OSError as error:
        raise BadParams(f"{what}: {path} cannot be read: {error.strerror}") from error
    if _BEGINS not in content:
        raise BadParams(f"{what}: {path} has no certificate in PEM form", hint="openssl x509 -inform der -in FILE")
    more = _beyond_the_systems(content)
    if more:
        _check(what, path)
    return more


def _beyond_the_systems(content: bytes) -> bytes:
    """SSL_CERT_FILE often names the system's own file, or a copy with a certificate or a remark more: the many of the
    system would be parsed at every start, and a second time for every connection."""
    roots = system_roots()
    system = Path(roots).read_bytes() if roots else b""
    more = content.replace(system, b"") if system else content
    return more if _BEGINS in more else b""


def _check(what: str, path: Path) -> None:
    import ssl  # few commands come here

    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cafile=path)
    except ssl.SSLError as error:
        raise BadParams(f"{what}: {path} has a certificate that cannot be read: {error.reason or error}") from error
