# make demo    an agent learns a game, about two minutes; makes everything it needs first
# make test    the tests             make check   ruff, mypy, import rules, links
# make bench   speed beside peers    make help    all targets

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/stamps
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
# Processes of the tests: three on two cores, because some tests wait for clocks.
JOBS ?= 3

.DEFAULT_GOAL := help
.PHONY: help install demo test test-slow check bench docs links pages format clean

help:
	@echo "install    .venv with the command .venv/bin/palaestra"
	@echo "demo       an agent learns Connect Four 5×5 from nothing in two minutes, then what to try next"
	@echo "test       the tests, in $(JOBS) processes (JOBS=6 make test for more)"
	@echo "test-slow  also the long ones"
	@echo "check      ruff, mypy strict, import rules, links of the documentation"
	@echo "bench      speed beside peers and limits"
	@echo "docs       the documentation as a site in site/, strict; docs/ can also be read as it is"
	@echo "links      only check the links of the documentation"
	@echo "pages      make the pages anew that come from the code: docs/settings.md, verbs.md, strength.md"
	@echo "format     ruff format"
	@echo "clean      remove everything that can be made again, .venv too"

install: $(STAMPS)/main

demo: $(STAMPS)/main
	@$(BIN)/palaestra demo

test: $(STAMPS)/dev
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile

test-slow: $(STAMPS)/dev
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile -m "slow or not slow"

check: $(STAMPS)/dev links
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

bench: $(STAMPS)/peers
	$(BIN)/python -m benchmarks

docs: $(STAMPS)/dev links
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict # not --quiet: then it counts no warnings
	@echo "open site/index.html"

links:
	@$(PYTHON) docs/check_links.py

pages: $(STAMPS)/main
	$(BIN)/palaestra settings --markdown > docs/settings.md
	$(BIN)/python -m palaestra.cli.verbs_page > docs/verbs.md
	$(BIN)/python -m palaestra.lab.strength_page docs/strength.svg > docs/strength.md

format: $(STAMPS)/dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) build dist site src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests benchmarks docs -name __pycache__ -prune -exec rm -rf {} +

# One stamp for each set of packages: installed once, and again when the requirements change.

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Palaestra needs Python 3.11 or newer; try make PYTHON=python3.12")'
	@echo "Making $(VENV) …"
	@$(PYTHON) -m venv $(VENV)
	@mkdir -p $(STAMPS)

$(STAMPS)/main: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing what playing and learning need (once) …"
	@mkdir -p $(STAMPS)
	@$(PIP) torch # first and alone, pinned to a CPU build: nothing else may choose one that pulls in CUDA
	@$(PIP) --editable '.[web]'
	@touch $@

$(STAMPS)/dev: $(STAMPS)/main
	@echo "Installing what testing needs (once) …"
	@$(PIP) --editable '.[dev]'
	@touch $@

$(STAMPS)/peers: $(STAMPS)/main
	@echo "Installing the peers to measure against (once) …"
	@$(PIP) --editable '.[peers]'
	@touch $@
