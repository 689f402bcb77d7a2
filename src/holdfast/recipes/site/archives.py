"""Site jobs that read WARC files in place of the web (`--from-warc`). Their files are opened elsewhere."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from holdfast.errors import BadParams
from holdfast.model.keys import seed_address
from holdfast.model.target import Found
from holdfast.policy.scope import Scope
from holdfast.recipe import Context

SUFFIXES = (".gz", ".warc")


def checked_archives(params: dict[str, Any], names: list[str]) -> list[str]:
    """The files and folders by their whole paths. BadParams where an option needs a URL to begin with."""
    if names and not params["seeds"]:
        for name, unset in (("sitemap", "off"), ("scope", "host")):
            if params[name] != unset:
                raise BadParams(f"--{name} needs a URL to begin with; without one, every page of the archive is taken")
    return list(dict.fromkeys(os.path.abspath(name) for name in names))


def name_of(params: dict[str, Any]) -> str:
    """`site` of `site.warc.gz`."""
    name = os.path.basename(str(params["from_warc"][0])).lower()
    for suffix in SUFFIXES:
        name = name.removesuffix(suffix)
    return name


def plan_archived(context: Context, start: int) -> Iterator[Found]:
    """Every HTML page of the archive, in its order; what a pattern leaves out is recorded as skipped."""
    if context.archived is None:
        raise BadParams("this job reads an archive, and was given none")
    scope = Scope.of(context.params)
    for url in context.archived(start):
        address = seed_address(url)
        ruling = scope.judge(address, page_host=address.host, depth=0)
        left_out = "" if ruling.kind == "in" else ruling.kind
        yield context.found(address, depth=0, disposition=left_out, rule=ruling.rule)
