"""Files of candidates that come in at once, to two workers: each has its own bytes under the path that its row has."""

from __future__ import annotations

import asyncio
import io
from pathlib import Path
from typing import Any

import msgspec
from PIL import Image

from holdfast.blobs.artifacts import ArtifactFiles
from holdfast.clock import SystemClock
from holdfast.demo.engines.pictures import scene
from holdfast.engine.downloads import Downloads
from holdfast.model.artifact import FetchedFile
from holdfast.model.exchange import Request, Response
from holdfast.model.outcome import Done
from holdfast.model.target import Claimed
from holdfast.ports import FileSink
from holdfast.recipe import Context
from holdfast.recipes.images.download import ImageDownloads
from holdfast.recipes.images.engines.answer import Candidate
from holdfast.recipes.images.facts import AskedQuestion, Downloaded, Wanted, as_json

HEADERS = (("content-type", "image/jpeg"),)
PIECE = 4096


class Attempt:
    """One download of a worker. Fulfils `recipe.Fetch` as far as that needs it: the body comes piece by piece."""

    def __init__(self, number: int, engine: str, round: int) -> None:
        asked = AskedQuestion("cat", engine, round, query="cat")
        wanted = Wanted(asked.named(Candidate("https://i.test/0.jpg", 0, "")), asked)  # each the first of its answer
        self.body = picture(number)
        self.here = Claimed(
            number, 1, 1, b"", "https://i.test/0.jpg", "i.test", "download", 0, None, 0, 1, 1, params=as_json(wanted)
        )

    async def file(self, request: Request, *, into: str = "", max_bytes: int = 0, total_s: Any = None) -> FetchedFile:
        return await self.downloads.fetch(request, self._send, into=into, bytes_max=max_bytes)

    async def _send(self, request: Request, sink: FileSink) -> Response:
        assert sink.begin(200, HEADERS)
        for at in range(0, len(self.body), PIECE):
            sink.write(self.body[at : at + PIECE])
            await asyncio.sleep(0)
        return Response(url=request.url, status=200, headers=HEADERS, body=b"")

    async def path(self, files: ArtifactFiles, downloads: ImageDownloads) -> str:
        """Work it as a step and its commit do; the path that its record has."""
        self.downloads = Downloads(files, self.here)
        fetch: Any = self
        outcome = await downloads.step(self.here, fetch, Context(params={"min_size": "200x200"}, salt=b"", chunking=""))
        assert isinstance(outcome, Done)
        files.keep(self.downloads.taken(outcome.files))
        return msgspec.json.decode(outcome.records[0].doc, type=Downloaded).path


def picture(number: int) -> bytes:
    out = io.BytesIO()
    made: Image.Image = scene(7, "frog", number)
    made.resize((600, 500)).save(out, "JPEG", quality=95)
    assert out.tell() > 4 * PIECE
    return out.getvalue()


def test_files_that_come_in_at_once_do_not_overwrite_each_other(tmp_path: Path) -> None:
    """Defect line 3 of the engines world: two engines, two variations, one URL, one rank; two workers."""
    attempts = [Attempt(n, engine, n % 2) for n, engine in enumerate(("google", "google", "bing", "bing"), 1)]
    workers = [(ArtifactFiles(tmp_path, "J-1", "boot"), ImageDownloads(SystemClock())) for _ in range(2)]

    async def play() -> list[str]:
        return await asyncio.gather(*(one.path(*workers[n % 2]) for n, one in enumerate(attempts)))

    paths = asyncio.run(play())
    for files, _ in workers:
        files.close()
    assert [(tmp_path / path).read_bytes() for path in paths] == [one.body for one in attempts]
    assert len(set(paths)) == 4
