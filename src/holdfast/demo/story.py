"""`holdfast demo`: a crawl is killed half-way with SIGKILL and goes on; then the books, and the proofs from outside.

It uses Holdfast as a user does, by its command line, and believes only the site's own log and the ledger's rows.
"""

from __future__ import annotations

import shutil
import tempfile
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from holdfast.config import Settings
from holdfast.demo.asks import Asks
from holdfast.demo.command import ChildCommand, now_ns
from holdfast.demo.crawler import Crawler
from holdfast.demo.proofs import DemoProof, KilledCrawl, prove
from holdfast.demo.scenes import COURT, ENGINES, REPORT_FILE, SCENES, SHOWN, STORIES, Scene, scene_of
from holdfast.demo.serving import WorldServer
from holdfast.demo.stretch import Stretch
from holdfast.demo.telling import Advance, DemoOutput
from holdfast.errors import BadParams
from holdfast.model.spelling import did_you_mean, install

WORLDS = (*SCENES, COURT, ENGINES)
SEED = 7
CONCURRENCY = 8
KILL_AT_SHARE = 0.5
IMAGES_NEED = ("PIL",)
CHECK_FAILED = 9
WORDS_SHOWN = 2000
QUOTED = ("Resuming ", "Recovered ")  # what the resumed command says that is worth hearing
PAGES_FILE = "pages.jsonl"
LOG_FILE = "demo-requests.jsonl"


def run(
    world: str = WORLDS[0],
    *,
    data: str | Path | None = None,
    keep: bool = False,
    seed: int = SEED,
    delay_ms: int | None = None,
    plain: bool = False,
    color: bool = True,
) -> int:
    """Tell the story. 0: every proof holds; 9: one does not. Without `data` or `keep` nothing stays behind."""
    world = STORIES.get(world, world)
    if world not in WORLDS:
        raise BadParams(f"there is no world {world!r}; there are: {', '.join(SHOWN)}{did_you_mean(world, SHOWN)}")
    teller = DemoOutput(plain=plain, color=color)
    with ExitStack() as stack:
        aside = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="holdfast-demo-aside-")))
        folder = Path(tempfile.mkdtemp(prefix="holdfast-demo-")) if data is None else Path(data)
        if data is None and not keep:
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
        log = _fresh_log(folder)
        if world == COURT:
            return _court(stack, teller, log, folder, aside, seed, is_kept=data is not None or keep)
        if world == ENGINES:
            return _images(stack, teller, log, folder, aside, seed, is_kept=data is not None or keep)
        scene = scene_of(world)
        pace_ms = scene.delay_ms if delay_ms is None else delay_ms  # slow enough to be watched
        site = stack.enter_context(WorldServer(world, log_path=log, seed=seed, delay_ms=pace_ms))
        story = _Story(world, scene, teller, site, stack.enter_context(Asks(log)), folder, aside)
        proofs = story.tell()
        story.end(proofs, is_kept=data is not None or keep)
    return 0 if all(proof.holds for proof in proofs) else CHECK_FAILED


def _court(
    stack: ExitStack, teller: DemoOutput, log: Path, folder: Path, aside: Path, seed: int, *, is_kept: bool
) -> int:
    from holdfast.demo.court_story import RECORDS_FILE, CourtStory

    site = stack.enter_context(WorldServer(COURT, log_path=log, seed=seed))
    story = CourtStory(teller, site, stack.enter_context(Asks(log)), folder, aside)
    broken = sum(not proof.holds for proof in story.tell())
    teller.say()
    if broken:
        teller.title(f"{broken} proofs failed. The last words of the command:")
        teller.say(story.last_words[-WORDS_SHOWN:])
    else:
        teller.title("Killed without warning: every number is a record or a proven gap.")
    if is_kept:
        teller.pairs([(str(folder / RECORDS_FILE), "the results: a case per line")])
    return CHECK_FAILED if broken else 0


def _images(
    stack: ExitStack, teller: DemoOutput, log: Path, folder: Path, aside: Path, seed: int, *, is_kept: bool
) -> int:
    from holdfast.demo.images_story import NAME, POOL, ImagesStory

    if any(find_spec(name) is None for name in IMAGES_NEED):
        raise BadParams("the demo of images needs packages of its own", hint=install("images"))
    site = stack.enter_context(WorldServer(ENGINES, log_path=log, seed=seed, pages=POOL))
    story = ImagesStory(teller, site, stack.enter_context(Asks(log)), folder, aside, is_kept=is_kept)
    broken = sum(not proof.holds for proof in story.tell())
    teller.say()
    if broken:
        teller.title(f"{broken} proofs failed. The last words of the command:")
        teller.say(story.last_words[-WORDS_SHOWN:])
        return CHECK_FAILED
    teller.title("Killed without warning: the same images, none twice.")
    ways = [
        (str(story.sheet), "the contact sheet, for the browser"),
        (f"holdfast export {NAME} -o set/ --data {folder}", "the images as files, with a manifest"),
    ]
    gone = [("holdfast demo images --data demo-data", "the same, and its images stay")]
    teller.pairs([*(ways if is_kept else gone), ('holdfast images cat "red panda" --per-keyword 500', "a real set")])
    return 0


def _fresh_log(folder: Path) -> Path:
    """The site's log of this demo; that of an earlier one in the same folder goes."""
    log = folder / LOG_FILE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        log.unlink(missing_ok=True)
        log.touch()
    except OSError as error:
        raise BadParams(
            f"the data folder {folder} cannot be written: {error.strerror}", hint="choose another with --data DIR"
        ) from error
    return log


