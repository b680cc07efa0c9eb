# On a fresh machine with python3 and make: each target makes .venv, installs what it needs, and runs.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
EVERYTHING := .[deep,data,tables,app,dask,oracles,dev,docs]

.PHONY: demo test lint slow stress bench docs package clean help

help:  ## Show this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

demo: .venv/.user  ## Fit the models on a simulated cohort and see what each would gain
	@$(BIN)/lifeyears demo

test: .venv/.developer lint  ## Lint, types, layers, doctests and tests; under ten minutes on two cores
	$(BIN)/python -m pytest -n 2

lint: .venv/.developer
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

slow: .venv/.developer  ## What takes minutes: packaging, oldest and newest dependencies
	$(BIN)/python -m pytest -m slow

stress: .venv/.developer  ## Hard use: properties, fuzzing, faults, a million rows, Dask; over an hour; writes stress/results
	$(BIN)/python stress/run.py

bench: .venv/.developer  ## Ours and the peers side by side; writes docs/benchmarks.md
	$(BIN)/python benchmarks/run.py

docs: .venv/.developer  ## Build the documentation into docs/_build
	$(BIN)/python -m sphinx -W -q docs docs/_build

package: .venv/.developer  ## Build wheel and sdist and check them
	rm -rf dist
	$(BIN)/python -m build --quiet
	$(BIN)/twine check --strict dist/*

clean:
	rm -rf .venv dist docs/_build

# torch goes in first and pinned, so that nothing else pulls another build
.venv/.user: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) --upgrade pip
	$(PIP) torch
	$(PIP) --editable ".[deep]"
	touch $@

.venv/.developer: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) --upgrade pip
	$(PIP) torch
	$(PIP) --editable "$(EVERYTHING)"
	touch $@ .venv/.user
