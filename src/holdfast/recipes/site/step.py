"""One page of a site, worked: fetch it, read it, say what came of it. It returns an outcome and never writes.

A redirect to another URL is not followed (FRO-09): this target ends as a duplicate, the other becomes a target of the
same depth. So each URL is asked for once, whatever the order in which they are found.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

import msgspec

from holdfast.clock import Clock
from holdfast.model.codes import code_of_status
from holdfast.model.exchange import NOT_MODIFIED, Response, media_of
from holdfast.model.keys import Address, canonical
from holdfast.model.outcome import NOFOLLOW, UNCHANGED, Body, Done, Failed, Outcome, Record, Skipped
from holdfast.model.target import Claimed
from holdfast.policy.directives import HEADER, Directives, read_directives
from holdfast.policy.directives import NONE as NOTHING_ASKED
from holdfast.policy.retry import read_retry_after
from holdfast.policy.sitemaps import names_llms_txt, read_llms_txt
from holdfast.recipe import Fetch
from holdfast.recipes.site.charset import decode, decoded
from holdfast.recipes.site.following import REDIRECTS_MAX, Site, as_a_seed, follow
from holdfast.recipes.site.page import HTML_BYTES_MAX, SitePage, read_page
from holdfast.recipes.site.refresh import read_refresh
from holdfast.recipes.site.sniffing import UNKNOWN_MEDIA, is_html, is_xml
from holdfast.recipes.site.soft_404 import SOFT_404, soft_404
from holdfast.recipes.site.validators import asking_again, validators_of

REDIRECTS = frozenset({301, 302, 303, 307, 308})
CONTENT_TYPE_LENGTH_MAX = 200
_NO_PAGE = SitePage(None, None, None, ())


class PageRecord(msgspec.Struct, frozen=True, kw_only=True):
    """The record of a page. `limit` counts links beyond the cap, `nofollow` those left because the page asks so;
    `noindex` is what it asks of indexes; `not_parsed` says why no links were read.
    """

    title: str | None
    status_code: int
    fetched_at: int  # wall ms
    content_type: str
    links: int
    canonical: str | msgspec.UnsetType = msgspec.UNSET
    refresh: str | msgspec.UnsetType = msgspec.UNSET
    limit: int | msgspec.UnsetType = msgspec.UNSET
    nofollow: int | msgspec.UnsetType = msgspec.UNSET
    noindex: bool | msgspec.UnsetType = msgspec.UNSET
    not_parsed: str | msgspec.UnsetType = msgspec.UNSET
    etag: str | msgspec.UnsetType = msgspec.UNSET
    last_modified: str | msgspec.UnsetType = msgspec.UNSET


class _Read(msgspec.Struct, frozen=True, gc=False):
    """A body as read; `not_parsed` says why no links were."""

    page: SitePage
    content_type: str
    media: str
    codec: str = "utf-8"
    is_html: bool = False
    not_parsed: str = ""


async def work(here: Claimed, fetch: Fetch, site: Site, clock: Clock) -> Outcome:
    """Fetch the page at `here`: one request. A redirect is another target's matter.

    Asked for only if it has changed, and unchanged, it keeps its earlier result: what it links to is known already.

    One that leads to itself would, without cookies, be answered the same way for ever, so it is not asked again.
    """
    asking = asking_again(here.before)
    response = await fetch(here.url, asking)
    if asking and response.status == NOT_MODIFIED:
        return Done(UNCHANGED, status_code=response.status)
    if response.status not in REDIRECTS:
        return _answered(here, response, site, response.answered_at or clock.wall_ms())
    there = canonical(response.header("location") or "about:blank", here.url)
    if there is None:
        return Failed("bad_url", "redirects to no http or https URL", response.status)
    if there.url == here.url:
        return _to_itself(here, response, site)
    refusal = site.context.refusal(there.url)
    if refusal is not None:
        return Failed("blocked_address", f"redirects to {there.url}: {refusal}", response.status)
    return _redirected(here, there, site, response.status)


def _to_itself(here: Claimed, response: Response, site: Site) -> Outcome:
    """With cookies the answer may be another one the next time: that is a second attempt, at the host's pace."""
    if site.context.cookies and here.attempts == 1 and response.header("set-cookie"):
        return Failed("bad_response", "redirects to itself and sets a cookie; asked again with it", response.status)
    return Failed("too_many_redirects", "redirects to itself", response.status)


