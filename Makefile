# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PY     := $(BIN)/python
BASE   := $(VENV)/.base
STAMP  := $(VENV)/.installed
OLDEST := $(VENV)-oldest

# Some machines forbid Python to keep compiled files; every process would then compile a thousand modules anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help demo test soak test-slow test-oldest test-trackers release-check bench lint docs clean
.DEFAULT_GOAL := help

help:
	@echo "make demo           install what it needs, run the main job on built-in data, write an HTML report"
	@echo "make test           install the rest; style, types, docstrings, pages and the fast tests"
	@echo "make test-slow      the tests that take minutes"
	@echo "make soak           an hour (SOAK_MINUTES=60) of random worlds, inputs and kills; soak.json says what happened"
	@echo "make test-oldest    the fast tests with the lowest versions that pyproject.toml promises"
	@echo "make test-trackers  MLflow, Weights & Biases and TensorBoard for real, on local stores"
	@echo "make release-check  build, install without torch, run the README"
	@echo "make bench          every benchmark; make bench-spectral (or another name) for one"
	@echo "make lint           style, types, docstrings and pages only"
	@echo "make docs           the documentation, examples run"

# the demo needs the plain install only; the tests add torch, the extras and the papers to the same environment
$(BASE): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q --no-compile -c constraints.txt -e .
	touch $@

$(STAMP): $(BASE) papers/pyproject.toml
	$(BIN)/pip install -q -c constraints.txt torch==2.13.0
	$(BIN)/pip install -q -c constraints.txt -e ".[dev]" -e papers
	touch $@

demo: $(BASE)
	$(BIN)/unbraid demo --out demo

test: lint
	$(PY) scripts/browser.py
	OMP_NUM_THREADS=1 $(PY) -m pytest -n 2 --dist worksteal -q --durations=10

test-slow: $(STAMP)
	$(PY) scripts/browser.py
	OMP_NUM_THREADS=1 $(PY) -m pytest -m slow -q --durations=10 --timeout 5400

soak: $(STAMP)
	OMP_NUM_THREADS=1 $(PY) scripts/soak.py --minutes $${SOAK_MINUTES:-60} --out soak.json

# torch stays at its pinned version: the builds of others bring gigabytes of GPU libraries
test-oldest:
	$(PYTHON) scripts/browser.py
	$(PYTHON) -m venv $(OLDEST)
	$(PYTHON) scripts/oldest.py > $(OLDEST)/constraints.txt
	$(OLDEST)/bin/pip install -q -c $(OLDEST)/constraints.txt torch
	$(OLDEST)/bin/pip install -q -c $(OLDEST)/constraints.txt -e ".[torch,accelerate,tensorboard,torchmetrics,data,tables,cells,metrics,test]"
	$(OLDEST)/bin/pip install -q --no-deps -e papers
	OMP_NUM_THREADS=1 $(OLDEST)/bin/python -m pytest -n 2 --dist worksteal -q -W ignore::DeprecationWarning \
		-p no:cacheprovider tests

# MLflow and another package need different importlib-metadata: it gets a folder of its own
test-trackers: $(STAMP)
	$(PY) scripts/trackers_check.py $(VENV)-trackers

release-check: $(STAMP)
	$(PY) scripts/release_check.py

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(PY) scripts/check_docstrings.py
	$(BIN)/sphinx-build -W --keep-going -q -b dummy -D plot_gallery=0 docs docs/_build/check

bench: $(STAMP)
	@for f in benchmarks/bench_*.py; do echo "== $$f"; $(PY) $$f || exit 1; done

bench-%: $(STAMP)
	$(PY) benchmarks/bench_$*.py

docs: $(STAMP)
	$(BIN)/sphinx-build -W --keep-going -q docs docs/_build/html
	@echo "docs/_build/html/index.html"

clean:
	rm -rf demo docs/_build docs/auto_examples build dist $(OLDEST) $(VENV)-trackers .pytest_cache .mypy_cache .ruff_cache
