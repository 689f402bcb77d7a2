"""Fetchers: the network, an archive or a browser, as one job is to be fetched; and the model that words its report."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from holdfast.clock import SystemClock
from holdfast.config.certificates import more_roots
from holdfast.config.headers import filled
from holdfast.errors import BadParams
from holdfast.model.exchange import BROWSER, HTTP
from holdfast.model.job import Job, Options
from holdfast.model.keys import canonical
from holdfast.ports import Fetcher, LanguageModel, Recorder, WebArchive
from holdfast.recipes import catalogue
from holdfast.wiring.agent import AGENT, budget_of
from holdfast.wiring.browsers import browser_fetcher_of

if TYPE_CHECKING:
    from holdfast.fetch.http.route import Route
    from holdfast.fetch.http.secrets import PrivateHeaders

log = logging.getLogger(__name__)

MODEL_S = 300.0  # for one answer of a model
MODEL_BYTES_MAX = 1_000_000


class FetcherFactory:
    """The fetchers of one job, by name: a new kind of fetcher is a line here. They share the job's route and cookies.

    `held`: how many bytes of its answers steps hold, and how many wait for a commit.
    """

    def __init__(
        self,
        job: Job,
        options: Options,
        held: Callable[[], tuple[int, int]],
        browser: Mapping[str, Any],
        recorder: Recorder | None = None,
    ) -> None:
        self._job, self._options, self._held, self._browser = job, options, held, browser
        self._recorder = recorder
        self._route = route_of(job, options)
        self._http: Fetcher | None = None

    def __call__(self, name: str) -> Fetcher:
        fetcher = self._named(name)
        if self._recorder is None:
            return fetcher
        from holdfast.fetch.recording import RecordedFetcher

        return RecordedFetcher(fetcher, self._recorder, SystemClock())

    def _named(self, name: str) -> Fetcher:
        if name == HTTP:
            self._http = fetcher_of(self._job, self._options, self._held, self._route)
            return self._http
        if name == BROWSER:
            return browser_fetcher_of(
                self._named(HTTP) if self._http is None else self._http, self._options, self._route, self._browser
            )
        raise BadParams(f"there is no fetcher {name!r}", hint=f"{HTTP} {BROWSER}")


class ArchiveFactory:
    """The fetcher of a job that WARC files answer: there is no other, and none that connects."""

    def __init__(self, archive: WebArchive, options: Options) -> None:
        self._archive, self._options = archive, options

    def __call__(self, name: str) -> Fetcher:
        if name != HTTP:
            raise BadParams("an archive answers, not the web: there is no browser to show its pages")
        from holdfast.fetch.archive.fetcher import ArchiveFetcher

        return ArchiveFetcher(self._archive, budget_of(self._options))


def route_of(job: Job, options: Options) -> Route:
    """How a job's exchanges leave. Cookies are kept where it asks for it, or its kind needs them (ux 3.2)."""
    from holdfast.fetch.cookies import CookieJar
    from holdfast.fetch.http.route import Route

    keeps_cookies = options.cookies or catalogue.kind_of(job).keeps_cookies
    jar = CookieJar() if keeps_cookies else None
    return Route(proxy=options.proxy, jar=jar, more_roots=more_roots(options.ca_bundle))


def fetcher_of(job: Job, options: Options, held: Callable[[], tuple[int, int]], route: Route) -> Fetcher:
    """The network for one job."""
    return _http_fetcher(options, held, _private_headers(job, options), route)


def list_fetcher(options: Options, url: str) -> Fetcher:
    """For the list of a job that may not be there yet. Its options are as stored: their secrets are filled in here.

    Typed headers go to the list's own origin, and to those that were named.
    """
    from holdfast.fetch.http.route import Route
    from holdfast.fetch.http.secrets import PrivateHeaders

    options = filled(options)
    route = Route(proxy=options.proxy, more_roots=more_roots(options.ca_bundle))
    private = PrivateHeaders(options.private_headers, [url, *options.headers_to])
    return _http_fetcher(options, lambda: (0, 0), private, route)


def _http_fetcher(
    options: Options, held: Callable[[], tuple[int, int]], private: PrivateHeaders, route: Route
) -> Fetcher:
    from holdfast.fetch.guard import Guard
    from holdfast.fetch.http.fetcher import HttpFetcher
    from holdfast.fetch.http.in_flight import BytesInFlight

    guard = Guard(allow=options.allow, allow_private=options.allow_private, resolve=options.resolve)
    return HttpFetcher(
        guard,
        budget_of(options),
        user_agent=options.user_agent or AGENT,
        headers=options.headers,
        concurrency=options.concurrency,
        clock=SystemClock(),
        route=route,
        private=private,
        in_flight=BytesInFlight(options.bytes_in_flight, held),
    )


def _private_headers(job: Job, options: Options) -> PrivateHeaders:
    from holdfast.fetch.http.secrets import PrivateHeaders

    private = PrivateHeaders(options.private_headers, [*_home(job), *options.headers_to])
    if private and not private.origins:
        names = ", ".join(name for name, _ in options.private_headers)
        log.warning("%s: sent to no host, since no URL was given; say where it may go: --headers-to HOST", names)
    return private


def _home(job: Job) -> list[str]:
    """The URLs that a person gave, among the params too: where typed headers may go."""
    inputs = job.params.get(catalogue.kind_of(job).inputs)
    listed = [text for text in inputs if "://" in text] if isinstance(inputs, list) else []
    return [*listed, *(text for text in job.params.values() if isinstance(text, str))]


def refuse_private_seed(options: Options, url: str) -> str | None:
    """The sentence that refuses a seed at a literal private address, or None."""
    from holdfast.fetch.guard import Guard

    guard = Guard(allow=options.allow, allow_private=options.allow_private, resolve=options.resolve)
    address = canonical(url)
    return None if address is None else guard.check_seed(address.url)


def language_model_of(options: Options) -> LanguageModel | None:
    """The service that words the sections of a report, behind the same guard as every site; None: the job names none.

    It has a fetcher of its own: it thinks for longer than a site may take, and is told none of the job's headers.
    """
    if not options.model_url:
        return None
    from holdfast.fetch.chat_completions import ChatCompletions
    from holdfast.fetch.http.route import Route
    from holdfast.fetch.http.secrets import PrivateHeaders

    patient = msgspec.structs.replace(
        options, headers=(), concurrency=1, max_bytes=MODEL_BYTES_MAX, timeout_s=MODEL_S, first_byte_timeout_s=MODEL_S,
        idle_timeout_s=MODEL_S,
    )  # fmt: skip
    route = Route(proxy=options.proxy, more_roots=more_roots(options.ca_bundle))
    return ChatCompletions(
        lambda: _http_fetcher(patient, lambda: (0, 0), PrivateHeaders((), []), route),
        options.model_url,
        options.model,
        options.model_key,
        SystemClock(),
    )
