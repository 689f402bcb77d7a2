"""The ledger's schema: one DDL for both engines, in numbered migrations, each one transaction.

Written once with four words that the engines spell differently: {id} {blob} {compact} {bytes_per_row}. No foreign keys
point at `target` (each would be one more probe per link); jobs own everything else by cascade.
"""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.faults import point
from holdfast.model.states import JOB, State

SCHEMA_VERSION = 6

_JOB_STATUSES = ", ".join(f"'{status}'" for status in JOB.states)
_STATES = ", ".join(str(int(state)) for state in State)

_V1 = f"""
CREATE TABLE job (
  id {{id}}, uid TEXT NOT NULL UNIQUE, owner TEXT NOT NULL, name TEXT NOT NULL, recipe TEXT NOT NULL,
  identity TEXT, params TEXT NOT NULL, options TEXT NOT NULL, chunking TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ({_JOB_STATUSES})),
  requested TEXT CHECK (requested IN ('pause', 'cancel')), paused_by TEXT, because TEXT NOT NULL, stop_reason TEXT,
  health TEXT, version BIGINT NOT NULL, phase TEXT NOT NULL, gen BIGINT NOT NULL, plan_done BIGINT NOT NULL,
  planned_total BIGINT, run BIGINT NOT NULL, active_ms BIGINT NOT NULL, created_at BIGINT NOT NULL,
  since BIGINT NOT NULL, started_at BIGINT, paused_at BIGINT, finished_at BIGINT, last_error TEXT,
  recoveries BIGINT NOT NULL, refetched BIGINT NOT NULL,
  UNIQUE (owner, name), UNIQUE (owner, identity)
);
CREATE TABLE run (
  id {{id}}, job BIGINT NOT NULL REFERENCES job (id) ON DELETE CASCADE, n BIGINT NOT NULL, mode TEXT NOT NULL,
  trigger TEXT NOT NULL, started_at BIGINT NOT NULL, ended_at BIGINT, status TEXT NOT NULL, stop_reason TEXT,
  UNIQUE (job, n)
);
CREATE TABLE chunk (
  id {{id}}, job BIGINT NOT NULL REFERENCES job (id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('control', 'plan', 'work')), idx BIGINT NOT NULL,
  epoch BIGINT NOT NULL, no BIGINT NOT NULL, at BIGINT NOT NULL, seq BIGINT NOT NULL, phase TEXT NOT NULL,
  requested TEXT,
  owner_host TEXT, owner_boot TEXT, owner_ns TEXT, owner_pid BIGINT, owner_start BIGINT,
  owner_session TEXT, until BIGINT,
  UNIQUE (job, kind, idx)
);
CREATE TABLE tally (
  chunk BIGINT NOT NULL REFERENCES chunk (id) ON DELETE CASCADE, type TEXT NOT NULL, status TEXT NOT NULL,
  reason TEXT NOT NULL, n BIGINT NOT NULL, PRIMARY KEY (chunk, type, status, reason)
) {{compact}};
CREATE TABLE host (
  id {{id}}, key TEXT NOT NULL UNIQUE, delay_ms BIGINT, conc BIGINT, busy BIGINT NOT NULL, next_at BIGINT NOT NULL,
  hold_until BIGINT NOT NULL, set_at BIGINT NOT NULL
);
CREATE TABLE lane (
  id {{id}}, chunk BIGINT NOT NULL REFERENCES chunk (id) ON DELETE CASCADE, phase TEXT NOT NULL,
  host BIGINT NOT NULL REFERENCES host (id), origin TEXT NOT NULL, todo BIGINT NOT NULL, held BIGINT NOT NULL,
  due BIGINT NOT NULL, UNIQUE (chunk, phase, origin)
);
CREATE INDEX lane_due ON lane (chunk, phase, due) WHERE todo > 0;
CREATE INDEX lane_host ON lane (host);
CREATE TABLE target (
  id {{id}}, job BIGINT NOT NULL, lane BIGINT NOT NULL, key {{blob}} NOT NULL, path TEXT NOT NULL, type TEXT NOT NULL,
  depth BIGINT NOT NULL, parent BIGINT, rank BIGINT NOT NULL, hops BIGINT NOT NULL,
  state BIGINT NOT NULL CHECK (state IN ({_STATES})), disposition TEXT, code TEXT, rule TEXT, because TEXT,
  gen BIGINT NOT NULL, attempts BIGINT NOT NULL, deaths BIGINT NOT NULL, alone BIGINT NOT NULL, not_before BIGINT,
  tried_at BIGINT, held_epoch BIGINT, found_chunk BIGINT NOT NULL, found_no BIGINT NOT NULL,
  done_chunk BIGINT, done_no BIGINT, last_chunk BIGINT, last_no BIGINT
){{bytes_per_row}};
CREATE UNIQUE INDEX target_key ON target (job, key);
CREATE INDEX target_ready ON target (lane, rank, id) WHERE state = 0;
CREATE INDEX target_wait ON target (lane, not_before) WHERE state = 1;
CREATE INDEX target_solo ON target (lane) WHERE state = 2;
CREATE INDEX target_held ON target (lane) WHERE state = 3;
CREATE TABLE segment (
  id {{id}}, job BIGINT NOT NULL REFERENCES job (id) ON DELETE CASCADE, name TEXT NOT NULL, UNIQUE (job, name)
);
CREATE TABLE body (
  target BIGINT NOT NULL, gen BIGINT NOT NULL, segment BIGINT NOT NULL REFERENCES segment (id),
  off BIGINT NOT NULL, len BIGINT NOT NULL, size BIGINT NOT NULL, sha256 {{blob}} NOT NULL, media TEXT NOT NULL,
  PRIMARY KEY (target, gen)
) {{compact}};
CREATE TABLE record (
  target BIGINT NOT NULL, gen BIGINT NOT NULL, n BIGINT NOT NULL, chunk BIGINT NOT NULL, no BIGINT NOT NULL,
  run BIGINT NOT NULL, kind TEXT NOT NULL, doc {{blob}} NOT NULL, seal {{blob}} NOT NULL, PRIMARY KEY (target, gen, n)
) {{compact}};
CREATE TABLE external_link (
  job BIGINT NOT NULL REFERENCES job (id) ON DELETE CASCADE, key {{blob}} NOT NULL, url TEXT NOT NULL,
  target BIGINT, found_chunk BIGINT NOT NULL, found_no BIGINT NOT NULL, PRIMARY KEY (job, key)
) {{compact}};
CREATE TABLE attempt (
  chunk BIGINT NOT NULL, no BIGINT NOT NULL, target BIGINT NOT NULL, gen BIGINT NOT NULL, n BIGINT NOT NULL,
  worker TEXT NOT NULL, began_at BIGINT NOT NULL, ended_at BIGINT NOT NULL, outcome TEXT NOT NULL,
  refunded BIGINT NOT NULL, code TEXT, status_code BIGINT, message TEXT, bytes BIGINT NOT NULL,
  prev_chunk BIGINT, prev_no BIGINT, PRIMARY KEY (chunk, no, target)
) {{compact}};
CREATE TABLE entry (
  chunk BIGINT NOT NULL REFERENCES chunk (id) ON DELETE CASCADE, no BIGINT NOT NULL, epoch BIGINT NOT NULL,
  verb TEXT NOT NULL, at BIGINT NOT NULL, digest {{blob}} NOT NULL, n BIGINT NOT NULL, PRIMARY KEY (chunk, no)
) {{compact}};
CREATE TABLE event (
  chunk BIGINT NOT NULL REFERENCES chunk (id) ON DELETE CASCADE, seq BIGINT NOT NULL, at BIGINT NOT NULL,
  actor TEXT NOT NULL, thing TEXT NOT NULL, verb TEXT NOT NULL, source TEXT NOT NULL, target TEXT NOT NULL,
  because TEXT NOT NULL, PRIMARY KEY (chunk, seq)
) {{compact}};
CREATE TABLE plan (
  job BIGINT PRIMARY KEY REFERENCES job (id) ON DELETE CASCADE, chunk BIGINT NOT NULL, cursor BIGINT NOT NULL,
  done BIGINT NOT NULL
);
CREATE TABLE checkpoint (
  job BIGINT NOT NULL REFERENCES job (id) ON DELETE CASCADE, number BIGINT NOT NULL, at BIGINT NOT NULL,
  doc {{blob}} NOT NULL, checksum {{blob}} NOT NULL, PRIMARY KEY (job, number)
) {{compact}}
"""

