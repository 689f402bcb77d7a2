"""Start a world as a child process and talk to it: the way tests, the selftest and the demo use one."""

import http.client
import json
import os
import select
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from holdfast.demo.request_log import read_log

START_S_MAX = 30
STOP_S_MAX = 5
CONTROL_S_MAX = 60


class WorldServer:
    """A world that runs from construction to `stop()`, and never longer than this process.

        with WorldServer("tree", pages=3000, log_path=folder / "requests.jsonl") as world:
            crawl(world.oracle()["seeds"])

    Start it from a thread that outlives it (see `serve.die_with`). The log stays when the world has stopped.
    """

    def __init__(
        self,
        world: str,
        *,
        log_path: Path,
        pages: int | None = None,
        seed: int | None = None,
        delay_ms: int | None = None,
        port: int = 0,
        host: str = "127.0.0.1",
    ) -> None:
        self.log_path = log_path
        command = [sys.executable, "-m", "holdfast.demo.serve", "--world", world, "--log", str(log_path)]
        command += ["--host", host, "--port", str(port), "--parent", str(os.getpid())]
        for name, number in (("--pages", pages), ("--seed", seed), ("--delay-ms", delay_ms)):
            command += [] if number is None else [name, str(number)]
        self._child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        self.address = self._await_ready()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    @property
    def url(self) -> str:
        """Scheme and address without a path; the oracle's `seeds` say where a crawl starts."""
        return f"http://{self.address}"

    @property
    def pid(self) -> int:
        return self._child.pid

    def log(self) -> list[dict[str, Any]]:
        """Every line of the request log. A `sent` may come a moment after its answer; an `ask` is always before it."""
        return read_log(self.log_path)

    def asks(self) -> list[dict[str, Any]]:
        """One line per request, in order of arrival."""
        return [line for line in self.log() if line["kind"] == "ask"]

    def order(self, order: str, **fields: object) -> dict[str, Any]:
        """Any order to the world, as `order("advance", version="v2")`; gives its answer."""
        answer: dict[str, Any] = self._control("POST", order, fields)
        return answer

    def oracle(self, *, depth: int | None = None) -> dict[str, Any]:
        """What a correct crawl of the world as it is now holds, no deeper than `depth`; URLs are absolute."""
        answer: dict[str, Any] = self._control("GET", "oracle" if depth is None else f"oracle?depth={depth}")
        return answer

    def ready(self) -> None:
        """One round trip: what a dead client had sent by now is in the log when it returns."""
        self._control("GET", "ready")

    def perfect_run(self, rounds: Sequence[Sequence[tuple[str, str, int]]], wanted: int) -> dict[str, Any]:
        """Of the world `engines`: what a run that asks these (engine, query, offset) keeps, for one keyword."""
        answer: dict[str, Any] = self._control("POST", "oracle", {"rounds": rounds, "wanted": wanted})
        return answer

    def set_faults(self, **faults: object) -> None:
        """Turn the dial: fields of `faults.Faults`; none at all is calm again. Ask numbers start anew."""
        self._control("POST", "faults", faults)

    def advance(self, editions: int = 1) -> int:
        """Publish later editions; gives the one now served."""
        return int(self._control("POST", "advance", {"editions": editions})["edition"])

    def advance_clock(self, seconds: int) -> int:
        """Set the world's clock forward; gives its time in ms."""
        return int(self._control("POST", "advance", {"seconds": seconds})["now_ms"])

    def stop(self) -> None:
        """End the child, by force when it does not end itself. Stopping twice is fine."""
        self._child.terminate()
        try:
            self._child.wait(STOP_S_MAX)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        if self._child.stdout:
            self._child.stdout.close()

    def _await_ready(self) -> str:
        assert self._child.stdout is not None
        readable, _, _ = select.select([self._child.stdout], [], [], START_S_MAX)
        words = self._child.stdout.readline().decode().split() if readable else []
        if len(words) != 2 or words[0] != "ready":
            self.stop()
            raise RuntimeError(f"the world did not start (exit code {self._child.returncode})")
        return words[1]

    def _control(self, method: str, order: str, body: Mapping[str, object] | None = None) -> Any:
        # http.client rather than urllib: a proxy in the environment must not stand between us and loopback.
        connection = http.client.HTTPConnection(self.address, timeout=CONTROL_S_MAX)
        try:
            connection.request(method, f"/__world/{order}", json.dumps(body) if body is not None else None)
            response = connection.getresponse()
            answer = json.loads(response.read())
        finally:
            connection.close()
        if response.status != 200:
            raise ValueError(answer["error"])
        return answer
