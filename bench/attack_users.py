"""What people met who only wanted to use the command: exports, second runs, exit codes, certificates, headers."""

from __future__ import annotations

import json
from functools import partial

from bench.attack import Attack, nothing
from bench.attack_stage import Answers, Ended, Pages, Stage, html, links
from fetch.hostile import CERTIFICATE, OK, HostileSite, in_a_thread

FROG = html(b"<p>a frog</p>")
CODE = b"<pre>def frog():\n    return 1\n</pre>"
FOLDERS = 12
LOOK_S = 4


def some(count: int = 3) -> Pages:
    paths = [f"/{n}" for n in range(count)]
    return {"/": links(paths), **dict.fromkeys(paths, FROG)}


def folders() -> Pages:
    """Two pages in each: so a pattern is a folder."""
    return {"/": links([f"/pond-{n}/{frog}" for n in range(FOLDERS) for frog in ("a", "b")])}


def twins() -> Pages:
    same = links(["/index.html", "/other"])
    return {"/": same, "/index.html": same, "/other": FROG}


def soon_gone() -> Answers:
    there = {"/": links(["/0", "/gone"]), "/0": FROG}
    once = {"/gone": FROG}
    return lambda _host, path: there.get(path) or once.pop(path, None)


def of_the_readme(stage: Stage) -> Ended:
    """`crawl URL -o FILE` and `export -o FILE` are the same lines: which fields have the words of the page?"""
    stage.crawl("-o", "docs.jsonl")
    lines = (stage.folder / "docs.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    filled = [name for name in ("markdown", "text") if any("a frog" in str(each.get(name)) for each in records)]
    return Ended(f"the words are in {' and '.join(filled) or 'no field'}")


def lines_of_code(stage: Stage) -> Ended:
    stage.crawl()
    out = stage.plain("export", "pond", "-o", "-", "--fields", "text").stdout
    kept = json.loads(out.splitlines()[0])["text"] == CODE.decode().removeprefix("<pre>").removesuffix("\n</pre>")
    return Ended("the lines are kept" if kept else "one line")


def asked_again(stage: Stage) -> Ended:
    """The name is left out the second time."""
    stage.crawl()
    before = stage.pages
    done = stage.plain("crawl", "http://marsh.test/", "--delay", "0", *stage.hosts("marsh.test"), "--mode", "new")
    jobs = len(json.loads(stage.plain("jobs", "--json").stdout)["jobs"])
    requests = stage.pages - before
    return Ended(f"{jobs} job{'s' * (jobs != 1)}, {requests} requests more, exit code {done.returncode}")


def offered(stage: Stage) -> Ended:
    stage.crawl()
    out = stage.plain("status", "pond").stdout
    modes = [mode for mode in ("new", "full") if f"--mode {mode}" in out]
    return Ended(f"offers {' and '.join(f'`--mode {mode}`' for mode in modes) or 'none'}")


def gone_before(stage: Stage) -> Ended:
    """Three full runs: the page is gone since the second."""
    stage.crawl()
    for _ in range(2):
        stage.plain("crawl", "pond", "--mode", "full")
    out = stage.plain("diff", "pond", "R-2", "R-3", "--jsonl").stdout
    return Ended("it is named removed" if "/gone" in out else "it is not named")


def shown_active(stage: Stage) -> Ended:
    """Looked at while it is worked, then ended."""
    script = (
        f'"$@" >/dev/null 2>&1 & crawl=$!; sleep {LOOK_S}; '
        '"$1" -m holdfast status pond --json=active_seconds; kill $crawl; wait $crawl'
    )
    words = ["crawl", "http://marsh.test/", "--name", "pond", "--delay", "1s", *stage.hosts("marsh.test")]
    done = stage.plain(*words, "--processes", "2", before=("bash", "-c", script, "look"))
    active_s = json.loads(done.stdout)["active_seconds"]
    return Ended("0 s" if not active_s else "more than 1 s" if active_s > 1 else f"{active_s} s")


def groups(stage: Stage) -> Ended:
    stage.crawl("--max-pages", "1")
    shown = stage.plain("frontier", "pond", "--by", "pattern", "--limit", "3").stdout
    printed = sum("/pond-" in line and "/*" in line for line in shown.splitlines())
    return Ended(f"prints {printed} groups")


def exit_code(stage: Stage) -> Ended:
    return Ended(f"exit code {stage.crawl().code}")


def of_a_company(stage: Stage, *words: str, **environ: str) -> Ended:
    """A site whose certificate only its own authority knows."""
    site = HostileSite(tls=True, more={"/": FROG})
    with in_a_thread(site):
        begin = ["crawl", "https://world.test/", "--name", "pond", "--resolve", f"world.test={site.address}"]
        done = stage.plain(*begin, "--delay", "0", "--max-attempts", "1", "--max-depth", "0", *words, **environ)
    failed = stage.job().get("failed_by") or {}
    came = "no such option" if done.returncode == 2 else f"failed: {', '.join(failed)}" if failed else "fetched"
    return Ended(f"{came}, exit code {done.returncode}")


def distinct(stage: Stage) -> Ended:
    stage.crawl()
    done = stage.plain("export", "pond", "-o", "-", "--distinct", "--fields", "url")
    if done.returncode == 2:
        return Ended("no such option, exit code 2")
    return Ended(f"{len(done.stdout.splitlines())} of {len(twins())} pages")


def marked(stage: Stage) -> Ended:
    stage.crawl()
    done = stage.plain("export", "pond", "-o", "-", "--fields", "url,duplicate_of")
    if done.returncode == 2:
        return Ended("no such field, exit code 2")
    named = sum(json.loads(line)["duplicate_of"] is not None for line in done.stdout.splitlines())
    return Ended(f"{named} marked")


def codes(stage: Stage) -> Ended:
    stage.crawl("--max-attempts", "1")
    return Ended(", ".join(f"{code} {count}" for code, count in sorted(stage.job().get("failed_by", {}).items())))


def without_colon(stage: Stage) -> Ended:
    took = stage.crawl("--max-attempts", "1")
    counts = stage.job()["counts"]
    return Ended(f"{counts['succeeded']} fetched, {counts['failed']} failed, exit code {took.code}")


def large_headers() -> Pages:
    large = OK.encode() + (b"X-Frog: " + b"g" * 1000 + b"\r\n") * 400
    many = OK.encode() + b"X-Frog: green\r\n" * 7_000
    return {"/": links(["/large", "/many"]), "/large": large, "/many": many}


EXPORT = "test_every_page_comes_with_its_text_unless_other_fields_are_named"
DUPLICATES = "test_an_export_may_leave_pages_with_the_same_bytes_out"
ROOTS = str(CERTIFICATE)

USERS = (
    Attack(6, "`crawl URL -o docs.jsonl`, the first command of the README", EXPORT, some, of_the_readme),
    Attack(6, "`text` of a `<pre>` of two lines", "test_what_a_reader_would_see", lambda: {"/": html(CODE)},
           lines_of_code),
    Attack(7, "`--mode new` with the URL of a job that has a name",
           "test_a_mode_for_a_job_that_has_another_name_begins_no_second_crawl", some, asked_again),
    Attack(7, "`status` of a completed job", "test_status_is_one_screen", some, offered),
    Attack(7, "`diff` of two runs, a page that is 404 in both and was there before",
           "test_what_was_gone_in_the_earlier_run_already_is_not_removed_by_the_later",
           soon_gone, gone_before),
    Attack(7, f"active time after {LOOK_S} s of work, `--processes 2`",
           "test_a_run_is_shown_as_active_from_its_first_seconds", partial(some, 30), shown_active),
    Attack(7, f"`frontier --by pattern --limit 3` of {FOLDERS} groups",
           "test_the_limit_of_the_frontier_holds_for_its_groups", folders, groups),
    Attack(7, "one dead link on a site of 20 pages", "test_a_dead_link_is_a_fact_of_the_site_and_a_dead_seed_a_failure",
           lambda: {**some(20), "/": links([*some(20), "/gone"])}, exit_code),
    Attack(7, "a site of a company's own authority, `--ca-bundle FILE`",
           "test_a_site_of_ones_own_authority_is_crawled_with_its_certificate", nothing,
           lambda stage: of_a_company(stage, "--ca-bundle", ROOTS)),
    Attack(7, "a site of a company's own authority, `SSL_CERT_FILE`",
           "test_ssl_cert_file_is_trusted_too_and_so_is_the_file_of_a_job_file", nothing,
           lambda stage: of_a_company(stage, SSL_CERT_FILE=ROOTS)),
    Attack(7, "`/` and `/index.html` of equal bytes, `export --fields url,duplicate_of`", DUPLICATES, twins, marked),
    Attack(7, "`/` and `/index.html` of equal bytes, `export --distinct`", DUPLICATES, twins, distinct),
    Attack(8, "headers of 400 kB on one page, 7,000 headers on another",
           "test_a_bad_answer_ends_in_its_code_and_its_neighbour_succeeds", large_headers, codes),
    Attack(8, "a header line without a colon", "test_an_answer_with_a_line_without_a_colon_is_read_without_it",
           lambda: {"/": links(["/a"]), "/a": html(b"<p>a frog</p>", "just words")}, without_colon),
)  # fmt: skip
