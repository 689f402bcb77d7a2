"""Where this system keeps the roots of trust."""

from __future__ import annotations

import os
from functools import cache

# By distribution; the wheel's libcurl was built for only one of them.
CA_FILES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)


@cache
def system_roots() -> str | None:
    return next((path for path in CA_FILES if os.path.exists(path)), None)
