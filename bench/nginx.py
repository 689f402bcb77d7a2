"""An nginx of our own, one worker, on a free port: serves files, keeps a log, says what CPU it used.

It is there so that the server is not what is measured. It never touches an nginx of the system.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from bench.measure import cpu_s_of

START_S_MAX = 5.0
# The log is written per request, unbuffered: it tells when a fetch arrived. Seconds with milliseconds, as time.time().
CONFIG = """\
daemon off;
master_process on;
worker_processes 1;
{user}
pid {folder}/nginx.pid;
error_log {folder}/error.log warn;
worker_rlimit_nofile 65536;
events {{ worker_connections 8192; }}
http {{
    log_format arrivals '$msec $host $request_uri $status';
    access_log {log};
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    types {{ text/html html; text/plain txt; }}
    default_type text/html;
    sendfile on;
    tcp_nopush on;
    keepalive_requests 1000000;
    keepalive_timeout 75s;
    open_file_cache max=50000 inactive=600s;
    open_file_cache_valid 600s;
    server {{
        listen {address}:{port} backlog=4096;
        root {root};
{inside}
    }}
}}
"""


class NginxNotStarted(Exception):
    """nginx could not be started."""


class Nginx:
    """One running server. `inside` goes into its server block, such as a location that answers every path."""

    def __init__(
        self, root: Path, folder: Path, *, address: str = "127.0.0.1", log: bool = False, inside: str = ""
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.address = address
        self.port = _free_port()
        self.log = folder / "access.log"
        config = folder / "nginx.conf"
        config.write_text(
            CONFIG.format(
                # As root the worker would become nobody, who cannot read a temporary folder of ours.
                user="user root;" if os.geteuid() == 0 else "",
                folder=folder,
                log=f"{self.log} arrivals" if log else "off",
                address=address,
                port=self.port,
                root=root,
                inside=inside,
            )
        )
        self._errors = folder / "error.log"
        argv = [_program(), "-p", str(folder), "-e", str(self._errors), "-c", str(config)]
        self._process = subprocess.Popen(argv, stdin=subprocess.DEVNULL)
        self._wait_until_it_answers()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def at(self) -> str:
        """Where a client on this computer finds it, `127.0.0.1:PORT`, as `--allow` takes it."""
        return f"{'127.0.0.1' if self.address == '0.0.0.0' else self.address}:{self.port}"  # noqa: S104 - compared only

    @property
    def url(self) -> str:
        return f"http://{self.at}"

    def cpu_s(self) -> float:
        """User and system time of master and worker so far."""
        return cpu_s_of(self._process.pid)

    def arrivals(self) -> list[tuple[float, str, str, int]]:
        """What was asked for, in order: wall time in seconds, host, path, status."""
        rows = [line.split() for line in self.log.read_text().splitlines()]
        return [(float(at), host, path, int(status)) for at, host, path, status in rows]

    def forget_arrivals(self) -> None:
        os.truncate(self.log, 0)

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def _wait_until_it_answers(self) -> None:
        deadline = time.monotonic() + START_S_MAX
        while time.monotonic() < deadline and self._process.poll() is None:
            try:
                with socket.create_connection(("127.0.0.1", self.port), timeout=1):
                    return
            except OSError:
                time.sleep(0.02)
        self.stop()
        said = self._errors.read_text() if self._errors.exists() else ""
        raise NginxNotStarted(f"nginx does not answer on port {self.port}:\n{said}")


def _program() -> str:
    # Debian keeps it in sbin, which is not on everybody's PATH.
    found = shutil.which("nginx", path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"]))
    if found is None:
        raise NginxNotStarted("nginx is not installed; Debian and Ubuntu: apt-get install nginx-light")
    return found


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
