"""A model behind `POST …/chat/completions`, as OpenAI and many others speak it. Fulfils `ports.LanguageModel`.

It is asked through a guarded fetcher, and not by robots.txt: a person named this address, and nothing is crawled there.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from holdfast.clock import Clock
from holdfast.errors import FetchError
from holdfast.model.exchange import Request, Response
from holdfast.policy.retry import read_retry_after
from holdfast.ports import Fetcher, ModelFailed

PATH = "/chat/completions"
WAITS_S = (1.0, 4.0)  # before the second and the third try
WAIT_S_MAX = 30.0  # a service that wants to be left alone for longer gives no answer this time
BUSY = frozenset({408, 425, 429})
TOKENS_MAX = 2_000  # of one answer
SAID_LENGTH_MAX = 200


class _Message(msgspec.Struct):
    content: str


class _Choice(msgspec.Struct):
    message: _Message


class _Answer(msgspec.Struct):
    choices: list[_Choice]


class ChatCompletions:
    """One question at a time. The fetcher is opened with the first."""

    def __init__(self, open_fetcher: Callable[[], Fetcher], url: str, name: str, key: str, clock: Clock) -> None:
        self._open, self._clock, self._key = open_fetcher, clock, key
        self._url = url if url.endswith(PATH) else url.rstrip("/") + PATH
        self._name = name
        self._fetcher: Fetcher | None = None

    @property
    def name(self) -> str:
        return self._name or "model"

    async def answer(self, instructions: str, text: str) -> str:
        """A service that is busy or broken is asked again, a few times; one that refuses is not."""
        messages = [{"role": "system", "content": instructions}, {"role": "user", "content": text}]
        asked = {"model": self.name, "messages": messages, "temperature": 0, "max_tokens": TOKENS_MAX}
        headers = (("Authorization", f"Bearer {self._key}"),) if self._key else ()
        request = Request.json(self._url, asked, headers)
        failed = ModelFailed("it was not asked")
        for wait_s in (*WAITS_S, None):
            try:
                response = await self._fetch(request)
            except FetchError as error:
                raise ModelFailed(f"{error.code}: {error.message}") from error
            if response.status == 200:
                return _content(response)
            failed = ModelFailed(f"HTTP {response.status}{self._said(response)}")
            wait_s = self._wait_s(response, wait_s)
            if wait_s is None:
                break
            await self._clock.wait(wait_s)
        raise failed

    async def close(self) -> None:
        if self._fetcher is not None:
            await self._fetcher.close()

    async def _fetch(self, request: Request) -> Response:
        if self._fetcher is None:
            self._fetcher = self._open()
        return await self._fetcher.fetch(request)

    def _wait_s(self, response: Response, usual_s: float | None) -> float | None:
        """How long to wait before the next try; None: there is none."""
        if usual_s is None or not (response.status in BUSY or response.status >= 500):
            return None
        told_s = read_retry_after(response.header("retry-after"), self._clock.wall_ms())
        wait_s = usual_s if told_s is None else max(told_s, 0.0)
        return wait_s if wait_s <= WAIT_S_MAX else None

    def _said(self, response: Response) -> str:
        """Why, in its words, which are shown in the report: without the key, should it repeat that."""
        text = response.body[:4_000].decode("utf-8", "replace")
        text = " ".join((text.replace(self._key, "***") if self._key else text).split())
        shown = "".join(sign for sign in text if sign.isprintable())[:SAID_LENGTH_MAX]
        return f": {shown}" if shown else ""


def _content(response: Response) -> str:
    try:
        return msgspec.json.decode(response.body, type=_Answer).choices[0].message.content
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, IndexError) as error:
        raise ModelFailed("its answer is not a chat completion") from error
