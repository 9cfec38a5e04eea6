# `make demo` and `make test` need Python >= 3.11 and make; each makes its own virtual environment in .venv.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PYTEST_OPTIONS ?= -n auto --dist loadfile
BENCH_OPTIONS ?=
QUICK ?= tests/test_house.py tests/test_face.py tests/errors tests/meta tests/features
TEST_EXTRAS ?= test

.PHONY: demo test test-quick lint bench docs map clean

demo: $(VENV)/demo.done
	$(BIN)/python scripts/demo/demo.py

test: $(VENV)/test.done
	$(BIN)/python -m pytest $(PYTEST_OPTIONS)

test-quick: $(VENV)/test.done
	$(BIN)/python -m pytest $(PYTEST_OPTIONS) $(QUICK)

lint: $(VENV)/lint.done
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pyright --pythonpath $(BIN)/python

bench: $(VENV)/demo.done
	$(BIN)/python scripts/bench/run.py $(BENCH_OPTIONS)

docs: $(VENV)/docs.done
	$(BIN)/python -m sphinx -E -W --keep-going -b html docs docs/_build

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

$(VENV)/lint.done: $(VENV)/made pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[test,lint]"
	touch $@

$(VENV)/docs.done: $(VENV)/made pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[docs]"
	touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache
