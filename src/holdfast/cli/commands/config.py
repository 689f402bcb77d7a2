"""`holdfast config show|get|set|path`: what holds here, where it was said, and changing it in the nearest file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, BinaryIO

from holdfast.cli.call import Call
from holdfast.cli.parser import Parser
from holdfast.config import add_env_file, files, toml
from holdfast.config.building import places, settings_of
from holdfast.config.reading import Reading, add_document, read
from holdfast.config.secrets import refuse_clear_password
from holdfast.config.shown import SettingRow, row_of, rows
from holdfast.config.table import KEYS
from holdfast.config.trees import TREES
from holdfast.config.trust import refuse_foreign
from holdfast.errors import BadParams, UsageError
from holdfast.model.spelling import did_you_mean

READS_SETTINGS_ITSELF = True  # a broken file must not stop the command that mends it
ACTIONS = {"show": 0, "get": 1, "set": 2, "path": 0}
LATER = "not used yet"
WIDTH = 44


def arguments(parser: Parser) -> None:
    parser.add_argument("action", choices=tuple(ACTIONS), metavar="show|get|set|path", help="what to do")
    parser.add_argument("words", nargs="*", metavar="KEY VALUE", help="get KEY; set KEY VALUE")
    parser.add_argument("--origin", action="store_true", help="show where each value came from")


def run(call: Call) -> int:
    action, words = call.options.action, call.options.words
    if len(words) != ACTIONS[action]:
        needs = ("no word", "a KEY", "a KEY and a VALUE")[ACTIONS[action]]
        raise UsageError(f"config {action} needs {needs} behind it", hint="holdfast config set http.timeout 30s")
    if call.globals.env_file is not None:
        add_env_file(call.globals.env_file)
    if action == "path":
        return _path(call)
    if action == "set":
        return _set(call, *words)
    reading = _read(call)
    return _show(call, reading) if action == "show" else _get(call, reading, words[0])


def _read(call: Call) -> Reading:
    typed = call.globals
    return read(places(data=typed.data, database=typed.database, config=typed.config))


def _show(call: Call, reading: Reading) -> int:
    """As TOML, so that what is shown can be kept. A job that cannot be used is complained of once all is shown."""
    found = rows(reading)
    if call.globals.json:
        call.console.listing(
            "settings", [_json(row) for row in found], files=[str(path) for path in reading.paths],
            aliases=reading.alias_of, obsolete=reading.obsolete,
        )  # fmt: skip
        settings_of(reading)
        return 0
    for row in found:
        call.console.data(_line(row, with_origin=call.options.origin))
    for old, key in reading.alias_of.items():
        call.console.say(f"{old} is an older name of {key} ({KEYS[key].variable}).")
    for name, why in reading.obsolete.items():
        call.console.say(f"{name} is {why}.")
    settings_of(reading)
    return 0


def _line(row: SettingRow, *, with_origin: bool) -> str:
    notes = [*([row.origin] if with_origin else []), *([] if row.used else [LATER])]
    text = f"{row.key} = {toml.literal(row.value)}"
    return f"{text:<{WIDTH}}  # {', '.join(notes)}" if notes else text


def _get(call: Call, reading: Reading, key: str) -> int:
    row = row_of(reading, toml.dotted(toml.key_of(key)))
    if call.globals.json:
        call.console.document({"schema": "holdfast.setting/1", **_json(row)})
        return 0
    text = row.value if isinstance(row.value, str) else toml.literal(row.value)
    call.console.data(f"{text}  # {row.origin}" if call.options.origin else text)
    return 0


def _json(row: SettingRow) -> dict[str, Any]:
    return {"key": row.key, "value": row.value, "origin": row.origin, "used": row.used, "secret": row.secret}


def _path(call: Call) -> int:
    """The file that `config set` would change; whether it is there is said beside it."""
    path = _target(call)
    own = files.users_own(os.environ)
    if call.globals.json:
        call.console.document(
            {
                "schema": "holdfast.config_path/1",
                "path": str(path),
                "exists": path.is_file(),
                "user": None if own is None else str(own),
                "user_exists": own is not None and own.is_file(),
            }
        )
        return 0
    call.console.data(str(path))
    if not path.is_file():
        call.console.say("There is no such file yet; holdfast config set KEY VALUE makes it.")
    if own is not None and own.is_file():
        call.console.say(f"Below it counts {own}.")
    return 0


def _target(call: Call) -> Path:
    if call.globals.config is not None:
        return Path(call.globals.config).absolute()
    return files.nearest(Path()) or Path(files.NAME).absolute()


def _set(call: Call, name: str, text: str) -> int:
    from holdfast import wiring

    path, key = _target(call), toml.key_of(name)
    if path.is_file() and call.globals.config is None:
        refuse_foreign(path)  # what it says would be the user's own afterwards
    value = _checked(key, text)
    before = files.read_text(path) if path.is_file() else ""
    files.parse(before, where=str(path))
    edited = toml.with_key(before, key, value).encode()

    def write(file: BinaryIO) -> None:
        file.write(edited)

    wiring.publish(path.resolve(), write)
    call.console.say(f"{path}: {toml.dotted(key)} = {toml.literal(value)}")
    _tell_what_wins(call, key, path)
    return 0


def _checked(key: toml.Key, text: str) -> Any:
    """The value as the file will have it; what cannot be used is refused before anything is written."""
    if key[0] in TREES:
        return _checked_branch(key, text)
    row = KEYS.get(toml.dotted(key))
    if row is None:
        near = did_you_mean(toml.dotted(key), (*KEYS, *TREES))
        raise BadParams(f"there is no setting {toml.dotted(key)!r}{near}", hint="holdfast config show")
    if row.secret:
        try:
            refuse_clear_password(text)
        except ValueError as error:
            raise BadParams(f"{row.key}: {error}") from None
        if row.kind.word == "secret" and not text.startswith(("env:", "file:")):
            raise BadParams(f"{row.key} would be stored in the clear; write env:NAME or file:PATH")
    typed = _as_toml(text)
    try:
        value = row.kind.read(typed)
    except ValueError as error:
        raise BadParams(f"{row.key}: {error}") from None
    return text.strip() if row.kind.quoted else row.kind.plain(value)


def _checked_branch(key: toml.Key, text: str) -> Any:
    """One field of a table that the user names: read as a file would be, so that the same errors are given."""
    value = _as_toml(text)
    document: Any = value
    for part in reversed(key):
        document = {part: document}
    add_document(Reading(), document, Path(files.NAME))
    return value


def _as_toml(text: str) -> Any:
    """`8`, `true`, `["a"]` as TOML reads them; anything else is text."""
    try:
        return files.parse(f"x = {text}", where="")["x"] if "\n" not in text else text
    except BadParams:
        return text


def _tell_what_wins(call: Call, key: toml.Key, path: Path) -> None:
    try:
        origin = row_of(_read(call), toml.dotted(key)).origin
    except BadParams as error:
        call.console.insist(f"The file is written, but cannot be used as it is: {error.message}")
        return
    if Path(origin) != path.absolute():
        call.console.say(f"What holds here is still what {origin} says.")
