"""Settings come from the strongest place that says something, and what nobody can use is refused by name (CFG-01)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast import config
from holdfast.config.building import settings_of
from holdfast.config.reading import Places, Reading, read
from holdfast.config.secrets import redacted
from holdfast.config.shown import row_of, rows
from holdfast.config.table import ALIASES, KEYS, SETTINGS
from holdfast.errors import BadParams
from holdfast.model.job import Options

NOBODY: dict[str, str] = {}


def reading(folder: Path, toml: str = "", *, own: str = "", environ: dict[str, str] = NOBODY, **flags: str) -> Reading:
    """What holds in a folder two below one with this `holdfast.toml`, for a user with this file of their own."""
    below = folder / "marsh" / "frogs"
    below.mkdir(parents=True, exist_ok=True)
    if toml:
        (folder / "marsh" / "holdfast.toml").write_text(toml)
    if own:
        (folder / "xdg" / "holdfast").mkdir(parents=True, exist_ok=True)
        (folder / "xdg" / "holdfast" / "config.toml").write_text(own)
    env = {"XDG_CONFIG_HOME": str(folder / "xdg"), **environ}
    return read(Places(flags=flags, environ=env, start=below))


def test_each_place_wins_over_the_ones_below_it(tmp_path: Path) -> None:
    own, toml = "database_url = 'sqlite'\nmin_free_mb = 1", "min_free_mb = 2"
    variable = {"HOLDFAST_DATABASE_URL": "postgresql://pond.test/a"}
    assert reading(tmp_path)["min_free_mb"].value == 400
    assert reading(tmp_path, own=own)["min_free_mb"].value == 1
    assert reading(tmp_path, toml, own=own)["min_free_mb"].value == 2
    both = reading(tmp_path, toml, own=own, environ={"HOLDFAST_MIN_FREE_MB": "3", **variable})
    assert both["min_free_mb"].value == 3
    assert both["database_url"].origin == "HOLDFAST_DATABASE_URL"
    typed = reading(tmp_path, toml, own=own, environ=variable, database_url="postgresql://pond.test/b")
    assert (typed["database_url"].value, typed["database_url"].origin) == ("postgresql://pond.test/b", "--database")


def test_dotted_keys_and_tables_are_the_same(tmp_path: Path) -> None:
    dotted = reading(tmp_path, 'http.timeout = "30s"\nhttp.max_bytes = "1.5MB"')
    table = reading(tmp_path, '[http]\ntimeout = "30s"\nmax_bytes = 1500000')
    assert dotted["http.timeout"].value == table["http.timeout"].value == 30.0
    assert dotted["http.max_bytes"].value == table["http.max_bytes"].value == 1_500_000


def test_two_underscores_in_a_variable_are_a_dot(tmp_path: Path) -> None:
    env = {"HOLDFAST_HTTP__TIMEOUT": "30s", "HOLDFAST_CHECKPOINT__EVERY_TARGETS": "5", "HOLDFAST_HTTP__ALLOW": ""}
    found = reading(tmp_path, environ=env)
    assert (found["http.timeout"].value, found["http.timeout"].origin) == (30.0, "HOLDFAST_HTTP__TIMEOUT")
    assert found["checkpoint.every_targets"].value == 5
    assert found["http.allow"].origin == "default", "an empty variable says nothing"


@pytest.mark.parametrize("text", ["127.0.0.1:81,[::1]:82", '["127.0.0.1:81", "[::1]:82"]'])
def test_a_list_in_a_variable_has_commas_or_is_written_as_toml(text: str, tmp_path: Path) -> None:
    found = reading(tmp_path, environ={"HOLDFAST_HTTP__ALLOW": text})
    assert found["http.allow"].value == ("127.0.0.1:81", "[::1]:82")


def test_names_of_simulated_worlds_are_a_table(tmp_path: Path) -> None:
    """SEC-06."""
    inside = reading(tmp_path, 'http.resolve = { "world.test" = "127.0.0.1:8123" }')["http.resolve"].value
    outside = reading(tmp_path, environ={"HOLDFAST_HTTP__RESOLVE": "world.test=127.0.0.1:8123"})["http.resolve"].value
    assert inside == outside == {"world.test": "127.0.0.1:8123"}


def test_a_path_in_a_file_is_relative_to_that_file(tmp_path: Path) -> None:
    assert reading(tmp_path, 'data = "./store"')["data"].value == str(tmp_path / "marsh" / "store")
    assert reading(tmp_path, environ={"HOLDFAST_DATA": "store"})["data"].value == "store"


@pytest.mark.parametrize(
    ("toml", "sentence"),
    [
        ("http.timeot = '3s'", "there is no setting 'http.timeot'; did you mean http.timeout?"),
        ("min_free_mbb = 3", "did you mean min_free_mb?"),
        ("min_free_mb = -1", "min_free_mb: must be from 0 to 1000000000, not -1"),
        ("http.timeout = '-3s'", "http.timeout: '-3s' is not a duration"),
        ("http.timeout = 0", "http.timeout: must be from 1ms to 24h, not 0"),
        ("http.timeout = true", "http.timeout: true is not a value with a unit"),
        ("lease = '1ms'", "lease: must be from 500ms to 1h"),
        ("http.allow = ['frog']", "'frog' is not an address with its port"),
        ("http.allow = 8123", "8123 is not a list of texts"),
        ("http.resolve = ['a']", "is not a table of names"),
        ("checkpoint.enabled = 'maybe'", "is neither true nor false"),
        ('user_agent = "gr\\u00fcn"', "cannot be sent as a user agent"),
        ("http.timeout = ", "is not TOML"),
        pytest.param(f"min_free_mb = {'1' * 5_000}", "is not TOML", id="digits"),
        pytest.param(f"{'a.' * 2_000}a = 1", "there is no setting 'a.a.a.", id="deep"),
        ('hosts."judicial.ky".dely = "2s"', 'no setting hosts."judicial.ky".dely; did you mean delay?'),
        ("hosts.judicial.ky.delay = '2s'", "no setting hosts.judicial.ky"),
        ("hosts = 3", "hosts is a table of tables"),
        ('notify.ops = { webhok = "https://ops.example/hook" }', "did you mean webhook?"),
        ("engines.google.base_url = 3", "engines.google.base_url: 3 is not a line of text"),
        ('proxy = "http://frog:pond@proxy.test"', "stored in the clear"),
    ],
)
def test_what_cannot_be_used_is_refused_by_its_name_and_place(toml: str, sentence: str, tmp_path: Path) -> None:
    """CFG-01."""
    with pytest.raises(BadParams) as refused:
        reading(tmp_path, toml)
    assert sentence in refused.value.message
    assert str(tmp_path / "marsh" / "holdfast.toml") in refused.value.message
    assert "pond" not in refused.value.message


@pytest.mark.parametrize(
    ("variable", "text", "sentence"),
    [
        ("HOLDFAST_HTTP__TIMEOT", "3s", "did you mean HOLDFAST_HTTP__TIMEOUT?"),
        ("HOLDFAST_MIN_FREE_MB", "-1", "HOLDFAST_MIN_FREE_MB: must be from 0"),
        ("HOLDFAST_LEASE_S", "0.1", "HOLDFAST_LEASE_S: must be from 500ms"),
        ("HOLDFAST_DELAY_FILE", "x", "names no setting"),
        ("HOLDFAST_DATABASE_URL_FILE", "/no/such/frog", "DATABASE_URL_FILE: /no/such/frog cannot be read"),
        ("HOLDFAST_DATABASE_URL", "env:NO_SUCH_FROG", "the environment has no NO_SUCH_FROG"),
        ("HOLDFAST_NOTIFY__OPS", "x", "names no setting"),
    ],
)
def test_a_variable_that_cannot_be_used_is_refused(variable: str, text: str, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(BadParams) as refused:
        reading(tmp_path, environ={variable: text})
    assert sentence in refused.value.message


def test_sizes_of_what_runs_at_once_are_brought_into_their_range(tmp_path: Path) -> None:
    """CFG-01."""
    found = reading(tmp_path, "concurrency = 100000\nper_host = -3")
    assert (found["concurrency"].value, found["per_host"].value) == (256, 1)


def test_hosts_are_joined_field_by_field_and_the_nearer_file_wins(tmp_path: Path) -> None:
    near = 'hosts."judicial.ky" = { delay = "2s" }'
    own = 'hosts."judicial.ky" = { delay = "9s", concurrency = 1 }'
    assert reading(tmp_path, near, own=own).trees["hosts"] == {"judicial.ky": {"delay": 2000, "concurrency": 1}}


def test_tables_that_the_user_names_may_stand_in_the_environment(tmp_path: Path) -> None:
    env = {
        "HOLDFAST_ENGINES__GOOGLE__BASE_URL": "http://127.0.0.1:1/",
        "HOLDFAST_HOSTS": '{ "judicial.ky" = { delay = "2s" } }',
    }
    found = reading(tmp_path, environ=env)
    assert found.trees["engines"] == {"google": {"base_url": "http://127.0.0.1:1/"}}
    assert found.trees["hosts"] == {"judicial.ky": {"delay": 2000}}


@pytest.mark.parametrize(
    ("name", "text", "key", "value"),
    [
        ("NAV_TIMEOUT_SECONDS", "25", "browser.nav_timeout", 25.0),
        ("DOWNLOAD_TIMEOUT_SECONDS", "120", "http.timeout", 120.0),
        ("CLICK_TIMEOUT_MS", "500", "browser.click_timeout", 0.5),
        ("MAX_PARALLEL_DOWNLOADS", "4", "concurrency", 4),
        ("RECORD_REPLAY_FIXTURES", "true", "record", True),
        ("REDIS_COMPRESSION_THRESHOLD", "102400", "redis.compress_above", 102_400),
        ("LEASE_S", "1.5", "lease", 1.5),
    ],
)
def test_older_names_are_read_in_their_own_unit(name: str, text: str, key: str, value: object, tmp_path: Path) -> None:
    """CFG-02."""
    found = reading(tmp_path, environ={f"HOLDFAST_{name}": text})
    assert (found[key].value, found.alias_of) == (value, {f"HOLDFAST_{name}": key})
    assert reading(tmp_path, f"{name.lower()} = {text}")[key].value == value


def test_every_older_name_leads_to_a_setting() -> None:
    """CFG-02."""
    assert [alias.name for alias in ALIASES.values() if alias.key not in KEYS] == []


def test_the_new_name_wins_over_the_older_one(tmp_path: Path) -> None:
    env = {"HOLDFAST_HTTP__TIMEOUT": "7s", "HOLDFAST_DOWNLOAD_TIMEOUT_SECONDS": "120"}
    assert reading(tmp_path, environ=env)["http.timeout"].value == 7.0


def test_flags_of_an_older_roll_out_are_called_obsolete_and_stop_nothing(tmp_path: Path) -> None:
    """CFG-02."""
    env = {"HOLDFAST_USE_DB_CASES": "1", "HOLDFAST_CHECKPOINT_MIGRATION_PERCENTAGE": "100"}
    found = reading(tmp_path, environ=env)
    assert set(found.obsolete) == set(env)


def test_a_secret_of_the_program_is_looked_up_and_never_shown(tmp_path: Path) -> None:
    (tmp_path / "url").write_text("postgresql://frog:pond@pond.test/a\n")
    (tmp_path / "marsh").mkdir()
    (tmp_path / "marsh" / "url").write_text("postgresql://frog:pond@pond.test/b\n")
    by_file = reading(tmp_path, environ={"HOLDFAST_DATABASE_URL_FILE": str(tmp_path / "url")})
    by_name = reading(tmp_path, environ={"HOLDFAST_DATABASE_URL": "env:URL", "URL": "postgresql://frog:pond@c"})
    in_file = reading(tmp_path, 'database_url = "file:url"')
    clear = reading(tmp_path, 'database_url = "postgresql://frog:pond@pond.test/d"')
    assert by_file["database_url"].value.endswith("pond.test/a")
    assert by_name["database_url"].value == "postgresql://frog:pond@c"
    assert in_file["database_url"].value.endswith("pond.test/b"), "relative to the file that names it"
    assert row_of(clear, "database_url").value == "postgresql://frog:***@pond.test/d"
    for found in (by_file, by_name, in_file, clear):
        assert ":pond" not in str(rows(found))


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://frog:se@cr:et@pond.test/d", "postgresql://frog:***@pond.test/d"),
        ("postgresql://pond.test/d?password=secret&user=frog", "postgresql://pond.test/d?password=***&user=frog"),
        ("postgresql://pond.test:5432/d@x", "postgresql://pond.test:***@x"),  # 5432/d may be a password
        ("postgresql://pond.test:5432/d", "postgresql://pond.test:5432/d"),
        ("postgresql://a:1,b:2/d?sslmode=require", "postgresql://a:1,b:2/d?sslmode=require"),
        ("postgresql://[::1]:5432/d", "postgresql://[::1]:5432/d"),
        ("postgresql://frog:se/cr?et#@pond.test/d", "postgresql://frog:***@pond.test/d"),
        ("postgresql://frog:secret", "postgresql://frog:***"),
        ("postgresql://frog:secret@pond.test/d?password=secret", "postgresql://frog:***@pond.test/d?password=***"),
        ("postgresql://pond.test/d?pass%77ord=secret", "postgresql://pond.test/d?pass%77ord=***"),
        ("postgresql://pond.test:1/d?SSLPassword=s@ecret", "postgresql://pond.test:1/d?SSLPassword=***"),
        ("postgres://:secret@pond.test", "postgres://:***@pond.test"),
        ("host=pond.test password = 'a secret' user=frog", "host=pond.test password = *** user=frog"),
        ("password='secret", "password=***"),
        (
            "postgresql://pond.test/d?passfile=/run/pg&x_token=secret",
            "postgresql://pond.test/d?passfile=/run/pg&x_token=***",
        ),
        ("frog:secret@pond.test/d", "frog:***@pond.test/d"),
        ("http://frog:secret@proxy.test:3128", "http://frog:***@proxy.test:3128"),
        ("http://proxy.test:3128", "http://proxy.test:3128"),
    ],
)
def test_no_part_of_a_password_is_shown(address: str, shown: str) -> None:
    assert redacted(address) == shown


def test_a_secret_given_twice_is_refused(tmp_path: Path) -> None:
    env = {"HOLDFAST_DATABASE_URL": "sqlite", "HOLDFAST_DATABASE_URL_FILE": "x"}
    with pytest.raises(BadParams, match="both there"):
        reading(tmp_path, environ=env)


def test_the_defaults_of_a_job_are_those_of_its_options(tmp_path: Path) -> None:
    assert Options(**{row.pace: row.default for row in SETTINGS if row.pace}) == Options()
    settings = config.load(environ={"HOLDFAST_DELAY": "2s", "HOLDFAST_HTTP__ALLOW": "127.0.0.1:1"})
    assert Options(**settings.pace) == Options(delay_ms=2000, allow=("127.0.0.1:1",))


def test_where_nobody_says_anything_the_answer_is_the_same_and_no_table_is_loaded(tmp_path: Path) -> None:
    script = "import sys\nfrom holdfast import config\nprint(config.load(), 'holdfast.config.table' in sys.modules)"
    environ = {name: text for name, text in os.environ.items() if not name.startswith("HOLDFAST_")}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, env={**environ, "XDG_CONFIG_HOME": str(tmp_path)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == f"{settings_of(Reading())} False\n"


def test_checkpoints_by_number_and_time_can_be_switched_off() -> None:
    """JOB-10: they are on unless somebody says so."""
    assert config.load(environ={}).pace.get("checkpoint_targets", Options().checkpoint_targets) == 10
    pace = config.load(environ={"HOLDFAST_CHECKPOINT_ENABLED": "false"}).pace
    assert pace["checkpoint_targets"] == 0
    assert pace["checkpoint_s"] > 10 * 365 * 86_400


CONTRACT = """
data = "./holdfast-data"
database_url = "sqlite"                        # or postgresql://…; --database
broker_url = ""                                # redis://… only when scaled out
http.timeout = "60s"
http.max_bytes = "50MB"
http.allow = ["127.0.0.1:8123"]                # private addresses let through, one by one; default none
http.resolve = { "world.test" = "127.0.0.1:8123" }      # names of simulated worlds
min_free_mb = 400                              # below it nothing is claimed
checkpoint = { every_targets = 10, every = "2m" }
engines.google.base_url = "https://www.google.com"      # tests point this at a simulated world
hosts."judicial.ky" = { delay = "2s", concurrency = 1 }
notify.ops = { webhook = "https://ops.example/hook", on = ["job.failed", "job.stalled", "disk.low"], after = 3 }
job.cayman = { kind = "documents", list = "https://cayman.test/judgments.csv", notify = ["ops"] }
"""


def test_every_key_of_the_contract_is_read(tmp_path: Path) -> None:
    (tmp_path / "holdfast.toml").write_text(CONTRACT)
    settings = config.load(config=str(tmp_path / "holdfast.toml"), environ={})
    assert settings.data == tmp_path / "holdfast-data"
    assert Options(**settings.pace) == Options(allow=("127.0.0.1:8123",), resolve={"world.test": "127.0.0.1:8123"})
    assert settings.hosts == {"judicial.ky": {"delay": 2000, "concurrency": 1}}
    assert settings.jobs["cayman"].inputs == ("https://cayman.test/judgments.csv",)


def test_a_config_file_that_is_named_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(BadParams, match="there is no file"):
        config.load(config=str(tmp_path / "frog.toml"), environ={})
    (tmp_path / "frog.toml").write_text("min_free_mb = 7")
    assert config.load(config=str(tmp_path / "frog.toml"), environ={}).min_free_mb == 7
