"""Snapshots that somebody made to deceive: every hash in them is right, what they say is not."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import Any

import msgspec
from backports import zstd

from holdfast.control.tarball import TarReader, TarWriter

MANIFEST = "checkpoint.json"
MB = 1_048_576
Document = dict[str, Any]
Deceit = Callable[[Document, dict[str, bytes]], None]
EVENT = b'[1,1,0,"","job","","","",""]\n'


def deceived(stored: bytes, deceit: Deceit) -> bytes:
    members = TarReader(io.BytesIO(stored))
    files = {name: b"".join(members.blocks(name)) for name in members.names}
    manifest: Document = msgspec.json.decode(files.pop(MANIFEST))
    deceit(manifest, files)
    manifest["sha256"] = ""
    manifest["sha256"] = sha256(msgspec.json.encode(manifest)).hexdigest()
    out = io.BytesIO()
    packer = TarWriter(out.write)
    for name, content in {**files, MANIFEST: msgspec.json.encode(manifest)}.items():
        packer.add(name, len(content), [content])
    packer.end()
    return out.getvalue()


def named(manifest: Document, _files: dict[str, bytes]) -> None:
    manifest["name"] = "$(touch frog)"


def wishing(manifest: Document, files: dict[str, bytes]) -> None:
    """A header whose value is a file of this computer, and private addresses."""
    [row] = rows_of(manifest, files, "job")
    place = columns(manifest, "job").index("options")
    options = msgspec.json.decode(row[place])
    row[place] = msgspec.json.encode(
        {**options, "headers": [["X", "file:/etc/hostname"]], "allow_private": True}
    ).decode()
    written(manifest, files, "job", [msgspec.json.encode(row) + b"\n"], 1)


def completed(manifest: Document, files: dict[str, bytes]) -> None:
    """Whatever is still pending."""
    [row] = rows_of(manifest, files, "job")
    row[columns(manifest, "job").index("status")] = "completed"
    written(manifest, files, "job", [msgspec.json.encode(row) + b"\n"], 1)


def many_rows(manifest: Document, files: dict[str, bytes]) -> None:
    blocks = [EVENT * (MB // len(EVENT))] * 258
    written(manifest, files, "event", blocks, 258 * (MB // len(EVENT)))


def rows_of(manifest: Document, files: dict[str, bytes], table: str) -> list[list[Any]]:
    content = zstd.decompress(files[segment(manifest, table)["name"]])
    return [msgspec.json.decode(line) for line in content.splitlines()]


def columns(manifest: Document, table: str) -> list[str]:
    [shape] = [each for each in manifest["tables"] if each["table"] == table]
    return [column["name"] for column in shape["columns"]]


def segment(manifest: Document, table: str) -> Document:
    [part] = [each for each in manifest["segments"] if each["table"] == table]
    return part


def written(manifest: Document, files: dict[str, bytes], table: str, blocks: Iterable[bytes], rows: int) -> None:
    packer = zstd.ZstdCompressor()
    content = b"".join([*map(packer.compress, blocks), packer.flush()])
    part = segment(manifest, table)
    files[part["name"]] = content
    part.update(rows=rows, bytes=len(content), sha256=sha256(content).hexdigest())


LENGTHY = (many_rows,)
