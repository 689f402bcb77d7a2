"""Links that are followed under another address than they name, by two rules; explain says so. Pure.

A *session* in a URL (`?PHPSESSID=…`, `;jsessionid=…`) makes ever new URLs of one page: the link is followed without it.
A *file view* of a code host (`/owner/project/blob/main/README.md`) wraps a text in a page: the text itself is followed,
where the same host has it (`/owner/project/raw/main/README.md`). Redirects are never rewritten: a site that redirects
to a session would be a loop.
"""

from __future__ import annotations

import re

from holdfast.model.keys import Address

_SESSION_NAMES = r"(?:phpsessid|jsessionid|aspsessionid[a-z]*|oscsid|zenid|sessionid|session_id|sid)"
_SESSION_VALUE = r"[0-9A-Za-z_,.!~-]{16,256}"
_IN_QUERY = re.compile(rf"(?<=[?&]){_SESSION_NAMES}={_SESSION_VALUE}(?:&|$)", re.IGNORECASE)
_IN_PATH = re.compile(rf";jsessionid={_SESSION_VALUE}(?=[?/;]|$)", re.IGNORECASE)
_TEXTS = r"(?:md|mdx|markdown|rst|txt|adoc|py|js|ts|rs|go|c|h|cpp|java|rb|sh|toml|yaml|yml|json|ipynb)"
_FILE_VIEW = re.compile(rf"(/[^/?]+/[^/?]+/(?:-/)?)blob(/[^/?]+/[^?]+\.{_TEXTS})$")


def followed_as(address: Address) -> Address:
    """The address that a link to this one is followed as; mostly the same object."""
    if "=" not in address.path:
        return address if "/blob/" not in address.path else file_itself(address)
    path, mark, query = _IN_PATH.sub("", address.path).partition("?")
    return file_itself(_at(address, path + _without_session(mark + query)))


def file_itself(address: Address) -> Address:
    """Of the view of a text file, that file; for seeds, too, of which nothing else is rewritten."""
    return _at(address, _FILE_VIEW.sub(r"\1raw\2", address.path)) if "/blob/" in address.path else address


def _at(address: Address, path: str) -> Address:
    return address if path == address.path else Address(address.origin + path, address.origin, address.host, path)


def _without_session(query: str) -> str:
    left = _IN_QUERY.sub("", query)
    return left if left == query else left.rstrip("?&")
