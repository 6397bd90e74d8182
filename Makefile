# Everything a person or a machine does with this repository. `make help` lists it.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
SHELL := /bin/bash
VENV := .venv
BIN := $(VENV)/bin
RUNS := $(VENV)/.runs
STAMP := $(VENV)/.stamp
# The pages are tested in a browser where there is one.
LOCKS := locks/develops.txt $(if $(shell command -v chromium),locks/browser.txt)
# Each file that pip may take has its hash in there, and nothing else is taken.
HASHED := --require-hashes --no-deps
# By the pip of the other Python at first: one's own in .venv takes half a minute to make.
PIP = pip() { if test -x $(BIN)/pip; then $(BIN)/python -m pip "$$@"; \
	else $(PYTHON) -m pip --python $(BIN)/python "$$@"; fi; }; \
	pip install --disable-pip-version-check --progress-bar on
# Seconds for what takes pip a minute. What pip is told of an index or of files holds for it.
UV = env $${PIP_INDEX_URL:+UV_DEFAULT_INDEX="$$PIP_INDEX_URL"} \
	$${PIP_FIND_LINKS:+UV_FIND_LINKS="$$PIP_FIND_LINKS"} \
	$(BIN)/uv pip install --quiet --python $(BIN)/python
# By uv, which compiles nothing unless asked to; where it cannot be had, by pip.
INSTALL = set -o pipefail; { test -x $(BIN)/uv && $(UV) --compile-bytecode $(HASHED) $(1); } \
	|| { $(PIP) $(HASHED) $(1) $(SHOWN); }
# A line a second, so that one sees that it goes on.
TOLD = while sleep 1; do echo "  $(1): $$SECONDS s"; done & ticker=$$!; trap 'kill $$ticker' EXIT;
# For every system and Python from 3.11 on, whichever this one is.
LOCK := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--constraint constraints.txt --no-header --no-annotate
# One line for each package.
SHOWN := 2>&1 | sed -u -E '/^(Requirement already|  )/d'
MODEL_API_BASE ?= http://127.0.0.1:8080/v1
MODEL_NAME ?= openai/local
MUTATED ?= projections/folds handlers/mind/strategies
MUTATED_TESTS ?= tests/projections/folds tests/handlers/mind
SAMPLE ?= 200
# Two cores run some thirty programs at once: what fails then has a second try without them.
AGAIN := 'What failed is tried once more, alone. What passes now depends on load: mend it.'
CODE := schemas streams projections handlers replay evaluation echoic packs bench docs tests

.DEFAULT_GOAL := help
.PHONY: locks help setup demo up down test test-model check style written shape format lint types layers docs cov bench mutants clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(STAMP) ## Install everything into .venv

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Echoic needs Python 3.11 or newer; set PYTHON=/path/to/python")'
	@$(PYTHON) -m pip --version >/dev/null 2>&1 && $(PYTHON) -m venv --without-pip $(VENV) \
		|| $(PYTHON) -m venv $(VENV)

# What runs needs a third of what tests and checks need besides.
$(RUNS): pyproject.toml locks/build.txt locks/runs.txt locks/uv.txt | $(BIN)/python
	@echo 'installing what Echoic runs on into $(VENV): a few seconds once it was loaded'
	@$(call TOLD,loading uv) $(PIP) --quiet $(HASHED) -r locks/uv.txt \
		|| echo 'uv cannot be had: pip takes its place, for a minute or two'
	@$(call TOLD,installing) $(call INSTALL,-r locks/build.txt -r locks/runs.txt)
	@$(call TOLD,installing) $(UV) --no-deps --no-build-isolation --editable . 2>/dev/null \
		|| { $(PIP) --quiet --no-deps --no-build-isolation --editable .; }
	@touch $@

$(STAMP): $(RUNS) $(LOCKS)
	@echo 'installing what its tests and checks need besides: a minute or less'
	@test -x $(BIN)/pip || $(BIN)/python -m ensurepip >/dev/null
	@$(call TOLD,installing) $(call INSTALL,$(addprefix --requirement=,$(LOCKS)))
	@touch $@

demo: $(RUNS) ## Play a recorded game through a throw-away instance and explain it
	$(BIN)/echoic demo

up: $(RUNS) ## Start a persistent instance in the background, with the desk pack
	$(BIN)/echoic up --detach --pack packs/desk

down: $(RUNS) ## Stop it
	$(BIN)/echoic down

test: setup ## Run all tests, the shipped sessions under each Python; name the slowest
	$(BIN)/python -m tests.pythons
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder --durations=20 --durations-min=2 \
		|| { test $$? -eq 1 && echo $(AGAIN) && $(BIN)/python -m pytest --last-failed --maxfail 10; }

test-model: setup ## The learning scenario with a real model: docs/evaluation.md says how
	MODEL_API_BASE=$(MODEL_API_BASE) MODEL_NAME=$(MODEL_NAME) \
		$(BIN)/python -m pytest -s -m model_real tests/e2e/test_real_model.py

check: setup ## Style, types, layers and generated documents
	@$(MAKE) --no-print-directory --jobs 2 --keep-going \
		$(if $(filter output-sync,$(.FEATURES)),--output-sync) types style lint layers written shape

style: setup
	$(BIN)/ruff format --check $(CODE)

written: setup
	$(BIN)/python docs/generate.py --check

shape: setup
	$(BIN)/python -m bench.shape --check

locks: ## Write the locks anew, by uv: the versions of constraints.txt, all files' hashes
	printf 'hatchling\neditables\n' | $(LOCK) - --output-file locks/build.txt
	printf 'uv\n' | $(LOCK) - --output-file locks/uv.txt
	$(LOCK) pyproject.toml --output-file locks/runs.txt
	$(LOCK) pyproject.toml --extra model --output-file locks/image.txt
	# num2words asks for docopt, which has no wheel, for its own command alone.
	$(LOCK) pyproject.toml --extra dev --extra crafter --no-emit-package docopt \
		--output-file locks/develops.txt
	printf 'playwright\n' | $(LOCK) - --output-file locks/browser.txt

format: setup ## Rewrite the code in its style
	$(BIN)/ruff format $(CODE)
	$(BIN)/ruff check --fix $(CODE)

lint: setup ## Style only
	$(BIN)/ruff check $(CODE)

types: setup ## Types only
	$(BIN)/mypy

layers: setup ## Import contracts only
	$(BIN)/lint-imports --no-cache

docs: setup ## Write the generated documents
	$(BIN)/python docs/generate.py

cov: setup ## Branch coverage of the pure part, which must be whole
	$(BIN)/python -m pytest -m 'not services and not slow and not crash' \
		--cov --cov-report=term-missing

bench: setup ## Measure throughput and latency; writes bench/latest.json
	$(BIN)/python -m bench

mutants: setup ## Change the pure parts a little and count what no test notices
	$(BIN)/python -m bench.mutants $(MUTATED) --tests $(MUTATED_TESTS) --sample $(SAMPLE)

clean: ## Remove the environment and all caches; instances' data folders stay
	rm -rf $(VENV) .cache .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