# Politeness, the verbs of operators, the cursors of readers. `undo` keeps what a named verb overwrote. `named` has a
# row only for a target with a natural key or params of its own: pages of a site have none, and pay nothing.
_V2 = """
ALTER TABLE host ADD COLUMN fails BIGINT NOT NULL DEFAULT 0;
ALTER TABLE host ADD COLUMN trips BIGINT NOT NULL DEFAULT 0;
ALTER TABLE host ADD COLUMN crawl_delay_ms BIGINT;
ALTER TABLE run ADD COLUMN health TEXT;
ALTER TABLE run ADD COLUMN doc {blob};
CREATE TABLE robots (
  origin TEXT NOT NULL, agent TEXT NOT NULL, status BIGINT NOT NULL, body {blob} NOT NULL, fetched_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL, tries BIGINT NOT NULL DEFAULT 0, because TEXT NOT NULL DEFAULT '', asker BIGINT,
  asker_epoch BIGINT, PRIMARY KEY (origin, agent)
) {compact};
CREATE TABLE visit (
  ticket TEXT NOT NULL PRIMARY KEY, host BIGINT NOT NULL REFERENCES host (id),
  chunk BIGINT NOT NULL REFERENCES chunk (id) ON DELETE CASCADE
);
CREATE INDEX visit_chunk ON visit (chunk);
CREATE TABLE exclusion (
  job BIGINT NOT NULL REFERENCES job (id) ON DELETE CASCADE, n BIGINT NOT NULL, pattern TEXT NOT NULL,
  syntax TEXT NOT NULL CHECK (syntax IN ('glob', 'regex')), gen BIGINT, actor TEXT NOT NULL, at BIGINT NOT NULL,
  removed_at BIGINT, removed_by TEXT, PRIMARY KEY (job, n)
) {compact};
CREATE TABLE label (
  target BIGINT NOT NULL PRIMARY KEY, job BIGINT NOT NULL REFERENCES job (id) ON DELETE CASCADE, word TEXT NOT NULL,
  actor TEXT NOT NULL, at BIGINT NOT NULL
);
CREATE TABLE consumer (
  job BIGINT NOT NULL REFERENCES job (id) ON DELETE CASCADE, name TEXT NOT NULL, cursor {blob} NOT NULL,
  at BIGINT NOT NULL, PRIMARY KEY (job, name)
) {compact};
CREATE TABLE undo (
  target BIGINT NOT NULL, chunk BIGINT NOT NULL REFERENCES chunk (id) ON DELETE CASCADE, no BIGINT NOT NULL,
  verb TEXT NOT NULL, actor TEXT NOT NULL, before {blob} NOT NULL, state BIGINT NOT NULL, done_chunk BIGINT,
  done_no BIGINT, PRIMARY KEY (target, chunk, no)
) {compact};
CREATE TABLE named (
  target BIGINT NOT NULL PRIMARY KEY, name TEXT, params TEXT
);
ALTER TABLE plan ADD COLUMN trail {blob};
CREATE INDEX target_failed ON target (job, code) WHERE state = 6;
ALTER TABLE job ADD COLUMN asked TEXT CHECK (asked IN ('pause', 'cancel', 'time_out'));
UPDATE job SET asked = requested;
ALTER TABLE job DROP COLUMN requested;
ALTER TABLE job RENAME COLUMN asked TO requested;
CREATE INDEX target_failed_id ON target (job, id) WHERE state = 6;
CREATE TABLE walk (
  id {id}, job BIGINT NOT NULL REFERENCES job (id) ON DELETE CASCADE, verb TEXT NOT NULL, actor TEXT NOT NULL,
  cursor BIGINT NOT NULL, doc {blob} NOT NULL
);
CREATE INDEX walk_job ON walk (job, id);
ALTER TABLE plan ADD COLUMN mode TEXT NOT NULL DEFAULT 'full';
ALTER TABLE plan ADD COLUMN opening TEXT;
ALTER TABLE chunk ADD COLUMN ruled BIGINT NOT NULL DEFAULT 0
"""

