# Everything a fresh machine with Python, make and git needs: make run, make test.

PYTHON ?= python3
PORT ?= 5000
VENV ?= .venv
BIN := $(VENV)/bin
# Where it is set, each of the hundreds of processes that tests start compiles every module again.
unexport PYTHONDONTWRITEBYTECODE
# Says what it does while it installs with pip and compiles.
INSTALL := $(BIN)/python install_packages.py

.DEFAULT_GOAL := help
.PHONY: help install run test test-newest test-slow test-all promises accessibility soak check audit dependencies calibrate digits effort bench freeze wheel screenshots translations constraints lock clean

help: ## Say what can be made
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 15

install: $(VENV)/run ## Install into .venv, and serve nothing

run: $(VENV)/run ## Serve studies to try at http://127.0.0.1:5000 (make run PORT=5001)
	@$(BIN)/survey serve --demo --port $(PORT)

test: $(VENV)/test ## Run the tests for every day, in five to ten minutes on two cores
	$(BIN)/pytest -n 2 --dist worksteal -m 'not slow and not trial and not soak' $(ARGS)

test-slow: $(VENV)/test ## Run the slow ones alone: make test-slow ARGS=tests/guides, LIMIT=400 for 400 s
	$(BIN)/pytest -n 4 --dist loadfile --no-loadscope-reorder -m 'slow and not trial and not soak' $(if $(LIMIT),--seconds $(LIMIT)) $(ARGS)

test-all: test test-slow ## Run these and the slow ones: both databases, all walks in a real browser, the guides

# The newest Python here that is newer than the default one, also among those of pyenv.
NEWEST = for minor in 15 14 13 12; do for one in python3.$$minor $(HOME)/.pyenv/versions/3.$$minor.*/bin/python3; do \
  "$$one" -c 1 2>/dev/null && { echo "$$one"; exit; }; done; done

test-newest: ## Run the tests for every day on the newest Python of this machine, if it has more than one
	@newest=$$($(NEWEST)); make="$(MAKE) --no-print-directory VENV=build/newest PYTHON=$$newest"; \
	if [ -z "$$newest" ]; then echo "NOT TESTED on a newer Python: there is none here."; \
	elif ! $$make build/newest/test; then echo "NOT TESTED on $$newest: its packages could not be installed."; \
	else "$$newest" --version; $$make test ARGS="$(ARGS)"; fi

promises: $(VENV)/test ## Put every promise of docs/promises.md to the test, and quote what was measured
	@rm -rf build/measured
	$(BIN)/pytest -n 2 --dist worksteal tests/promises -m 'not soak' $(ARGS)
	$(BIN)/python -m tests.promises.page

promise-%: $(VENV)/test
	$(BIN)/pytest -n 2 --dist worksteal tests/promises/test_$**.py -m 'not soak' $(ARGS)

accessibility: $(VENV)/test ## Look at every page in every state, width, theme and language; writes docs/accessibility.md
	@rm -rf build/accessibility
	$(BIN)/pytest -n 2 --dist worksteal tests/accessibility -m 'not soak' $(ARGS)
	$(BIN)/python -m tests.accessibility.page

soak: $(VENV)/test ## Hours of answers under kills: 200,000 answers, 2,000 kills
	$(BIN)/pytest -s tests/promises -m soak $(ARGS)

check: $(VENV)/test ## Check style, types, and for what is known to be unsafe
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/bandit --quiet --recursive survey

audit: $(VENV)/made ## Look the pinned packages up in the advisories, where there is a network
	@$(BIN)/python -m tests.dependencies.audit

dependencies: $(VENV)/test ## Write DEPENDENCIES.md: what is installed, its licences, who asks for it
	$(BIN)/python -m tests.dependencies.page

calibrate: $(VENV)/test ## Simulate studies whose truth is known, and write benchmarks/calibration.md
	$(BIN)/python -m benchmarks.calibrate --to benchmarks/calibration.md $(ARGS)
	$(BIN)/pytest tests/benchmarks/test_calibration.py tests/core/agreement/test_power_model.py -m trial

effort: $(VENV)/test ## Count the words on participants' pages, and the actions of each way to answer
	$(BIN)/python -m benchmarks.effort $(ARGS)
	$(BIN)/pytest tests/benchmarks/test_effort.py -m trial

digits: $(VENV)/test ## Rank real images (handwritten digits), and write benchmarks/digits.md
	$(BIN)/python -m benchmarks.digits --to benchmarks/digits.md $(ARGS)

bench: $(VENV)/test ## Measure the speed beside peers (benchmarks/speed): make bench ARGS=measures
	$(BIN)/python -m benchmarks.speed $(ARGS)

freeze: $(VENV)/test ## Freeze this version's bundles and database, which later versions must read
	$(BIN)/python -m tests.freeze

wheel: $(VENV)/test ## Build the wheel into dist/
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .

screenshots: $(VENV)/test ## Take the screenshots and the recording of the README again
	$(BIN)/python -m tests.browser.screenshots

translations: $(VENV)/test ## Bring the catalogues up to date with what participants read
	@mkdir -p build
	$(BIN)/pybabel --quiet extract --mapping babel.cfg --keyword lazy_gettext --keyword marked \
	  --add-location file --output build/messages.pot .
	$(BIN)/pybabel --quiet update --input-file build/messages.pot --output-dir survey/translations \
	  --no-fuzzy-matching --ignore-obsolete --ignore-pot-creation-date --no-wrap
	$(BIN)/pybabel compile --directory survey/translations --statistics

constraints: ## Pin what is installed now (after trying newer versions by hand)
	$(BIN)/python -m pip freeze --exclude-editable | grep -viE '^(pip|setuptools)\b' > constraints.txt

lock: constraints.txt ## Write requirements.lock: what a server installs, pinned, with each file's SHA-256
	@$(PYTHON) -m venv build/lock && build/lock/bin/pip install --quiet --disable-pip-version-check 'pip-tools==7.6.2'
	build/lock/bin/pip-compile --quiet --generate-hashes --no-annotate --no-header --strip-extras --extra https \
	  --no-emit-index-url --no-emit-find-links --constraint constraints.txt --output-file requirements.lock pyproject.toml

clean: ## Remove the environment and what was built (not the instance folder)
	rm -rf .venv dist build

$(VENV)/made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@echo "Making a Python environment in $(VENV) (a few seconds, once) ..."
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/run: $(VENV)/made pyproject.toml constraints.txt
	@$(INSTALL) requirements.lock --editable .
	@touch $@

# In an environment of its own: it needs an older rich than the survey.
$(VENV)/rocrate/made: $(VENV)/made tests/dependencies/rocrate.txt
	@echo "Installing the validator of RO-Crates in $(@D) (about 20 seconds, once) ..."
	@$(PYTHON) -m venv $(@D)
	@$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --requirement tests/dependencies/rocrate.txt
	@touch $@

$(VENV)/test: $(VENV)/made $(VENV)/rocrate/made pyproject.toml constraints.txt
	@$(INSTALL) constraints.txt --editable '.[test,check]'
	@touch $(VENV)/run $@
