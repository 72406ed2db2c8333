# Every target sets itself up: Python 3.11+, pip and make are enough, uv is used where it is.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
COPY := build/examples/gpt2-ablation
# The specification wants the folder to be called as the skill is; a checkout may be called otherwise.
SKILL := build/skill/compute-budget-planner

.DEFAULT_GOAL := help
.PHONY: help plan test lint skill types check pages

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-6s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

plan: $(READY) ## write the compute budget of the example (in a copy under build/) and show it
	@rm -rf $(COPY) && mkdir -p $(dir $(COPY)) && cp -R examples/gpt2-ablation $(COPY)
	@$(BIN)/compute-budget-planner --project-root $(COPY) \
		write-budget --run gpt2-small-main --claim CLM-003 > build/plan.txt
	@head -n 1 build/plan.txt && echo && cat $(COPY)/code/.agent/compute-budget.md

test: $(READY) ## run the tests
	@$(BIN)/pytest -q

lint: $(READY) ## check style and format
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .

skill: $(READY) ## check SKILL.md against the Agent Skills specification
	@rm -rf $(SKILL) && mkdir -p $(SKILL) && cp -R SKILL.md references memory_templates $(SKILL)
	@$(BIN)/agentskills validate $(SKILL)

types: $(READY) ## check types
	@$(BIN)/mypy

check: lint skill types plan test ## everything a change must pass

pages: $(READY) ## after a meant change: renew the outputs in README.md and tests/golden
	@$(BIN)/python tests/readme_blocks.py

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.12 ...")'
	@if command -v uv >/dev/null; then \
		uv venv -q --allow-existing -p $(PYTHON) .venv && \
		uv pip install -q -p .venv -c constraints.txt -e '.[dev]'; \
	else \
		$(PYTHON) -m venv .venv && $(BIN)/pip install -q -c constraints.txt -e '.[dev]'; \
	fi
	@touch $@
