"""The court world and jobs on it, as the suites of the cases kind use them."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import holdfast as hf
from holdfast.client import Job
from holdfast.demo.serving import WorldServer

PAGE = "/en/court-files-and-decisions/court-files"
_ASKED = re.compile(r"number=(IMM-[0-9]+-49)|/court-files/(IMM-[0-9]+-49)/entries")


def configured(world: WorldServer, folder: Path, *, client: str = "search", settle: str = "20ms") -> Path:
    """A holdfast.toml that names the world as the source `court`."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "holdfast.toml"
    path.write_text(
        f"""
[http]
allow = ["{world.address}"]

[sources.court]
client = "{client}"
url = "{world.url}{PAGE}"
search = "{world.url}/api/court-files?court=t&number={{case}}"
detail = "{world.url}/api/court-files/{{case}}/entries"
court = "Federal Court"
settle = "{settle}"
"""
    )
    return path


def court_job(world: WorldServer, folder: Path, *ranges: str, source: dict[str, str] | None = None, **more: Any) -> Job:
    file = configured(world, folder, **(source or {}))
    client = hf.Client(data=folder / "data", config_file=file)
    options = {"delay": 0, "per_host": 8, "max_attempts": 5, **more}
    return client.cases(*(ranges or ("IMM-1-49..IMM-30-49",)), url="court", **options)


def records(job: Job) -> dict[str, dict[str, Any]]:
    """What the job exports, without what says where it comes from."""
    found = {row["case_id"]: dict(row) for row in job.records()}
    return {
        case: {k: v for k, v in row.items() if k not in ("key", "target", "run", "kind")} for case, row in found.items()
    }


def fates(job: Job) -> dict[str, tuple[str, str | None]]:
    """What became of each number. A record that came out as it was when pages were run again is still one."""
    told = {str(row.key): (row.status, row.disposition or row.code) for row in job.targets()}
    return {name: (status, "record" if word == "unchanged" else word) for name, (status, word) in told.items()}


def equals_the_oracle(job: Job, world: WorldServer, numbers: range) -> None:
    """The same records, and the same absences; nothing else."""
    oracle = world.oracle()
    wanted = {record["case_id"]: record for record in oracle["records"]}
    names = [f"IMM-{number}-49" for number in numbers]
    found = records(job)
    for record in found.values():
        assert record.pop("scraped_at")
    assert found == {name: wanted[name] for name in names if name in wanted}
    told = {name: ("succeeded", "record" if name in wanted else "no_record") for name in names}
    assert {name: fate for name, fate in fates(job).items() if name in told} == told


def asked(world: WorldServer, since: int = 0) -> Counter[str]:
    """Requests by case, searches and details together."""
    found = (case_of(line["key"]) for line in world.asks()[since:])
    return Counter(case for case in found if case)


def case_of(url: str) -> str:
    """The case that a search or details are asked of; "" for other pages."""
    match = _ASKED.search(url)
    return match[1] or match[2] if match else ""