class _Story:
    """Its acts, in order: serve, crawl, kill, the same command again, prove."""

    def __init__(
        self, world: str, scene: Scene, teller: DemoOutput, site: WorldServer, asks: Asks, folder: Path, aside: Path
    ) -> None:
        self._world, self._scene = world, scene
        self._teller, self._site, self._asks, self._folder = teller, site, asks, folder
        self._began_ns = now_ns()
        self._oracle: dict[str, Any] = site.oracle()
        self._pages = frozenset(row["url"] for row in self._oracle["pages"])
        self._crawler = Crawler(
            world=site,
            asks=asks,
            seed_url=f"{site.url}/",
            settings=Settings(data=folder),
            folder=aside,
            where=["--data", str(folder)],
            pace=["--delay", "0", "--per-host", str(CONCURRENCY), *scene.options, *scene.for_finish],
        )
        self._job_name = ""

    def tell(self) -> list[DemoProof]:
        """All acts; what they prove. A crawl that is stuck proves the opposite."""
        self._introduce()
        try:
            killed = self._crawl_and_kill()
            if killed.left is None:
                return self._told(
                    [DemoProof(False, f"The crawl ended by itself, with {killed.code}, before the kill.")]
                )
            resumed = self._resume()
        except TimeoutError as stuck:
            return self._told([DemoProof(False, f"The crawl came to no end: {stuck}")])
        proofs = prove(self._case(killed, resumed))
        return self._told([*proofs, *self._finished()])

    def end(self, proofs: list[DemoProof], *, is_kept: bool) -> None:
        """The last word, where the results are, and what to try."""
        broken = sum(not proof.holds for proof in proofs)
        took = f"{(now_ns() - self._began_ns) / 1e9:.0f} s"
        self._teller.say()
        if broken:
            self._teller.title(f"{broken} of {len(proofs)} proofs failed, after {took}. The last words of the crawl:")
            self._teller.say(self._crawler.last_words[-WORDS_SHOWN:])
        else:
            self._teller.title(f"Killed without warning: nothing lost, nothing doubled. {took}")
        self._teller.say()
        self._teller.say("Next:", "dim")
        self._teller.pairs(self._ways_on(is_kept=is_kept))

    def _introduce(self) -> None:
        self._teller.title("Holdfast demo: a crawl is killed half-way, and goes on where it was")
        self._teller.say()
        self._teller.say(self._scene.intro.format(pages=len(self._pages)))

    def _crawl_and_kill(self) -> Stretch:
        """The first half. The moment of death is chosen by the site's own count of pages asked for."""
        self._teller.command(["holdfast", *self._crawler.words], break_before="--delay")
        enough = round(len(self._pages) * KILL_AT_SHARE)
        with self._teller.bar(len(self._pages)) as advance:
            killed = self._crawler.stretch(lambda _: self._watched(advance) >= enough)
        if killed.left is not None:
            self._teller.death(f"kill -9 {killed.pid}: dead in the middle of {len(killed.held)} pages, no clean-up")
            counts = killed.left.counts
            left = f"{counts.succeeded} pages done, {counts.in_progress} in hand, {counts.pending} waiting"
            self._teller.say(f"Its ledger stands as it was: {left}.", "dim")
        return killed

    def _resume(self) -> Stretch:
        """The second half: the same words, the command's own answer, and no more kills."""
        self._teller.command(["holdfast", *self._crawler.words[:2]], note="… the same command again")
        said: list[str] = []

        def until(crawl: ChildCommand) -> bool:
            lines = crawl.err.rpartition("\n")[0].splitlines() if len(said) < len(QUOTED) else ()
            for line in lines:
                if line.startswith(QUOTED) and line not in said:
                    said.append(line)
                    self._teller.say(line)
            self._watched(advance)
            return False

        with self._teller.bar(len(self._pages), self._asked()) as advance:
            return self._crawler.stretch(until)

    def _case(self, killed: Stretch, resumed: Stretch) -> KilledCrawl:
        end = self._crawler.look()
        self._job_name = end.job.name if end else ""
        return KilledCrawl(
            killed=killed,
            resumed=resumed,
            end=end,
            oracle=self._oracle,
            exported=self._crawler.export(end, self._folder / PAGES_FILE),
            verify_code=self._crawler.verify(end),
        )

    def _finished(self) -> list[DemoProof]:
        """What the scene makes of the finished crawl; nothing where it makes nothing."""
        words = [*(word.format(folder=self._folder) for word in self._scene.finish), self._job_name]
        if not self._scene.finish:
            return []
        code = self._crawler.then(words)
        return [DemoProof(code == 0, f"holdfast {' '.join(words)} ended with {code}.")]

    def _told(self, proofs: list[DemoProof]) -> list[DemoProof]:
        self._teller.say()
        for proof in proofs:
            self._teller.proof(proof)
        return proofs

    def _ways_on(self, *, is_kept: bool) -> list[tuple[str, str]]:
        data = f"--data {self._folder}"
        kept = [
            (str(self._folder / PAGES_FILE), "the results: a page per line"),
            (f"holdfast status {self._job_name} {data}", "the job that was killed"),
        ]
        if (report := self._folder / REPORT_FILE).exists():
            kept.insert(0, (str(report), "the report about the site, for the browser"))
        gone = [(f"holdfast demo {self._world} --data demo-data", "the same, and its results stay")]
        return [
            *(kept if is_kept else gone),
            ("holdfast crawl https://docs.example.dev", "a real site; Ctrl-C pauses, the same command goes on"),
            ("holdfast selftest --kill 20", "the same with twenty kills, measured"),
        ]

    def _watched(self, advance: Advance) -> int:
        asked = self._asked()
        advance(asked)
        return asked

    def _asked(self) -> int:
        self._asks.look()
        return len(self._pages.intersection(ask["key"] for ask in self._asks.all))
