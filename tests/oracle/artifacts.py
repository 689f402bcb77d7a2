"""Files of targets, in memory."""

from __future__ import annotations

from holdfast.model.artifact import Artifact, ArtifactRow
from oracle.books import read_job
from oracle.reads import is_served
from oracle.state import Tables


def artifacts(tables: Tables, job: int, after: tuple[int, int]) -> list[ArtifactRow]:
    """Those that stand beside the record of a result that is served."""
    read_job(tables, job)
    served = {t.id for t in tables.targets.values() if t.job == job and is_served(tables, t)}
    newest = {target: max((key[1] for key in tables.records if key[0] == target), default=0) for target in served}
    found = [key for key in sorted(tables.artifacts) if newest.get(key[0]) == key[1] and (key[0], key[2]) > after]
    return [_row(tables, *key) for key in found]


def with_hash(tables: Tables, sha256: bytes, job: int | None) -> list[ArtifactRow]:
    rows = [_row(tables, *key) for key, each in sorted(tables.artifacts.items()) if each.sha256 == sha256]
    return [row for row in rows if job in (None, row.job)]


def _row(tables: Tables, target: int, generation: int, n: int) -> ArtifactRow:
    each: Artifact = tables.artifacts[target, generation, n]
    return ArtifactRow(
        job=tables.targets[target].job, target=target, generation=generation, n=n, role=each.role, path=each.path,
        size=each.size, sha256=each.sha256, media=each.media, url=each.url,
    )  # fmt: skip
