"""A page in a browser, as a step works it by hand: sites that want forms filled in and buttons clicked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

Admit = Callable[[str], Awaitable[None]]  # awaited before a document is asked for; raises where it must not be


class BrowserPage(Protocol):
    """One tab for the length of one `async with fetch.page() as page`, with the cookies of its job.

    Every document that it goes to, by whatever way, obeys robots.txt and takes its turn at its host first; every
    connection is checked by address. Nothing waits for ever: deadlines are the settings `browser.*`. What goes wrong is
    a FetchError with a code of its own, such as `element_not_found` or `click_timeout`.
    """

    @property
    def url(self) -> str:
        """Where the page is now."""

    async def goto(self, url: str) -> int:
        """Load a page, which may be relative to the present one: the status of its answer, redirects followed."""

    async def fill(self, selector: str, text: str) -> None:
        """Write into a field, once it is there."""

    async def click(self, selector: str) -> None:
        """Click, once it is there; a page that this leads to has loaded afterwards."""

    async def wait_for(self, selector: str = "", *, text: str = "", within_s: float | None = None) -> None:
        """Until something of this selector, or with this text in it, can be seen."""

    async def content(self) -> str:
        """The page as it is now, as HTML."""

    async def evaluate(self, script: str, argument: Any = None) -> Any:
        """The value of a JavaScript expression, or of a function called with the argument."""

    def in_flight(self) -> frozenset[object]:
        """The requests of the page's scripts that were sent and not answered yet, for comparison with later ones."""

    def ended(self) -> Mapping[object, bool | None]:
        """Those that were answered, and whether well; None: the page itself gave it up, or another site did not answer.
        Answers that the page cannot read are left out."""
