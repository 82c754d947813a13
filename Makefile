# make demo    a simulated arm in the browser: push it, pull it, tune it
# make quick   format, types, layers and the tests of the core: under a minute
# make test    all checks and tests           make test-ros  those of the ROS 2 nodes only
# make test-pythons quick tests on every supported Python; make test-python-3.12 on one
# make test-lowest  the same with the oldest Python and the lowest versions that pyproject.toml allows
# make package      the distributions, in dist/, and the wheel used from elsewhere with the newest Python
# make lint    format, types, layers          make bench    the tick next to its peers
# make docs    the documentation, in site/    make figures  its figures and the numbers of its demonstrations
# make evidence     every measured figure whose source has changed, again (two hours); evidence-check names them
#
# PYTHON=python3.12 make ...   chooses the interpreter for .venv (any Python >= 3.10)

SHELL := /bin/bash
VENV := .venv
ROS := .venv-ros
LOWEST := .venv-lowest
WHEEL := .venv-wheel
PYTHONS := 3.10 3.11 3.12 3.13
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

# $(call python,3.12): that interpreter, on the path or of pyenv, which keeps only one there; nothing if there is none.
python = $(firstword $(foreach name,python$1 $(wildcard $(HOME)/.pyenv/versions/$1.*/bin/python),\
  $(if $(shell $(name) -c 'import ensurepip, venv; print(1)' 2>/dev/null),$(name))))

.PHONY: demo quick test test-ros test-pythons test-lowest package lint bench docs figures evidence evidence-check clean

demo: $(VENV)/.installed
	$(BIN)/ur-admittance demo

quick: lint
	@$(COMPILE)
	$(BIN)/python -m pytest -q -n auto --dist loadfile tests/core tests/params tests/model

# What failed runs once more, alone; second tries are counted over all parts (scripts/run_tests.py). First, beside each
# other, what two cores do without being late: tests with processes of their own, one pair of ROS 2 nodes (a second one,
# at real-time priority, would hold up the first), and in what these leave, those in simulated time (CALM). Then two
# browsers, and those that judge the wall clock (@pytest.mark.realtime), alone.
CALM := $(addprefix tests/,analysis calibration control core docs model package params robots/simulated test_refusals.py \
  $(addprefix lab/,bench campaign episodes scenarios tuning twin) \
  $(addprefix lab/emulator/test_,two_tables.py urscript.py urscript_fuzz.py) \
  $(addprefix page/test_,feel.py files.py interactive_world.py) \
  $(addprefix runtime/test_,damaged_recordings.py replay.py tables_and_figures.py))
BROWSER := $(wildcard tests/page/test_*in_the_browser.py)
NO_ROS := --ignore=tests/ros
test: lint $(ROS)/.tried
	@$(COMPILE)
	@$(ROS_PART) && $(RUN_TESTS) \
	  "$(BIN)/python -m pytest" "$(CROWD) $(NO_ROS) $(addprefix --ignore=,$(BROWSER) $(CALM))" \
	  "nice -n 19 $(BIN)/python -m pytest -n auto --dist loadfile" "$(CROWD) $(CALM)" \
	  $${ros:+"$$ros" "$(CROWD) $(ROS_TESTS)"} \
	  then "$(BIN)/python -m pytest -n 2 --dist loadfile" "$(CROWD) $(BROWSER)" \
	  then "$(BIN)/python -m pytest" "-m realtime $(REALTIME)" $${ros:+then "$$ros" "-m realtime $(ROS_TESTS)"}

test-ros: $(ROS)/.tried
	@$(ROS_PART) && $(RUN_TESTS) $${ros:+"$$ros" "$(ROS_TESTS)"}

COMPILE := $(BIN)/ur-admittance sim push --json >/dev/null # outside the time limits of the tests, and once for all workers
RUN_TESTS := $(BIN)/python scripts/run_tests.py
CROWD := -m 'not realtime'
REALTIME = $(filter-out tests/ros/%,$(shell grep -rl --include='test_*.py' 'mark\.realtime' tests)) # the others need not be collected
ROS_TESTS := tests/ros tests/robots/test_contract.py -k ros
# Nodes in processes of their own over DDS on this machine. A sourced ROS installation would mix with the wheels.
ROS_PART = if [ -e $(ROS)/.installed ]; then \
	  ros="env -u PYTHONPATH -u AMENT_PREFIX_PATH $(ROS)/bin/python -m pytest"; \
	elif [ -n "$$UR_ADMITTANCE_CI" ]; then echo "make: the ROS 2 wheels could not be installed" >&2; exit 1; \
	else ros=; echo "make: tests/ros skipped: there are no ROS 2 wheels for this computer"; fi

# Every direct dependency is met, no test watches real time.
ANYWHERE := $(addprefix tests/,core params model robots/simulated/test_environment.py runtime/test_replay.py lab/tuning/test_search.py \
  $(addprefix page/test_,$(addsuffix .py,feel files gate viser_internals)))

