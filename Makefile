# Two commands do all their own set-up: `make demo` and `make test`. They take python3, or another Python that is supported if
# python3 is not; PYTHON=PATH names one.
PYTHONS := $(shell sed -n 's/.*:: Python :: \(3\.[0-9]*\)".*/\1/p' pyproject.toml)
supported = $(1) -c 'import sys; sys.exit("{}.{}".format(*sys.version_info) not in "$(PYTHONS)".split())' 2>/dev/null
PYTHON ?= $(or $(firstword $(foreach name,python3 $(PYTHONS:%=python%),$(shell $(call supported,$(name)) && echo $(name)))),python3)
BIN := .venv/bin
SUDO := $(shell test "$$(id -u)" = 0 || echo sudo)

# Many tests start processes of their own: without bytecode, each of them would compile the package again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test tests wheel dist lock test-lab test-web test-cluster test-neural test-formats wiki-test wiki-answers check bench docs reference clean

# Stops if a virtual environment has a Python that is not supported, or if none is there to make it with.
define check_python
@python='$(PYTHON)'; fix='Install a supported one, or name it: make $(or $(firstword $(MAKECMDGOALS)),demo) PYTHON=PATH'; \
if test -x $(1)/bin/python; then python=$(1)/bin/python; fix='Delete $(1), and run the same command again.'; fi; \
$(call supported,"$$python") || { echo "bitrawl needs Python $(firstword $(PYTHONS)) to $(lastword $(PYTHONS)), and $$python is" \
"$$("$$python" --version 2>/dev/null || echo 'not there'). $$fix"; exit 1; } >&2
endef

# What is installed is in this file, with its hashes; `make lock` writes it. `LOCK=` takes the newest versions, without hashes.
LOCK ?= requirements-dev.txt

# Made again when the dependencies change. The package itself is editable.
.venv: pyproject.toml $(LOCK)
	$(call check_python,.venv)
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
ifeq ($(LOCK),)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --only-binary :all: --upgrade --group dev --editable .
else
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --only-binary :all: --require-hashes --requirement $(LOCK) \
	  || { echo 'Not all of $(LOCK) can be installed here. Without its versions and hashes: make $(or $(firstword $(MAKECMDGOALS)),demo) LOCK=' >&2; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --no-deps --no-build-isolation --editable .
endif
	$(BIN)/python -m compileall -q -j 0 .venv/lib >/dev/null || true # on all cores; pip would take one
	touch .venv

demo: .venv
	$(BIN)/bitrawl demo

check: .venv
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m lab.house

# The checks run beside the tests: mypy alone would leave a core idle for half a minute.
test: .venv
	$(MAKE) --jobs 2 check tests

# Three workers for two cores: many tests wait for processes that they start.
tests: .venv
	$(BIN)/pytest -n 3 --dist worksteal

# What users get: the wheel, in environments with nothing else, on the oldest and on the newest supported Python that is here.
wheel: .venv
	$(BIN)/python -m lab.tools.try_wheel

# The files of a release: see RELEASING.md
dist: .venv
	rm -rf dist release
	$(BIN)/python -m lab.tools.release

# The newest versions that all supported Pythons and platforms can have.
lock: .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary :all: 'uv>=0.9'
	$(BIN)/uv --quiet pip compile --upgrade --universal --python-version $(firstword $(PYTHONS)) --only-binary :all: --generate-hashes \
	  --no-annotate --custom-compile-command 'make lock' --group dev --output-file requirements-dev.txt pyproject.toml

# The web app in a real browser. `make test` runs these too where a browser is found, and says so where none is.
CHROMIUM ?= $(firstword $(foreach name,chromium chromium-browser google-chrome,$(shell command -v $(name) 2>/dev/null)))

test-web: .venv
ifeq ($(CHROMIUM),)
	command -v apt-get >/dev/null || { echo 'There is no chromium and no apt-get: install chromium, or name it: make test-web CHROMIUM=PATH'; exit 1; }
	$(SUDO) apt-get update --quiet
	$(SUDO) apt-get install --yes --no-install-recommends chromium
endif
	CHROMIUM=$(or $(CHROMIUM),chromium) $(BIN)/pytest -n 2 --dist worksteal tests/app

# Against a real S3 server on this machine: `make test` runs the same contract over a store in memory.
test-cluster: .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary :all: --group cluster-tests
	$(BIN)/pytest tests/contracts/test_places.py tests/unit/cluster/test_s3.py tests/end_to_end/test_checkpoint.py tests/end_to_end/test_refresh_many_sites.py

# PyTorch is gigabytes: these tests have a venv of their own, and `make test` goes without them.
.venv-neural: pyproject.toml
	$(call check_python,.venv-neural)
	test -x .venv-neural/bin/python || $(PYTHON) -m venv .venv-neural
	.venv-neural/bin/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	.venv-neural/bin/python -m pip install --quiet --disable-pip-version-check 'pytest>=8' 'pytest-asyncio>=0.24' --editable '.[neural]'
	touch .venv-neural

test-neural: .venv-neural
	.venv-neural/bin/pytest tests/neural

# What is written, as the libraries read it that people use. `make test` checks the same facts without them.
.venv-formats: pyproject.toml
	$(call check_python,.venv-formats)
	test -x .venv-formats/bin/python || $(PYTHON) -m venv .venv-formats
	.venv-formats/bin/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	.venv-formats/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: --group format-tests
	.venv-formats/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[parquet]'
	touch .venv-formats

test-formats: .venv-formats
	.venv-formats/bin/pytest tests/formats

# A real MediaWiki for `bitrawl bootstrap`: PHP from the system's packages, and Debian's MediaWiki unpacked beside us.
MEDIAWIKI := $(CURDIR)/.mediawiki/usr/share/mediawiki

.mediawiki:
	$(SUDO) apt-get update --quiet
	$(SUDO) apt-get install --yes --no-install-recommends php-cli php-sqlite3 php-mbstring php-intl php-xml php-curl
	rm -rf .mediawiki.new && mkdir .mediawiki.new
	cd .mediawiki.new && apt-get download mediawiki mediawiki-classes && for each in *.deb; do dpkg-deb -x "$$each" . && rm "$$each" || exit 1; done
	mv .mediawiki.new .mediawiki

wiki-test: .venv .mediawiki
	MEDIAWIKI=$(MEDIAWIKI) $(BIN)/pytest tests/wiki

# The answers that `make test` uses in its place; to be recorded again when the questions change.
wiki-answers: .venv .mediawiki
	PYTHONPATH=tests MEDIAWIKI=$(MEDIAWIKI) $(BIN)/python tests/wiki/record.py

# The laboratory: what trains the models and measures them. Some benchmarks train what they measure, to leave out what it is
# measured on.
.venv/lab: pyproject.toml | .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group lab
	touch .venv/lab

test-lab: .venv/lab
	$(BIN)/pytest -n 2 --dist worksteal lab/tests

bench: .venv/lab
	$(BIN)/python -m lab.bench

# The documentation as a site in site/, which opens from the disk: nothing in it is loaded from another host.
docs: .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary :all: --group docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	$(BIN)/python -m lab.tools.check_site site

# The pages that repeat what the program says: the command line and the tables of the job file.
reference: .venv
	$(BIN)/python -m lab.tools.command_reference
	$(BIN)/python -m lab.tools.job_file_reference

clean:
	rm -rf .venv .venv-neural .venv-formats .mediawiki .mediawiki.new .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis dist release site
