# Every target does its own set-up; needed are git, make and Python 3.11 or later.
#
#   make demo       a function, the gradient written for it, a check of it, and a real training run
#   make test       the tests
#   make test-all   the tests on every Python from 3.11 to 3.14 that is found
#   make test-gpu   the tests that need CuPy and a GPU
#   make fuzz       the long random tests
#   make bench      the benchmarks, as a table of ratios
#   make lint       ruff and mypy

SHELL := /bin/bash
.DELETE_ON_ERROR:
.SECONDARY:

VERSIONS := 3.11 3.12 3.13 3.14
VENV := .venv
BIN := $(VENV)/bin
PYTEST_FLAGS ?= -q
PROGRAMS ?= 5000

# The interpreter of .venv: PYTHON=... if given, or the first that is new enough and can make one.
NEW_ENOUGH := import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for p in python3 python $(VERSIONS:%=python%) ~/.pyenv/versions/3.1[1-4]*/bin/python; do \
	$$p -c '$(NEW_ENOUGH)' >/dev/null 2>&1 && echo $$p && break; done)

PIP := -m pip --disable-pip-version-check -q install

.PHONY: demo test test-all test-gpu fuzz bench lint clean

$(VENV)/made: pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11 or later, with venv and pip, is needed; set PYTHON=..." >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python $(PIP) -e '.[dev]'
	@touch $@

.venvs/%/made: pyproject.toml
	"$$($(call find-python,$*))" -m venv --clear .venvs/$*
	.venvs/$*/bin/python $(PIP) -e '.[test]'
	@touch $@

# A shell command that prints the interpreter of one version, if there is one that works.
find-python = for p in python$(1) $$(ls -d ~/.pyenv/versions/$(1).*/bin/python 2>/dev/null); do \
	$$p -c 'import sys, venv, ensurepip; sys.exit("%d.%d" % sys.version_info[:2] != "$(1)")' \
	>/dev/null 2>&1 && { command -v $$p; break; }; done

demo: $(VENV)/made
	@$(BIN)/python examples/demo.py

test: $(VENV)/made
	$(BIN)/python -m pytest $(PYTEST_FLAGS) -n 2 -m 'not gpu and not fuzz'

test-all:
	@$(foreach v,$(VERSIONS),if [ -n "$$($(call find-python,$(v)))" ]; then \
		echo "== Python $(v)" && $(MAKE) --no-print-directory test-$(v) || exit 1; \
		else echo "== Python $(v): not found"; fi; )

test-3.%: .venvs/3.%/made
	.venvs/3.$*/bin/python -m pytest $(PYTEST_FLAGS) -n 2 -m 'not gpu and not fuzz'

test-gpu: $(VENV)/made
	$(BIN)/python $(PIP) -e '.[cupy]'
	$(BIN)/python -m pytest $(PYTEST_FLAGS) -rs -m gpu

fuzz: $(VENV)/made
	$(BIN)/python tests/programs/fuzz.py $(PROGRAMS) --jobs 2

bench: $(VENV)/made
	$(BIN)/python -m benchmarks

lint: $(VENV)/made
	$(BIN)/ruff check .
	$(BIN)/mypy

clean:
	rm -rf $(VENV) .venvs build dist
