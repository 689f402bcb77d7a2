# Needs Python 3.11 or newer with pip, and make. Everything else comes into .tools/ and .venv/, nothing into the system.

SHELL := /bin/sh
.DEFAULT_GOAL := help
JOBS ?= 2
ARGS ?=

# uv: the one on PATH if it really runs, else our own in .tools, fetched by pip on first use.
UV := $(shell uv --version >/dev/null 2>&1 && command -v uv || echo .tools/bin/uv)
# The first Python that is new enough. With none, uv (if it was there already) may still know one.
IS_NEW := import sys; sys.version_info < (3, 11) and sys.exit(1); print(sys.executable)
PYTHON := $(shell for name in python3 python python3.14 python3.13 python3.12 python3.11; do \
	"$$name" -c '$(IS_NEW)' 2>/dev/null && break; done)

ifneq ($(PYTHON),)
export UV_PYTHON := $(PYTHON)
endif
export UV_PROJECT_ENVIRONMENT := .venv
# Behind a company's proxy only the system knows the right certificates; where it has none, uv brings its own.
ifneq ($(wildcard /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt),)
export UV_SYSTEM_CERTS ?= true
endif
unexport VIRTUAL_ENV

RUN := $(UV) run --no-sync
# Runs `make _NAME`, then says how long it took, whatever came of it.
TIMED = @began=$$(date +%s); $(MAKE) --no-print-directory _$@; status=$$?; \
	echo "make $@: $$(( $$(date +%s) - began )) s$$([ $$status -eq 0 ] || echo ' (failed)')"; exit $$status

.PHONY: help demo test check fix docs selftest-pg lock clean sync _demo _test _lint

help:  ## list these commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | awk -F '\t' '{printf "make %-12s %s\n", $$1, $$2}'

demo:  ## crawl a simulated site, kill the crawler, watch it go on
	$(TIMED)

test:  ## lint, types and every test suite
	$(TIMED)

check: _lint  ## lint, types and tidiness only: seconds
	$(RUN) pytest -q tests/tidy

fix: sync  ## mend what ruff can mend, and format
	$(RUN) ruff check --fix
	$(RUN) ruff format

docs: sync  ## write the generated pages and record the demo anew: make docs ARGS=--no-recording leaves the recording
	$(RUN) python docs/make.py $(ARGS)

selftest-pg: sync  ## holdfast selftest on a PostgreSQL of its own: make selftest-pg ARGS="--pages 3000 --kill 20"
	$(RUN) python -m holdfast.testing.postgres holdfast selftest --database '{url}' $(ARGS)

lock: $(UV)  ## bring uv.lock up to date with pyproject.toml
	$(UV) lock

clean:  ## remove what make and the tools left here (never a data directory)
	rm -rf .venv .tools build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

_demo: $(UV)
	$(UV) run --no-dev --frozen holdfast demo $(ARGS)
	@echo; echo "  In this clone the command is .venv/bin/holdfast."

_test: _lint
	$(RUN) pytest -q -n $(JOBS) --dist loadgroup $(ARGS)

_lint: sync
	$(RUN) ruff check
	$(RUN) ruff format --check
	$(RUN) mypy

sync: $(UV)
	@$(UV) sync --quiet --frozen

.tools/bin/uv:
	@[ -n "$(PYTHON)" ] || { echo "Holdfast needs Python 3.11 or newer; here is $$(python3 --version 2>&1 || echo none)." >&2; exit 1; }
	@"$(PYTHON)" -m pip --version >/dev/null 2>&1 || { \
		echo "$(PYTHON) has no pip. Install it (Debian: apt install python3-pip), or install uv: https://docs.astral.sh/uv/" >&2; exit 1; }
	@"$(PYTHON)" -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --target .tools uv
