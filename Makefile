# Two commands do all set-up: `make demo` and `make test`. They need Python 3.11 or newer, git, make and the package
# registry; each makes its own environment once, from a lock with hashes. PYTHON=... names another Python.
PYTHON ?= python3
KIT ?= host-oom.kit
TIERS ?=

unexport PYTHONPATH PYTHONHOME
.DEFAULT_GOAL := help
.PHONY: help demo test lint typecheck lock clean run-env dev-env

# what environment.py cannot say, because this Python is missing or could not even read it
have_python = "$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 6))' 2>/dev/null || { \
	echo "set-up: cannot go on: '$(PYTHON)' is no Python 3.11 or newer. Install one, or name it: PYTHON=..." >&2; exit 1; }

help:
	@echo 'make demo       the shipped failing job, from start to bug report, in $(KIT) (KIT=... names another)'
	@echo 'make test       every check (TIERS="lint unit" picks some: lint unit job slow system gpu)'
	@echo 'make lint       ruff, the law of layers, mypy, shellcheck'
	@echo 'make typecheck  mypy alone'
	@echo 'make lock       write requirements/*.txt anew from pyproject.toml'
	@echo 'make clean      remove the environments and what tools left behind; kits stay'

demo: run-env
	@.venv-run/bin/python -m reprokit demo -o "$(KIT)"
	@echo 'reprokit itself is .venv-run/bin/reprokit'

test: dev-env
	@.venv-dev/bin/python tools/run_tests.py $(TIERS)

lint: dev-env
	@.venv-dev/bin/python tools/run_tests.py lint

typecheck: dev-env
	@.venv-dev/bin/python -m mypy

# the locker needs neither reprokit nor the environments that it pins
lock:
	@$(have_python)
	@"$(PYTHON)" tools/lock.py

run-env:
	@$(have_python)
	@"$(PYTHON)" tools/environment.py .venv-run requirements/run.txt

dev-env:
	@$(have_python)
	@"$(PYTHON)" tools/environment.py .venv-dev requirements/dev.txt

clean:
	rm -rf .venv-run .venv-dev .venv-lock .venv-*.lock build dist
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find reprokit recipes tests tools -name __pycache__ -type d -prune -exec rm -rf {} +