test-pythons: $(addprefix test-python-,$(PYTHONS))

test-python-3.%: .venv-3.%/.installed
	@.venv-3.$*/bin/ur-admittance sim push --json >/dev/null
	.venv-3.$*/bin/python scripts/run_tests.py ".venv-3.$*/bin/python -m pytest" "$(ANYWHERE)"

# Coal, the judge of distances, comes with a later Pinocchio only. The library is made here by the lowest Numba, hence its
# folder.
test-lowest: $(LOWEST)/.installed
	@UR_ADMITTANCE_CACHE=$(LOWEST)/made $(LOWEST)/bin/ur-admittance sim push --json >/dev/null
	UR_ADMITTANCE_CACHE=$(LOWEST)/made $(LOWEST)/bin/python scripts/run_tests.py "$(LOWEST)/bin/python -m pytest" \
	  "--ignore=tests/core/test_capsules.py $(ANYWHERE)"

# As pip builds it, with the tools that it brings along. MACHINES="x86_64 aarch64": the wheels of a release, which Zig's
# compiler makes for every Linux; without it one for this computer.
package: $(VENV)/.installed-test
	rm -rf dist $(WHEEL)
	$(BIN)/python -m hatchling build -t sdist
	for machine in $(or $(MACHINES),""); do \
	  UR_ADMITTANCE_MACHINE=$$machine $(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist . || exit 1; done
	$(BIN)/python -m twine check --strict dist/*
	$(or $(call python,$(lastword $(PYTHONS))),$(BIN)/python) -m venv $(WHEEL)
	$(WHEEL)/bin/python -m pip install --quiet --disable-pip-version-check dist/*_$$(uname -m).whl
	$(BIN)/python scripts/check_wheel.py $(WHEEL)

lint: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

bench: $(VENV)/.installed-test
	$(BIN)/python -m benchmarks.tick

docs: $(VENV)/.installed-test
	$(BIN)/python docs/render.py --write
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo "Open site/index.html"

figures: $(VENV)/.installed-test
	$(BIN)/python docs/mistakes --write
	$(BIN)/python docs/figures

evidence: $(VENV)/.installed-test
	$(BIN)/python -m benchmarks.evidence

evidence-check: $(VENV)/.installed-test
	$(BIN)/python -m benchmarks.evidence --check

clean:
	rm -rf $(VENV) $(ROS) $(LOWEST) $(WHEEL) .venv-3.* out build dist site

# The stamps make installation run again only when pyproject.toml has changed. pip comes first: the resolver of the one
# that Python 3.10 brings (23.0) does not find the set of versions within ten minutes, a current one needs seconds.
$(VENV)/.installed: pyproject.toml | $(BIN)/python
	@echo "Installing ur-admittance into $(VENV) (some minutes the first time)"
	@$(PIP) --upgrade pip && $(PIP) --editable '.[compiler]'
	@touch $@

$(VENV)/.installed-test: pyproject.toml | $(BIN)/python
	@echo "Installing ur-admittance with its test tools into $(VENV) (some minutes the first time)"
	@$(PIP) --upgrade pip && $(PIP) --editable '.[test,dev,docs]'
	@touch $@ $(VENV)/.installed

$(ROS)/.tried: pyproject.toml | $(BIN)/python
	@echo "Installing ur-admittance with ROS 2 wheels into $(ROS) (some minutes the first time)"
	@rm -f $(ROS)/.installed; test -e $(ROS)/bin/python || $(BIN)/python -m venv $(ROS)
	@$(ROS)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade pip \
	  && $(ROS)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[ros,test-ros]' \
	  && env -u PYTHONPATH -u AMENT_PREFIX_PATH $(ROS)/bin/python -c "import rclpy" \
	  && touch $(ROS)/.installed || echo "make: the ROS 2 wheels could not be installed" >&2
	@touch $@

.PRECIOUS: .venv-3.%/.installed # kept, though only a pattern names it
.venv-3.%/.installed: pyproject.toml
	@python="$(call python,3.$*)"; \
	if [ -z "$$python" ]; then echo "make: Python 3.$* is missing" >&2; exit 1; fi; \
	echo "Installing ur-admittance with its tests into .venv-3.$*"; test -e .venv-3.$*/bin/python || $$python -m venv .venv-3.$*
	@.venv-3.$*/bin/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	@.venv-3.$*/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	@touch $@

# pip has no option for the lowest versions, uv has. The oldest Python, or one up to 3.12: later ones have no wheels of
# some of them.
$(LOWEST)/.installed: pyproject.toml | $(BIN)/python
	@echo "Installing the lowest allowed versions into $(LOWEST)"
	@rm -rf $(LOWEST) && $(or $(call python,$(firstword $(PYTHONS))),$(BIN)/python) -m venv $(LOWEST)
	@$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check uv
	@$(LOWEST)/bin/uv pip install --quiet --python $(LOWEST)/bin/python --resolution lowest-direct --editable '.[test]'
	@touch $@

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