# Of a checkpoint that a rollback went back behind: the number of the one that the rollback wrote. Of a host: what a
# file said about it when it was last heeded.
_V3 = """
ALTER TABLE checkpoint ADD COLUMN undone_by BIGINT;
ALTER TABLE host ADD COLUMN said_delay_ms BIGINT;
ALTER TABLE host ADD COLUMN said_conc BIGINT
"""

# Of a host: how often it answered 403 in a row, over all pages and jobs. `host_total` spares counting the targets of a
# host again and again where a job has a cap for them; a run that begins forgets it.
_V4 = """
ALTER TABLE host ADD COLUMN forbade BIGINT NOT NULL DEFAULT 0;
CREATE TABLE host_total (
  job BIGINT NOT NULL REFERENCES job (id) ON DELETE CASCADE, host TEXT NOT NULL, n BIGINT NOT NULL,
  PRIMARY KEY (job, host)
) {compact}
"""

# Where targets lie that are made of stored bytes, without a request (NO_HOST): its row is never written. `phase_plan`
# keeps the plan of a phase that the job has left: `plan` is that of the phase it is in.
_V5 = """
INSERT INTO host (id, key, busy, next_at, hold_until, set_at) VALUES (0, '', 0, 0, 0, 0);
CREATE TABLE phase_plan (
  job BIGINT NOT NULL REFERENCES job (id) ON DELETE CASCADE, phase TEXT NOT NULL, cursor BIGINT NOT NULL,
  done BIGINT NOT NULL, trail {blob}, PRIMARY KEY (job, phase)
) {compact}
"""

