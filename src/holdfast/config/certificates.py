"""Certificates to trust besides the system's: a file of the job, and the one that SSL_CERT_FILE names."""

from __future__ import annotations

import os
from argparse import ArgumentTypeError
from collections.abc import Mapping
from pathlib import Path

from holdfast.errors import BadParams

VARIABLE = "SSL_CERT_FILE"
BYTES_MAX = 10_000_000
_BEGINS = b"-----BEGIN CERTIFICATE-----"


def read_bundle(text: str) -> str:
    """A file of certificates as typed, made independent of where a command runs. It is opened when the job is kept."""
    if not text.strip():
        raise ArgumentTypeError("a file of certificates has a name")
    return str(Path(os.path.expanduser(text)).absolute())


def more_roots(bundle: str, environ: Mapping[str, str] | None = None) -> bytes:
    """Both files, one after the other, in PEM form. BadParams where one of them cannot be used."""
    env = os.environ if environ is None else environ
    files = {"--ca-bundle": bundle, VARIABLE: env.get(VARIABLE, "")}
    return b"\n".join(_read(what, Path(name)) for what, name in files.items() if name)


def _read(what: str, path: Path) -> bytes:
    try:
        if path.stat().st_size > BYTES_MAX:
            raise BadParams(f"{what}: {path} is too large to hold certificates")
        content = path.read_bytes()
    except OSError as error:
        raise BadParams(f"{what}: {path} cannot be read: {error.strerror}") from error
    if _BEGINS not in content:
        raise BadParams(f"{what}: {path} has no certificate in PEM form", hint="openssl x509 -inform der -in FILE")
    _check(what, path)
    return content


def _check(what: str, path: Path) -> None:
    import ssl  # few commands come here

    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cafile=path)
    except ssl.SSLError as error:
        raise BadParams(f"{what}: {path} has a certificate that cannot be read: {error.reason or error}") from error
