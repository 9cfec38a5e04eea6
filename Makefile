# `make demo` and `make test` need Python >= 3.11 and make; each makes its own virtual environment in .venv.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PYTEST_OPTIONS ?= -n auto --dist loadfile
BENCH_OPTIONS ?=
FUZZ_EXAMPLES ?= 5000
FUZZ_SECONDS ?=
QUICK ?= tests/test_house.py tests/test_face.py tests/errors tests/meta tests/features
TEST_EXTRAS ?= test

.PHONY: demo test test-clusters test-quick fuzz lint bench docs map package clean

demo: $(VENV)/demo.done
	$(BIN)/python scripts/demo/demo.py

test: $(VENV)/test.done
	$(BIN)/python -m pytest $(PYTEST_OPTIONS)

# In a process of their own: the threads of a cluster disturb other tests.
test-clusters: $(VENV)/clusters.done
	$(BIN)/python -m pytest -n 0 tests/engines/test_engine.py

test-quick: $(VENV)/test.done
	$(BIN)/python -m pytest $(PYTEST_OPTIONS) $(QUICK)

# Bytes that others write, changed at random; every input that breaks a law is kept in tests/fuzz/corpora. A long run: FUZZ_EXAMPLES=1000000 FUZZ_SECONDS=3600.
fuzz: $(VENV)/test.done
	HYPOTHESIS_PROFILE=campaign FUZZ_EXAMPLES=$(FUZZ_EXAMPLES) FUZZ_SECONDS=$(FUZZ_SECONDS) $(BIN)/python -m pytest tests/fuzz $(PYTEST_OPTIONS)

lint: $(VENV)/lint.done
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pyright --pythonpath $(BIN)/python

bench: $(VENV)/demo.done
	$(BIN)/python scripts/bench/run.py $(BENCH_OPTIONS)

docs: $(VENV)/docs.done
	$(BIN)/python -m sphinx -E -W --keep-going -b html docs docs/_build

# Source archive and wheel in dist/, checked; the wheel is installed in an empty environment and runs the demo and the lines of the README.
package: $(VENV)/package.done
	rm -rf dist build
	$(BIN)/python -m build
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/check-wheel-contents dist/*.whl
	$(BIN)/cffconvert --validate
	$(PYTHON) -m venv build/empty
	build/empty/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	build/empty/bin/python -P scripts/demo/demo.py
	sed -n '/^```python$$/,/^```$$/{/^```/d;p;}' README.md | build/empty/bin/python -P -
	rm -rf build

map:
	$(PYTHON) scripts/map.py

$(VENV)/made:
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "Python 3.11 or newer is needed, this is " + sys.version'
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/demo.done: $(VENV)/made pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

$(VENV)/test.done: $(VENV)/made pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[$(TEST_EXTRAS)]"
	touch $@

$(VENV)/clusters.done: $(VENV)/made pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[test,ray,dask]"
	touch $@

$(VENV)/lint.done: $(VENV)/made pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[test,lint]"
	touch $@

$(VENV)/package.done: $(VENV)/made pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[package]"
	touch $@

$(VENV)/docs.done: $(VENV)/made pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[docs]"
	touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache
