"""What a list was at each of its versions, and what of it was held then: a report asks for it run by run."""

from __future__ import annotations

from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import msgspec

from holdfast.recipes.documents.history import FOLDER, history_of
from holdfast.recipes.documents.paths import file_name_of_source
from holdfast.recipes.documents.versions import Version

DOCUMENTS, VERSIONS = 300, 30


class Counted(dict[str, int]):
    """It counts how often it is asked."""

    asked = 0

    def __contains__(self, key: object) -> bool:
        self.asked += 1
        return super().__contains__(key)

    def __getitem__(self, key: str) -> int:
        self.asked += 1
        return super().__getitem__(key)


def job_of(root: Path, lists: list[list[str]]) -> Any:
    """A job of a list that had these documents, a new version every 100 ms from 1000 on."""
    (root / FOLDER).mkdir()
    files = [f"{FOLDER}/{n}.csv" for n in range(len(lists))]
    for file, keys in zip(files, lists, strict=True):
        rows = "".join(f"https://e.example/{key}.pdf,{key}\n" for key in keys)
        (root / file).write_text(f"Link,Number\n{rows}")
    index = [
        Version(n + 1, "mine", "", len(keys), valid=True, fetched_at_ms=1_000 + 100 * n, file_path=files[n])
        for n, keys in enumerate(lists)
    ]
    (root / FOLDER / f"{file_name_of_source('mine')}.versions.json").write_bytes(msgspec.json.encode(index))
    columns = {"url": "Link", "id": "Number"}
    return SimpleNamespace(
        params={"list": "list.csv", "source": "mine", "columns": columns, "skip_where": "", "versions": files}
    )


def test_the_history_of_a_list_grows_with_its_documents_and_not_with_its_versions(tmp_path: Path) -> None:
    """DOC-36: a list that is looked at every day has thousands of versions in which little changes."""
    random = Random(7)
    lists = [[f"A-{n}" for n in range(DOCUMENTS)]]
    for _ in range(1, VERSIONS):
        left = [key for key in lists[-1] if random.random() > 0.02]
        back = [f"A-{n}" for n in random.sample(range(DOCUMENTS), 4)]
        lists.append([*left, *(key for key in back if key not in left)])
    history = history_of(job_of(tmp_path, lists), tmp_path)
    assert len(msgspec.json.encode(history.listed)) < 100 * VERSIONS
    assert sum(map(len, history.turns.values())) < 3 * DOCUMENTS
    assert max(map(len, history.turns.values())) > 2  # some came again

    held_ms = Counted({f"A-{n}": random.randrange(900, 4_500) for n in range(0, DOCUMENTS, 2)})
    moments = [random.randrange(800, 4_800) for _ in range(200)]
    held = history.held(held_ms, moments)
    assert held_ms.asked <= 2 * DOCUMENTS
    for at_ms in moments:
        then = lists[min(max((at_ms - 1_000) // 100, 0), VERSIONS - 1)]
        assert (history.at(at_ms).listed, history.at(at_ms).wanted) == (len(then), len(then))
        assert held[at_ms] == sum(held_ms.get(key, at_ms + 1) <= at_ms for key in then)
