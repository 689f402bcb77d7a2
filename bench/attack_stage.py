"""What an attack is played on: a folder, a hostile site, and the command of one checkout under limits.

The same words are given to every checkout: attacks go by the command line, a recipe file or a snapshot file alone.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fetch.hostile import NOT_FOUND, HostileSite, answer, in_a_thread

CAP_S = 120
MEMORY_MB = 6000  # of address space: enough for the worst before, and too little to harm the computer
WATCH = Path(__file__).with_name("attack_watch.py")
HTML = "Content-Type: text/html"
Pages = dict[str, bytes]
Answers = Callable[[str, str], bytes | None]  # host, path


@dataclass(frozen=True)
class Took:
    """One command: its exit code, whether it ended before the cap, and what it took."""

    code: int
    in_time: bool
    seconds: float
    cpu_s: float
    peak_mb: float
    held_s: float  # the longest time that the event loop was held
    out: str
    err: str


@dataclass(frozen=True)
class Ended:
    """What came of an attack. Numbers are those of `took`, if the attack is one of time or memory."""

    said: str
    took: Took | None = None


@dataclass
class Stage:
    """`command` is how holdfast is started there; `folder` is empty."""

    tree: Path
    folder: Path
    site: HostileSite
    heads: list[tuple[str, str, str]] = field(default_factory=list)  # host, path, all of the head

    @property
    def python(self) -> str:
        return str(self.tree / ".venv" / "bin" / "python")

    @property
    def pages(self) -> int:
        """Requests that the site has answered."""
        return len(self.heads)

    def hosts(self, *names: str) -> list[str]:
        return [word for name in names for word in ("--resolve", f"{name}={self.site.address}")]

    def crawl(self, *words: str, hosts: Sequence[str] = ("marsh.test",), cap_s: float = CAP_S, **environ: str) -> Took:
        """A crawl of the first host's start page, as fast as it goes."""
        begin = ["crawl", f"http://{hosts[0]}/", "--name", "pond", "--delay", "0", *self.hosts(*hosts)]
        return self.holdfast(*begin, *words, cap_s=cap_s, **environ)

    def run(self, recipe: str, *words: str, cap_s: float = CAP_S, **environ: str) -> Took:
        """A recipe of one's own."""
        (self.folder / "pond.py").write_text(recipe)
        begin = ["run", "pond.py", "--delay", "0", *self.hosts("marsh.test")]
        return self.holdfast(*begin, *words, cap_s=cap_s, **environ)

    def holdfast(self, *words: str, cap_s: float = CAP_S, cwd: Path | None = None, **environ: str) -> Took:
        report = self.folder / "took.json"
        command = [self.python, "-I", str(WATCH), str(report), str(cap_s), str(MEMORY_MB), *words]
        done = self._done(command, cwd, environ)
        told = json.loads(report.read_text())
        return Took(**told, out=done.stdout, err=done.stderr)

    def plain(
        self, *words: str, before: Sequence[str] = (), cwd: Path | None = None, **environ: str
    ) -> subprocess.CompletedProcess[str]:
        """The command without a watch, started by another one (`before`), which may take something from it."""
        return self._done([*before, self.python, "-m", "holdfast", *words], cwd, environ)

    def script(self, text: str, *words: str) -> str:
        """Python with the tests of the checkout: what only they can make."""
        return self._done([self.python, "-c", text, *words], None, {"PYTHONPATH": str(self.tree / "tests")}).stdout

    def system(self, *words: str) -> None:
        subprocess.run(words, check=True)

    def _done(
        self, command: Sequence[str], cwd: Path | None, environ: dict[str, str]
    ) -> subprocess.CompletedProcess[str]:
        """Its output goes to files: a process that it leaves behind would hold the end of a pipe."""
        own = {name: text for name, text in os.environ.items() if not name.startswith(("HOLDFAST_", "PYTHON"))}
        out, err = self.folder / "said.out", self.folder / "said.err"
        with out.open("wb") as to_out, err.open("wb") as to_err:
            child = subprocess.Popen(
                command,
                cwd=cwd or self.folder,
                env={**own, "HOLDFAST_MIN_FREE_MB": "0", **environ},
                stdin=subprocess.DEVNULL,
                stdout=to_out,
                stderr=to_err,
                start_new_session=True,
            )
            try:
                child.wait(CAP_S * 2)
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)  # also what it has left behind
                child.wait()
        said = (path.read_text(errors="replace") for path in (out, err))
        return subprocess.CompletedProcess(command, child.returncode, *said)

    def job(self, name: str = "pond") -> dict[str, Any]:
        """The job's document, or nothing where there is none."""
        done = self.plain("status", name, "--json")
        return dict(json.loads(done.stdout)) if done.returncode == 0 else {}


@contextmanager
def staged(tree: Path, folder: Path, answers: Answers | Pages) -> Iterator[Stage]:
    """A site that gives these pages under every name."""
    stage: Stage

    def choose(head: bytes) -> bytes:
        text = head.decode("latin-1")
        path = text.split()[1]
        host = next(line.partition(":")[2].strip() for line in text.split("\r\n") if line.lower().startswith("host:"))
        stage.heads.append((host, path, text))
        given = answers.get(path) if isinstance(answers, dict) else answers(host, path)
        return given if given is not None else NOT_FOUND

    site = HostileSite(choose=choose)
    folder.mkdir()
    stage = Stage(tree, folder, site)
    with in_a_thread(site):
        yield stage


def html(body: bytes, *headers: str) -> bytes:
    return answer(body, HTML, *headers)


def links(paths: Sequence[str]) -> bytes:
    return html("".join(f"<a href={path}>x</a>" for path in paths).encode())


def counted(job: dict[str, Any]) -> str:
    """How a job ended, in its own words."""
    if not job:
        return "no job"
    counts = job.get("counts", {})
    return f"{job.get('status')}: {counts.get('succeeded')} succeeded, {counts.get('failed')} failed"