# What a chunk is called where its job's kind names them: a keyword, a slice of a list.
_V6_CHUNK_NAMES = """
ALTER TABLE chunk ADD COLUMN name TEXT NOT NULL DEFAULT ''
"""

# Files of their own beside a target's body. Found by path (whose is this file?) and by hash (is it here already?).
_V6_ARTIFACTS = """
CREATE TABLE artifact (
  target BIGINT NOT NULL, gen BIGINT NOT NULL, n BIGINT NOT NULL, chunk BIGINT NOT NULL, no BIGINT NOT NULL,
  role TEXT NOT NULL, path TEXT NOT NULL, size BIGINT NOT NULL, sha256 {blob} NOT NULL, media TEXT NOT NULL,
  url TEXT NOT NULL, PRIMARY KEY (target, gen, n)
) {compact};
CREATE INDEX artifact_path ON artifact (path);
CREATE INDEX artifact_sha256 ON artifact (sha256)
"""

MIGRATIONS: dict[int, str] = {1: _V1, 2: _V2, 3: _V3, 4: _V4, 5: _V5, 6: f"{_V6_CHUNK_NAMES.rstrip()};{_V6_ARTIFACTS}"}
LEDGER_TABLE = (
    "CREATE TABLE ledger (id TEXT NOT NULL, schema_version BIGINT NOT NULL, salt {blob} NOT NULL, created_at BIGINT)"
)


def statements(version: int, words: dict[str, str]) -> Iterator[str]:
    """The statements of one migration in an engine's own words; a test may kill before each and after the last."""
    for statement in MIGRATIONS[version].format(**words).split(";"):
        point("migrate.between_statements")
        yield statement.strip()
    point("migrate.between_statements")
