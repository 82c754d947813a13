# make demo    the simulated arm is pushed, a figure shows how it yields
# make test    all checks and tests
# make lint    format, types, layers          make bench    timing of the tick
#
# PYTHON=python3.12 make ...   chooses the interpreter for .venv (any Python >= 3.10)

SHELL := /bin/bash
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test lint bench clean

demo: $(VENV)/.installed
	@mkdir -p out
	$(BIN)/ur-admittance sim push --figure out/push.png
	@echo "The figure is in out/push.png"

test: lint
	$(BIN)/python -m pytest

lint: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

bench: $(VENV)/.installed-test
	$(BIN)/ur-admittance bench

clean:
	rm -rf $(VENV) out build dist

# The stamps make installation run again only when pyproject.toml has changed. pip comes first: the resolver of the one
# that Python 3.10 brings (23.0) does not find the set of versions within ten minutes, a current one needs seconds.
$(VENV)/.installed: pyproject.toml | $(BIN)/python
	@echo "Installing ur-admittance into $(VENV) (some minutes the first time)"
	@$(PIP) --upgrade pip && $(PIP) --editable .
	@touch $@

$(VENV)/.installed-test: pyproject.toml | $(BIN)/python
	@echo "Installing ur-admittance with its test tools into $(VENV) (some minutes the first time)"
	@$(PIP) --upgrade pip && $(PIP) --editable '.[test,dev]'
	@touch $@ $(VENV)/.installed

$(BIN)/python:
	@python=""; \
	for candidate in $(PYTHON) python3 python3.13 python3.12 python3.11 python3.10 python; do \
	  if $$candidate -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then python=$$candidate; break; fi; \
	done; \
	if [ -z "$$python" ]; then \
	  echo "make: Python 3.10 or newer is missing; install it, on Debian or Ubuntu with: sudo apt-get install python3 python3-venv" >&2; exit 1; \
	fi; \
	if ! $$python -c 'import ensurepip, venv' 2>/dev/null; then \
	  echo "make: $$python has no venv module; install it, on Debian or Ubuntu with: sudo apt-get install python3-venv" >&2; exit 1; \
	fi; \
	$$python -m venv $(VENV)
