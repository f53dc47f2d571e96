# make demo   install, then rank the bundled data        make test    install, then run the tests
# make check  lint, format, types, imports, tests         make sanitize  the core under ASan/UBSan
# make test-oldest  the tests with the oldest versions that are allowed
# make test-sklearn SKLEARN=1.8  the tests with that scikit-learn
# make wheel  sources and wheels in dist/, tried without a compiler   make test-baseline  without AVX2
# make test-arm64  the core for arm64, by an emulator
# make docs  the site, into build/docs; a warning is an error   make mutants  faults that tests miss
# make release-check  all of these, in order   make audit  known holes in what is depended on
# make fuzz   certificates of FUZZ_PROBLEMS (10 000) random problems against exact values; harmed files
SHELL = bash
.SHELLFLAGS = -o pipefail -c
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
CORE = CMakeLists.txt pyproject.toml $(wildcard core/*/*)
BUILD_NEEDS = "scikit-build-core>=0.11" "nanobind>=2.4" "cmake>=3.21" ninja

.PHONY: demo docs test test-oldest test-sklearn test-baseline wheel check lint format types imports benchmark sanitize sanitized-core fuzz fuzz-sanitized \
  mutants docs-kept audit release-check test-arm64 clean

# Python files are compiled when they are first imported: most of those installed never are.
PIP = $(BIN)/python -m pip install --disable-pip-version-check --no-compile
SAY = @printf '==> %s\n'
# Of pip's long story: what it gets, how far the compiler is. All of it if it fails.
INSTALL_ALOUD = $(PIP) --verbose --no-build-isolation $(PIP_OPTIONS) -e $(1) 2>&1 | tee $(VENV)/install.log | awk ' \
  $$1 == "Collecting" { print "    getting " $$2; fflush() } \
  match($$0, /^ *\[[1-9][0-9]*0\/[0-9]+\]/) { print "    compiling the core " $$1; fflush() } \
  /^Installing collected packages/ { print "    unpacking"; fflush() }' \
  || { cat $(VENV)/install.log; exit 1; }

$(BIN)/python:
	$(SAY) "creating $(VENV), with the build tools: about 10 seconds"
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) --quiet $(BUILD_NEEDS)

# The core is built in place, without isolation, so that a change rebuilds what changed only.
$(VENV)/.core: $(BIN)/python $(CORE)
	$(SAY) "getting NumPy, SciPy and scikit-learn and compiling the core: about 80 seconds on two cores"
	@$(call INSTALL_ALOUD,.)
	@touch $@

$(VENV)/.test: $(VENV)/.core
	$(SAY) "getting what the tests need: about 30 seconds"
	@$(call INSTALL_ALOUD,".[test]")
	@touch $@

# A variable, because a comma would end an argument of `call`. It has the core in it.
WITH_CLI = ".[cli,plot]"
$(VENV)/.demo: $(BIN)/python $(CORE)
	$(SAY) "getting scikit-learn, pandas, pyarrow and matplotlib and compiling the core: about 80 seconds on two cores"
	@$(call INSTALL_ALOUD,$(WITH_CLI))
	@touch $(VENV)/.core $@

demo: $(VENV)/.demo
	$(SAY) "from a table to a list and a report: some 30 seconds"
	@$(BIN)/toprank demo -o demo --force

# As many workers as cores, a thread each: more would wait for each other (half as many seconds again).
test: $(VENV)/.test
	$(SAY) "running the tests: a few minutes"
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --maxprocesses 8 --dist worksteal

# A build folder of its own, because CMake remembers the environment that it was run from.
OLDEST_BUILD = --config-settings=build-dir=build/oldest

# The same tests with the oldest versions that pyproject.toml allows, in an environment of their own.
test-oldest:
	$(MAKE) VENV=.venv-oldest PIP_OPTIONS="--constraint tests/oldest.txt $(OLDEST_BUILD)" test

# The same tests with the scikit-learn before the newest, or another.
SKLEARN ?= 1.8
SKLEARN_PLACE = build/sklearn-$(SKLEARN)
test-sklearn:
	@mkdir -p $(SKLEARN_PLACE) && echo 'scikit-learn==$(SKLEARN).*' > $(SKLEARN_PLACE)/constraint.txt
	$(MAKE) VENV=.venv-sklearn-$(SKLEARN) test \
	  PIP_OPTIONS="--constraint $(SKLEARN_PLACE)/constraint.txt --config-settings=build-dir=$(SKLEARN_PLACE)/core"

# The form of the core that every machine can run, on one that can do better.
test-baseline: $(VENV)/.test
	TOPRANK_INSTRUCTIONS=plain OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --maxprocesses 8 --dist worksteal \
	  tests/core tests/solvers tests/designs tests/methods

# The core compiled for arm64, its tests run by an emulator: Debian, with the packages that it names.
test-arm64: $(VENV)/.test
	$(BIN)/python packaging/try_arm64.py

# One wheel for Python 3.11, one for all later versions; those that a Python here can take are tried.
# A Python may be named here and not run: pyenv has a program for every version, chosen or not.
WHEEL_PYTHONS ?= python3.11 python3.12
wheel:
	rm -rf dist
	$(PYTHON) packaging/build_wheels.py $(WHEEL_PYTHONS)
	for python in $(WHEEL_PYTHONS); do \
	  ! $$python -c '' 2>/dev/null || $$python packaging/try_wheel.py dist/*.whl || exit 1; \
	done

check: lint types imports test

$(VENV)/.docs: $(VENV)/.core
	$(SAY) "getting Sphinx and what it needs: about 30 seconds"
	@$(call INSTALL_ALOUD,".[docs]")
	@touch $@

# The source is the repository, so that a link means the same on the site and on a code host.
docs: $(VENV)/.docs
	$(SAY) "building the site: two or three minutes, the second time what changed only"
	@OMP_NUM_THREADS=2 $(BIN)/sphinx-build -W --keep-going -n -q -c docs -d build/docs-cache . build/docs
	$(SAY) "done: build/docs/index.html"

# The same site in SITE/VERSION, beside those of other versions; its pages lead to the list of them.
SITE ?= build/site
docs-kept: $(VENV)/.docs
	@version=$$($(BIN)/python -c 'import toprank; print(toprank.__version__)') && mkdir -p $(SITE) && \
	  OMP_NUM_THREADS=2 $(BIN)/sphinx-build -W --keep-going -n -q -A kept=1 -c docs -d build/docs-cache . $(SITE)/$$version
	@$(BIN)/python docs/_ext/kept_versions.py $(SITE)

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(VENV)/.test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(VENV)/.test
	$(BIN)/mypy

imports: $(VENV)/.test
	$(BIN)/lint-imports

benchmark: $(VENV)/.test
	$(BIN)/python benchmarks/run.py

# A build of its own, so that the ordinary one stays fast. The sanitizer's runtime must be loaded
# before Python; leaks are the interpreter's own, and what is too large for memory is refused as without it.
SANITIZED = build/sanitize
SANITIZED_PYTHON = LD_PRELOAD="$$(g++ -print-file-name=libasan.so) $$(g++ -print-file-name=libubsan.so) $$(g++ -print-file-name=libstdc++.so)" \
  ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1 \
  TOPRANK_CORE=$(abspath $(SANITIZED)) $(abspath $(BIN))/python
sanitized-core: $(VENV)/.test
	$(BIN)/cmake -S . -B $(SANITIZED) -G Ninja -DTOPRANK_SANITIZE=ON -DCMAKE_BUILD_TYPE=Debug \
	  -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN))/ninja -DPython_EXECUTABLE=$(abspath $(BIN))/python \
	  -Dnanobind_DIR=$$($(BIN)/python -m nanobind --cmake_dir)
	$(BIN)/cmake --build $(SANITIZED)

sanitize: sanitized-core
	$(SANITIZED_PYTHON) -m pytest tests/core -q -p no:cacheprovider

# What C++ reads of files and matrices that may be anything, in that build.
SANITIZED_SECONDS ?= 900
fuzz-sanitized: sanitized-core
	cd tests && $(SANITIZED_PYTHON) -m fuzz.readers --reader svmlight --reader data --reader matrix --reader trees \
	  --seconds $(SANITIZED_SECONDS)

# Fresh seeds each time: certificates of so many problems, ten minutes on two cores; then half of the
# seconds for files, and half for every test that draws its examples, which ends at the first failure, or
# where it is when time is up (124).
FUZZ_PROBLEMS ?= 10000
FUZZ_SECONDS ?= 1800
FUZZ_JOBS ?= 2
fuzz: $(VENV)/.test
	cd tests && $(abspath $(BIN))/python -m fuzz --jobs $(FUZZ_JOBS) --problems $(FUZZ_PROBLEMS) $(FUZZ)
	cd tests && $(abspath $(BIN))/python -m fuzz.readers --seconds $$(( $(FUZZ_SECONDS) / 2 ))
	timeout --signal=INT $$(( $(FUZZ_SECONDS) / 2 )) \
	  $(BIN)/python -m pytest -x -n $(FUZZ_JOBS) -m hypothesis --hypothesis-profile=fuzz || [ $$? -eq 124 ]

# Would the tests notice a fault? Small ones are put into the library for so many seconds.
MUTANT_SECONDS ?= 900
mutants: $(VENV)/.test
	cd tests && $(abspath $(BIN))/python -m mutants --seconds $(MUTANT_SECONDS)

# What is installed for the tests, against the database of known holes: a connection is needed.
audit: $(VENV)/.test
	@$(PYTHON) -m venv build/audit && build/audit/bin/python -m pip install --quiet pip-audit
	@$(BIN)/python -m pip freeze --exclude-editable > build/audit/installed.txt
	build/audit/bin/pip-audit --strict --no-deps --disable-pip -r build/audit/installed.txt

# What a release must pass, the quick things first; FROM=docs begins there, after a failure.
RELEASE_STEPS = check test-oldest test-sklearn test-baseline sanitize docs wheel fuzz fuzz-sanitized mutants
FROM ?= check
release-check:
	@steps='$(RELEASE_STEPS)'; [[ " $$steps " == *' $(FROM) '* ]] || { echo "FROM must be one of: $$steps"; exit 1; }; \
	place=0; begun=; for step in $$steps; do \
	  place=$$((place + 1)); [ $$step != '$(FROM)' ] || begun=yes; [ "$$begun" ] || continue; \
	  printf '==> release-check, step %d of %d: make %s\n' $$place $(words $(RELEASE_STEPS)) $$step; SECONDS=0; \
	  $(MAKE) --no-print-directory $$step || { \
	    printf '==> release-check stopped at step %d, make %s, after %d s; mend it and: make release-check FROM=%s\n' \
	      $$place $$step $$SECONDS $$step; exit 1; }; \
	  printf '==> make %s passed in %d s\n' $$step $$SECONDS; \
	done; echo '==> release-check passed'

clean:
	rm -rf build dist $(VENV) .venv-oldest .venv-sklearn-*
