"""Whose file of settings is obeyed: one that was found by walking upward, and not named, must be the user's own.

A `holdfast.toml` says where pages go, which secrets are sent and which code is run, and the folders above the one that
a command runs in may be anybody's. What `--config` names is obeyed whatever its owner: the user chose it.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from holdfast.errors import BadParams
from holdfast.model.spelling import as_word

ROOT = 0


def refuse_foreign(path: Path) -> None:
    """BadParams if another user could have written this file, with the way on."""
    try:
        complaint = _complaint(path)
    except OSError:
        return  # it went away, or cannot be seen: reading it says so
    if complaint:
        raise BadParams(
            f"{path} is not obeyed: {complaint}",
            hint=f"where you trust what it says: -C {as_word(str(path))} (in Python: config_file=…)",
        )


def _complaint(path: Path) -> str:
    mine = _own_ids()
    for found in (path.lstat(), path.stat()):  # a link, and what it leads to
        if found.st_uid not in mine:
            return f"it belongs to {_name(found.st_uid)}, and you are {_name(os.geteuid())}"
    if path.stat().st_mode & stat.S_IWOTH:
        return f"every user of this computer can write it ({_end(path)})"
    folder = path.parent.stat().st_mode
    if folder & stat.S_IWOTH and not folder & stat.S_ISVTX:
        return f"every user of this computer can put another in its place ({_end(path.parent)})"
    return ""


def _end(path: Path) -> str:
    return f"chmod o-w {as_word(str(path))} ends that, if modes count there"


def _own_ids() -> set[int]:
    """The user and root. For root also the user who became root by sudo, and the owner of the folder that the command
    runs in where this computer knows no user of that id: as in a container, where a checkout is mounted under the id
    of its owner outside. A user of this computer could have waited for root to come by."""
    mine = {os.geteuid(), ROOT}
    if os.geteuid() != ROOT:
        return mine
    with suppress(OSError):  # a folder that cannot be looked at has no known owner
        owner = Path().stat().st_uid
        mine |= set() if _is_known(owner) else {owner}
    behind = os.environ.get("SUDO_UID", "")
    return mine | {int(behind)} if behind.isascii() and behind.isdigit() else mine


def _is_known(uid: int) -> bool:
    return not _name(uid).startswith("user ")


def _name(uid: int) -> str:
    from pwd import getpwuid

    try:
        return getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"
