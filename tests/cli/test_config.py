"""`holdfast config`, and settings as every command meets them."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from cli.commands import holdfast, ledger_in
from cli.schemas import validator
from holdfast.demo.serving import WorldServer


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://frog:croak9@127.0.0.1:1/d?password=croak9",
        "host=127.0.0.1 port=1 user=frog password=croak9",
        "password = 'croak9 frogs'",
        "postgres://:croak9@127.0.0.1:1",
        "postgresql://frog:croak9",
        "postgresql://[::1:croak9@127.0.0.1",
        "frog:croak9@127.0.0.1",
    ],
)
@pytest.mark.parametrize("words", [("config", "show"), ("config", "get", "database_url"), ("status",), ("doctor",)])
def test_no_command_prints_the_password_of_an_odd_address(words: tuple[str, ...], address: str, tmp_path: Path) -> None:
    done = holdfast(*words, cwd=tmp_path, HOLDFAST_DATABASE_URL=address)
    assert "croak9" not in done.out + done.err
    assert "Traceback" not in done.err
    assert done.code != 1


def test_config_shows_every_value_and_where_it_came_from(tmp_path: Path) -> None:
    """CFG-02."""
    (tmp_path / "holdfast.toml").write_text('http.timeout = "30s"\nnotify.ops = { mail = "ops@marsh.test" }\n')
    done = holdfast(
        "config", "show", "--origin", cwd=tmp_path, HOLDFAST_NAV_TIMEOUT_SECONDS="9", HOLDFAST_USE_DB_CASES="1"
    )
    assert done.code == 0
    lines = {line.partition(" = ")[0]: line for line in done.out.splitlines()}
    assert lines["http.timeout"].endswith(f"# {tmp_path / 'holdfast.toml'}")
    assert lines["min_free_mb"].endswith("# HOLDFAST_MIN_FREE_MB")
    assert lines["browser.nav_timeout"].endswith("# HOLDFAST_NAV_TIMEOUT_SECONDS")
    assert lines["notify.ops.mail"].endswith("not used yet")
    assert "HOLDFAST_NAV_TIMEOUT_SECONDS is an older name of browser.nav_timeout" in done.err
    assert "HOLDFAST_USE_DB_CASES is obsolete" in done.err
    assert tomllib.loads(done.out)["http"]["timeout"] == "30s", "what is shown can be kept as it is"


def test_config_is_json_too(tmp_path: Path) -> None:
    """C5."""
    document = holdfast("config", "show", "--json", cwd=tmp_path).json()
    validator("settings").validate(document)
    free = next(row for row in document["settings"] if row["key"] == "min_free_mb")
    assert free == {"key": "min_free_mb", "value": 0, "origin": "HOLDFAST_MIN_FREE_MB", "used": True, "secret": False}
    got = holdfast("config", "get", "http.max_bytes", "--json", cwd=tmp_path).json()
    assert (got["value"], got["origin"]) == ("50MB", "default")
    validator("setting").validate(got)
    path = holdfast("config", "path", "--json", cwd=tmp_path).json()
    validator("config_path").validate(path)
    assert (path["path"], path["exists"]) == (str(tmp_path / "holdfast.toml"), False)


def test_config_set_changes_the_nearest_file_and_keeps_its_comments(tmp_path: Path) -> None:
    below = tmp_path / "marsh"
    below.mkdir()
    (tmp_path / "holdfast.toml").write_text('# ours\nhttp.timeout = "30s"  # slow\n')
    assert holdfast("config", "path", cwd=below).out == f"{tmp_path / 'holdfast.toml'}\n"
    assert holdfast("config", "set", "http.timeout", "45s", cwd=below).code == 0
    assert holdfast("config", "set", 'hosts."judicial.ky".delay', "2s", cwd=below).code == 0
    text = (tmp_path / "holdfast.toml").read_text()
    assert text == '# ours\nhttp.timeout = "45s"  # slow\nhosts."judicial.ky".delay = "2s"\n'
    assert holdfast("config", "get", "http.timeout", cwd=below).out == "45s\n"
    assert list(below.iterdir()) == []


def test_config_set_makes_a_file_and_says_what_still_wins(tmp_path: Path) -> None:
    done = holdfast("config", "set", "min_free_mb", "7", cwd=tmp_path)
    assert (done.code, (tmp_path / "holdfast.toml").read_text()) == (0, "min_free_mb = 7\n")
    assert "What holds here is still what HOLDFAST_MIN_FREE_MB says." in done.err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("set", "http.timeot", "3s"), "did you mean http.timeout?"),
        (("set", "min_free_mb", "-1"), "min_free_mb: must be from 0"),
        (("set", "hosts.judicial.ky.delay", "2s"), "a name with dots stands in quotes"),
        (("set", "database_url", "postgresql://frog:pond@marsh.test/a"), "stored in the clear"),
        (("set", "token", "pond"), "write env:NAME or file:PATH"),
        (("set", "http.timeout"), "config set needs a KEY and a VALUE"),
        (("get", "http.timeot"), "did you mean http.timeout?"),
        (("shwo",), "invalid choice"),
    ],
)
def test_a_mistake_changes_nothing(words: tuple[str, ...], sentence: str, tmp_path: Path) -> None:
    done = holdfast("config", *words, cwd=tmp_path)
    assert done.code == 2
    assert sentence in done.err
    assert "pond" not in done.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [("status",), ("crawl", "marsh.test"), ("resume",), ("targets", "frogs"), ()])
def test_every_command_refuses_a_configuration_that_cannot_be_used(words: tuple[str, ...], tmp_path: Path) -> None:
    """CFG-01."""
    (tmp_path / "holdfast.toml").write_text("min_free_mb = -1\n")
    done = holdfast(*words, cwd=tmp_path)
    assert done.code == 2
    assert "holdfast.toml: min_free_mb: must be from 0" in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["holdfast.toml"]


def test_a_job_that_cannot_be_used_is_shown_and_complained_of(tmp_path: Path) -> None:
    (tmp_path / "holdfast.toml").write_text('job.frogs = { seeds = ["marsh.test"], dely = "2s" }\n')
    done = holdfast("config", "show", cwd=tmp_path)
    assert (done.code, "job.frogs.dely" in done.out) == (2, True)
    assert "holdfast.toml: job.frogs: a job has no key 'dely'; did you mean delay?" in done.err


def test_a_file_that_cannot_be_used_can_be_mended_by_config_set(tmp_path: Path) -> None:
    (tmp_path / "holdfast.toml").write_text("min_free_mb = -1\n")
    assert holdfast("config", "set", "min_free_mb", "1", cwd=tmp_path).code == 0
    assert holdfast("status", cwd=tmp_path).code == 0


def test_a_job_begins_with_what_is_configured_and_keeps_what_was_typed(tree: WorldServer, tmp_path: Path) -> None:
    """SEC-06: the addresses that were let through are kept with the job."""
    file = tmp_path / "holdfast.toml"
    file.write_text(f'http.allow = ["{tree.address}"]\nhttp.timeout = "9s"\ndelay = "0s"\ndata = "store"\n')
    words = ("crawl", *tree.oracle()["seeds"], "--name", "frogs")
    assert holdfast(*words, "--max-attempts", "2", "--start-paused", cwd=tmp_path).code == 0
    file.write_text(f'http.allow = ["{tree.address}"]\nhttp.timeout = "8s"\nmax_attempts = 5\ndata = "store"\n')
    done = holdfast(*words, cwd=tmp_path)
    assert done.code == 0, done.err
    assert "frogs: timeout 9s -> 8s" in done.err
    (tmp_path / "holdfast-data").symlink_to("store")
    with ledger_in(tmp_path) as ledger:
        options = ledger.job("frogs").options
    assert (options.timeout_s, options.max_attempts, options.delay_ms) == (8.0, 2, 0)
    assert options.allow == (tree.address,)


def test_another_file_is_read_by_name_and_variables_from_an_env_file(tmp_path: Path) -> None:
    (tmp_path / "holdfast.toml").write_text("min_free_mb = -1\n")
    (tmp_path / "good.toml").write_text('http.timeout = "30s"\n')
    (tmp_path / ".env").write_text("# ours\nexport HOLDFAST_DELAY='3s' # calm\nHOLDFAST_MIN_FREE_MB=5\n")
    done = holdfast("-C", "good.toml", "config", "show", "--json", "--env-file", ".env", cwd=tmp_path)
    values = {row["key"]: row["value"] for row in done.json()["settings"]}
    assert (values["http.timeout"], values["delay"], values["min_free_mb"]) == ("30s", "3s", 0)
    assert holdfast("-C", "good.toml", "config", "get", "delay", cwd=tmp_path).out == "500ms\n", (
        ".env is not looked for"
    )
    missing = holdfast("status", "-C", "frog.toml", cwd=tmp_path)
    assert (missing.code, missing.err) == (2, "--config: there is no file frog.toml\n")
    assert holdfast("status", "-C", "good.toml", "--env-file", "frog", cwd=tmp_path).code == 2


def test_a_server_cannot_be_asked_yet_and_nothing_is_done_here_instead(tmp_path: Path) -> None:
    done = holdfast("crawl", "marsh.test", "--server", "http://127.0.0.1:8080", cwd=tmp_path)
    assert done.code == 2
    assert "cannot ask a server yet" in done.err
    assert list(tmp_path.iterdir()) == []


def test_without_a_file_no_reader_of_files_is_loaded(tmp_path: Path) -> None:
    import subprocess
    import sys

    script = "import sys\nfrom holdfast import config\nconfig.load()\nprint('tomllib' in sys.modules)"
    for expected in ("False", "True"):
        done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == expected
        (tmp_path / "holdfast.toml").write_text("")
