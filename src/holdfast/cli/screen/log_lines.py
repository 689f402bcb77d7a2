"""Log lines as messages to people."""

from __future__ import annotations

import logging

from holdfast.cli.screen.console import Console


def send_logs_to(console: Console) -> None:
    """Log lines are messages to people: warnings always, more with -v."""
    root = logging.getLogger()
    for old in [handler for handler in root.handlers if isinstance(handler, _Spoken)]:
        root.removeHandler(old)
    root.addHandler(_Spoken(console))
    root.setLevel(logging.INFO if console.options.verbose else logging.WARNING)


class _Spoken(logging.Handler):
    def __init__(self, console: Console) -> None:
        super().__init__()
        self._console = console

    def emit(self, record: logging.LogRecord) -> None:
        self._console.say(record.getMessage())
