"""The network, and the listener that hears of progress.

Whatever asks the web for something is a `Fetcher`, whether it speaks HTTP itself or drives a browser. By the time a
request gets to it, the engine has obeyed robots.txt and waited for the host's turn. A fetcher checks the address it
connects to, and that of everything it loads besides, keeps its budgets, and follows no redirect of the page itself: a
redirect is an answer, and the next hop is another request. It is opened when it is first asked for, on the event loop
that uses it, and closed once.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Protocol, runtime_checkable

from holdfast.model.browsing import Admit, BrowserPage
from holdfast.model.exchange import Request, Response
from holdfast.model.job import Counts, Job
from holdfast.ports.files import FileSink


class Fetcher(Protocol):
    """The network, guarded. Raises FetchError with a code of model/codes.py, and no other error on a site's account.

    Any complete answer is a Response, whatever its status. Cancelling a call drops its exchange at once. Many tasks may
    call it at the same time; a fetcher that can do less lets them wait.
    """

    async def fetch(self, request: Request) -> Response:
        """One exchange, its body in memory. A request with a body is sent once: never again without being asked to."""

    async def download(self, request: Request, sink: FileSink) -> Response:
        """One exchange whose body goes to the sink, if that wants it; then the Response has none. An idle connection
        ends it, a slow one that moves does not. BadParams where this fetcher gives no files."""

    async def close(self) -> None:
        """Drop what is in flight, with `network_error` to its callers. May be repeated."""


@runtime_checkable
class Browsing(Protocol):
    """What a fetcher that drives a browser has besides: pages that a step works by hand (`fetch.page()`)."""

    def page(self, admit: Admit, keep: str = "") -> AbstractAsyncContextManager[BrowserPage]:
        """A page of its own for the length of the block; `admit` is awaited before each document is asked for, those
        that redirects lead to included. `keep`: one as the last block of that name left it, unless by an error; a new
        one where there is none. FetchError `browser_crashed` where the browser is gone: what was done by hand
        cannot be repeated."""


class Recorder(Protocol):
    """Where every exchange of a job is kept. Threads may call it at the same time."""

    def keep(self, request: Request, response: Response, at_ms: int, *, in_file: bool = False) -> None:
        """Returns when it is on the disk; DiskFull where there is no room."""

    def close(self) -> None: ...


OpenFetcher = Callable[[str], Fetcher]  # by name; BadParams where there is none of that name


class ProgressListener(Protocol):
    """Hears of progress while a job is worked. Called only after the commit that made the numbers true."""

    def __call__(self, job: Job, counts: Counts, in_flight: int, checkpoint: int | None) -> None: ...
