# Needs Python 3.11 or newer with pip, and make. Everything else comes into .tools/ and .venv/, nothing into the system
# (but as root `make bench` adds nginx, `make test` nginx, strace, xfsprogs, zsh, fish, poppler, curl, aria2 and Chromium).

SHELL := /bin/sh
.DEFAULT_GOAL := help
# One more than the two cores of CI: many tests wait for a moment, not for a core.
JOBS ?= 3
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
# Where this is set, every one of some thousand starts would compile the whole program anew.
unexport PYTHONDONTWRITEBYTECODE

RUN := $(UV) run --no-sync
TOOLS := strace xfsprogs zsh fish nginx-light poppler-utils chromium curl aria2
# Runs `make _NAME`, then says how long it took, whatever came of it.
TIMED = @began=$$(date +%s); $(MAKE) --no-print-directory _$@; status=$$?; \
	echo "make $@: $$(( $$(date +%s) - began )) s$$([ $$status -eq 0 ] || echo ' (failed)')"; exit $$status

.PHONY: help demo test check fix docs crash crash-long hostile hostile-pages tools selftest-pg worlds-long bench bench-frontier bench-cases bench-files bench-images bench-markdown bench-attacks wheel lock clean sync _demo _test _crash _lint _bench _nginx

help:  ## list these commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | awk -F '\t' '{printf "make %-12s %s\n", $$1, $$2}'

demo:  ## crawl a simulated site, kill the crawler, watch it go on
	$(TIMED)

test:  ## lint, types and every test suite
	$(TIMED)

check: _lint  ## lint, types and tidiness only: seconds
	$(RUN) pytest -q tests/tidy

crash:  ## kill -9, failing calls, full disks: every fault suite at the size that `make test` plays
	$(TIMED)

crash-long: sync tools  ## the same at length, kept in docs/: make crash-long SUITE=T4 TRIALS=300 SEED=0
	@PYTHONPATH=tests $(RUN) python -m crash.suites.long $(SUITE) $(if $(TRIALS),--trials $(TRIALS)) $(if $(SEED),--seed $(SEED)); \
	status=$$?; $(RUN) python docs/make.py --no-recording; exit $$status

hostile: sync  ## every hostile behaviour of the web against the real crawler, kept in docs/hostile-web.md
	@PYTHONPATH=tests $(RUN) python -m web.record $(ARGS); status=$$?; $(RUN) python docs/make.py --no-recording; exit $$status

mutants: sync tools  ## every copy of the program that lacks one protective line; `make test` plays the core of them
	MUTANTS=all $(RUN) pytest -q -n $(JOBS) --dist loadgroup tests/mutants $(ARGS)

fix: sync  ## mend what ruff can mend, and format
	$(RUN) ruff check --fix
	$(RUN) ruff format

docs: sync  ## write the generated pages and record the demo anew: make docs ARGS=--no-recording leaves the recording
	$(RUN) python docs/make.py $(ARGS)

worlds-long: sync  ## the standard proof of the worlds with twenty kills each, of Chromium too, and in a storm: make worlds-long KILLS=20 DIAL=storm
	HOLDFAST_WORLD_KILLS=$(or $(KILLS),20) $(RUN) pytest -q tests/demo tests/documents tests/cases --timeout 1200 -rP -k "survives$(if $(DIAL), and $(DIAL))" $(ARGS)
	HOLDFAST_IMAGE_KILLS=$(or $(KILLS),20) $(RUN) pytest -q tests/crash/test_images_killed.py tests/views/test_images_scale.py $(ARGS)

hostile-pages: sync  ## two hundred garbled and hostile pages made Markdown: what each costs, and what becomes of it
	HOLDFAST_HOSTILE_PAGES=200 $(RUN) pytest -q -s tests/recipes/test_site_hostile_pages.py

selftest-pg: sync  ## holdfast selftest on a PostgreSQL of its own: make selftest-pg ARGS="--pages 3000 --kill 20"
	$(RUN) python -m holdfast.testing.postgres holdfast selftest --database '{url}' $(ARGS)

bench:  ## Holdfast beside aiohttp and Scrapy: make bench ARGS="--rounds 1 --pages 2000 --only holdfast,aiohttp"
	$(TIMED)

bench-frontier: sync  ## a ledger that knows a million pages: make bench-frontier ARGS="--known 10000000 --engine sqlite"
	$(RUN) python -m bench.frontier $(ARGS)

bench-cases: sync _nginx  ## a range of 100,000 numbers, killed and resumed: make bench-cases ARGS="--cases 10000 --kills 3 --seed 5"
	$(RUN) python -m bench.cases $(ARGS)

bench-files: sync tools  ## files of a list, beside curl and aria2c: make bench-files ARGS="--files 500", or ARGS="--list 100000"
	$(RUN) python -m bench.files $(ARGS)

bench-images: sync _nginx  ## an image set beside img2dataset, both killed half-way: make bench-images ARGS="--images 5000"
	@UV_PROJECT_ENVIRONMENT=build/bench/images-venv $(UV) sync --quiet --frozen --only-group bench-images
	$(RUN) python -m bench.images $(ARGS)

bench-markdown: sync  ## CPU per page of Markdown, on documentation of this computer: make bench-markdown ARGS="--folder pages/"
	$(RUN) python -m bench.markdown $(ARGS)

bench-attacks: sync  ## hostile scenes against a checkout, kept in docs/attacks.md: make bench-attacks ARGS="--tree ../old --as before robots"
	@PYTHONPATH=tests $(RUN) python -m bench.attacks $(ARGS); status=$$?; $(RUN) python docs/make.py --no-recording; exit $$status

wheel: sync  ## build the wheel, install it into an environment of its own, run the demo from it: at most a minute
	@$(RUN) python -m bench.wheel $(UV)

lock: $(UV)  ## bring uv.lock up to date with pyproject.toml
	$(UV) lock

clean:  ## remove what make and the tools left here (never a data directory)
	rm -rf .venv .tools build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

_demo: $(UV)
	$(UV) run --no-dev --frozen holdfast demo $(ARGS)
	@echo; echo "  In this clone the command is .venv/bin/holdfast."

_crash: sync tools
	$(RUN) pytest -q -n $(JOBS) --dist loadgroup tests/crash $(ARGS)

_test: _lint tools
	$(RUN) pytest -q -n $(JOBS) --dist loadgroup $(ARGS)

# What some fault suites, completions of shells and documented lines cannot do without. Put into the system as root only;
# else named, and their tests say so too.
tools:
	@missing=; for tool in strace xfs_io zsh fish nginx pdftotext chromium curl aria2c; do \
		(PATH="$$PATH:/usr/sbin:/sbin"; command -v $$tool) >/dev/null || missing="$$missing $$tool"; done; \
	if [ -n "$$missing" ]; then \
		if [ "$$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then \
			apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends $(TOOLS); \
		else echo "Not installed:$$missing (Debian: apt-get install $(TOOLS)); the tests that need them do not run." >&2; fi; \
	fi

# The peers get an environment of their own: in .venv the next `uv sync` would remove them.
_bench: sync _nginx
	@UV_PROJECT_ENVIRONMENT=build/bench/venv $(UV) sync --quiet --frozen --only-group bench
	$(RUN) python -m bench $(ARGS)

# Serves the site that is crawled. Put into the system as root only; else it is named.
_nginx:
	@if ! (PATH="$$PATH:/usr/sbin"; command -v nginx) >/dev/null; then \
		if [ "$$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then \
			apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y nginx-light; \
		else echo "make bench needs nginx (Debian: apt-get install nginx-light)." >&2; exit 1; fi; \
	fi

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