def _redirected(here: Claimed, there: Address, site: Site, status: int) -> Outcome:
    if here.hops >= REDIRECTS_MAX:
        return Failed("too_many_redirects", f"hop {here.hops + 1} of a chain, to {there.url}", status)
    because = f"redirects to {there.url}"
    ruling = site.scope.judge(there, page_host=here.host, depth=here.depth)
    # Depth 0 is a seed or where a seed led: a person asked for it, so no rule applies and its host becomes the scope.
    if ruling.kind == "in" or here.depth == 0:
        found = site.found(there, depth=here.depth, hops=here.hops + 1)
        return Skipped("duplicate", because, found=(found,), status_code=status)
    if ruling.kind == "external":
        external = site.context.external(there)
        return Skipped("out_of_scope", f"{because}, out of scope", external=(external,), status_code=status)
    left_out = site.context.found(there, depth=here.depth, disposition=ruling.kind, rule=ruling.rule)
    return Skipped("duplicate", because, found=(left_out,), status_code=status)


def _answered(here: Claimed, response: Response, site: Site, now_ms: int) -> Outcome:
    if not 200 <= response.status < 300 or response.status == 206:
        code = code_of_status(response.status) or "bad_response"
        retry_after_s = read_retry_after(response.header("retry-after"), now_ms)
        return Failed(code, f"HTTP {response.status}", response.status, retry_after_s)
    headers = response.first()
    read = _read(here, response, headers, site)
    said = _directives(read.page, response) if read.page.robots or HEADER in headers else NOTHING_ASKED
    ways = follow(here, read.page, read.codec, NOTHING_ASKED if site.context.nofollow == "off" else said, site)
    if here.depth == 0 and read.is_html:
        ways = as_a_seed(ways, site, read.not_parsed)
    missing = _says_missing(here, read, response.body)
    if missing:
        links = ways.links
        return Skipped(SOFT_404, missing, found=links.found, external=links.external, status_code=response.status)
    kept = validators_of(headers)
    record = PageRecord(
        title=read.page.title,
        status_code=response.status,
        fetched_at=now_ms,
        content_type=_shown(read.content_type),
        links=ways.links.count,
        canonical=ways.canonical or msgspec.UNSET,
        refresh=ways.refresh or msgspec.UNSET,
        limit=ways.links.beyond or msgspec.UNSET,
        nofollow=ways.left or msgspec.UNSET,
        noindex=said.noindex or msgspec.UNSET,
        not_parsed=read.not_parsed or msgspec.UNSET,
        etag=kept.etag,
        last_modified=kept.last_modified,
    )
    return Done(
        NOFOLLOW if said.nofollow and ways.left else "page",
        body=kept_body(here, response, read.media, now_ms),
        records=(Record("page", msgspec.json.encode(record)),),
        found=ways.links.found,
        external=ways.links.external,
        status_code=response.status,
        rule=ways.rule,
        because=ways.because,
    )


def _says_missing(here: Claimed, read: _Read, body: bytes) -> str:
    """Of a seed, a person's word is taken; a page whose links nobody could read is stored as it is."""
    if not here.depth or not read.is_html or read.not_parsed:
        return ""
    return soft_404(read.page.title, body, read.content_type)


def _directives(page: SitePage, response: Response) -> Directives:
    return read_directives(page.robots, [value for name, value in response.headers if name == HEADER])


def _read(here: Claimed, response: Response, headers: Mapping[str, str], site: Site) -> _Read:
    body, content_type = response.body, headers.get("content-type", "")
    media = media_of(content_type)
    if not is_html(media, body, no_sniffing=media in UNKNOWN_MEDIA and _forbids_sniffing(headers)):
        return _Read(_NO_PAGE if here.depth else _read_list(here, response), content_type, media)
    if len(body) > HTML_BYTES_MAX:
        not_parsed = f"HTML over {HTML_BYTES_MAX // 1_000_000} MB: stored, not parsed"
        return _Read(_NO_PAGE, content_type, media, is_html=True, not_parsed=not_parsed)
    text, codec = decoded(body, content_type)
    page = read_page(text, sees_marks=site.context.nofollow == "all", is_xml=is_xml(media))
    if page.refresh is None and (header := headers.get("refresh")):
        page = msgspec.structs.replace(page, refresh=read_refresh(header))
    return _Read(page, content_type, media, codec, is_html=True)


def _forbids_sniffing(headers: Mapping[str, str]) -> bool:
    return headers.get("x-content-type-options", "").partition(",")[0].strip().lower() == "nosniff"


def _read_list(here: Claimed, response: Response) -> SitePage:
    """A seed that is an llms.txt is a list of links; any other text is a page without links."""
    if not names_llms_txt(urlsplit(here.url).path) or len(response.body) > HTML_BYTES_MAX:
        return _NO_PAGE
    title, hrefs = read_llms_txt(decode(response.body, response.header("content-type") or ""))
    return SitePage(title, None, None, hrefs)


def kept_body(here: Claimed, response: Response, media: str, now_ms: int) -> Body:
    return Body(here.url, response.status, response.headers, response.body, b"", media, now_ms)


def _shown(header: str) -> str:
    """A header as JSON can hold it."""
    return header[:CONTENT_TYPE_LENGTH_MAX].encode("utf-8", "replace").decode()
