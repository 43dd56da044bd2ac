# Needs make and a Python from 3.11 on; everything else goes into .venv, which every target sets up first: `run` what
# running needs, the others what tests and checks need besides.

.PHONY: run test test-all lint types imports compactions check screenshots bench keeping mutants fuzz torn interop hooks gateways loops clean python
.DEFAULT_GOAL := run

# The first that is recent enough; 3.11 first because the pins in constraints.txt are tested with it most.
PYTHON ?= $(shell for python in python3.11 python3.12 python3.13 python3 python; do \
	  if $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; \
	  then echo $$python; break; fi; done)

BIN := .venv/bin/python
RUNS := .venv/.runs
READY := .venv/.installed

run: $(RUNS)  ## open the workbench: your sessions, or a sample that overflows
	@$(BIN) -m workbench open

test: $(READY)  ## the suite, on two processes
	@$(BIN) -m pytest -n 2 --dist worksteal

test-all: $(READY)  ## the suite with the full products of formats, strategies and sessions
	@$(BIN) -m pytest -n 2 --dist worksteal -m ""

lint: $(READY)
	@$(BIN) -m ruff check .
	@$(BIN) -m ruff format --check .

types: $(READY)
	@$(BIN) -m mypy -p workbench -p interop

imports: $(READY)
	@.venv/bin/lint-imports

compactions: $(READY)  ## what compactions of the samples must keep
	@$(BIN) -m workbench check .ci/cwb-check.toml

check: test lint types imports compactions

screenshots: $(READY)  ## drive the app headless and write the pictures of the README
	@$(BIN) scripts/screenshots.py

bench: $(READY)  ## measure the workbench on a session of 100 MB, against baselines of the same run
	@$(BIN) -m benchmarks.run
	@$(BIN) -m benchmarks.audit
	@$(BIN) -m benchmarks.masking

SESSIONS := sample_sessions

keeping: $(READY)  ## what compactions keep of what was needed afterwards: make keeping SESSIONS=~/.claude/projects
	@$(BIN) -m benchmarks.keeping $(SESSIONS)

interop: $(READY)  ## run the tools themselves against a server here and write docs/interop.md: make interop TOOL=codex
	@$(BIN) -m interop $(TOOL)

hooks: $(READY)  ## run the hook inside the agents, against a server here: make hooks AGENT=claude-code
	@$(BIN) -m interop.hooks $(AGENT)

gateways: $(READY)  ## ask gateways that nobody here wrote for summaries, each started and stopped by itself
	@$(BIN) -m interop.gateways $(GATEWAY)

loops: $(READY)  ## run the library inside the loops of SDKs and frameworks, each in an environment of its own
	@$(BIN) -m interop.loops

ROOM := compaction
MINUTES := 10
INPUTS := 2000
SEED := 1

mutants: $(READY)  ## what ROOM's own tests notice of small changes to it, on a sample: make mutants ROOM=facts MINUTES=5
	@$(BIN) -m pip install --quiet -c constraints.txt -e '.[mutants]'
	@$(BIN) scripts/mutants.py $(ROOM) --minutes $(MINUTES) --seed $(SEED)

fuzz: $(READY)  ## damaged inputs through six commands, readers, writers and the library: make fuzz INPUTS=20000 SEED=2
	@$(BIN) -m scripts.fuzz --inputs $(INPUTS) --minutes $(MINUTES) --seed $(SEED)

torn: $(READY)  ## everything that is written, cut short: killed, on a full disk, where nothing may be written, at once
	@$(BIN) -m scripts.torn

clean:
	rm -rf .venv dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

python:
	@test -n "$(PYTHON)" || \
	  { echo "The workbench needs Python 3.11 or newer, and none was found: install one, or name it with make PYTHON=/path/to/python." >&2; exit 1; }

$(RUNS): pyproject.toml constraints.txt | python
	@$(PYTHON) scripts/set_up.py run
	@touch $@

$(READY): $(RUNS)
	@$(PYTHON) scripts/set_up.py dev
	@touch $@
