# A thin wrapper around the CMake presets (CMakePresets.json): everything here can also be done with cmake and ctest.
#
#   make            build the library, the command and the examples in build/release; where nvcc is found, also the
#                   backend for NVIDIA GPUs, which takes some minutes (FLAGS=-DSVMP_CUDA=OFF leaves it out)
#   make run        install missing packages, build, and show an inference next to its exact answer
#   make agents     25 sensors find their positions over a bad network, and three of them are killed (docs/agents.md)
#   make test       install missing packages, build, and run the tests
#   make test-long  the tests that take minutes: calibration of the sampler, false alarms of the diagnostics, the paper's claims
#   make test-wheel the Python wheel, built and tried in an empty virtual environment
#   make test-bench every benchmark, script and peer at sizes that take seconds, so that none of them rots
#   make asan       the tests under AddressSanitizer and UndefinedBehaviorSanitizer
#   make fuzz       libFuzzer on the readers for FUZZ_SECONDS=30 each, from the kept corpus; needs clang
#   make soak       kill runs, fill disks, fail allocations and damage files for MINUTES=5: nothing may be lost
#   make soak-agents   kill agents and lose their folders on bad networks for MINUTES=5: not one bit may differ
#   make coverage   which lines of the library the tests run: a table, and pages in build/coverage/html; needs lcov
#   make mutate     change ROOMS="src/stein src/maths" in COUNT=20 places, and report changes that no unit test notices
#   make test-arm64 the unit tests on 64-bit Arm, cross-compiled, under qemu
#   make lint       check layout and static analysis;   make format   format the code
#   make bench      build and run the benchmarks
#   make bench-gpu  the same for the backend on NVIDIA GPUs, beside JAX;   make test-gpu   its tests: both need a GPU
#   make docs       API pages in build/docs/html (Doxygen) and the picture of the rooms (Graphviz)
#   make site       the documentation as a site with search in build/site/html (MkDocs, from PyPI if it is not here)
#   make dist       build/svmp-VERSION.tar.gz, the sources of the last commit, and its SHA-256 sum
#   make install    PREFIX=/usr/local DESTDIR=
#   make clean      remove build/
#
# SETUP=:       do not run scripts/setup, which installs packages.
# FLAGS=-D...   options for cmake. JOBS=N: run N compilers or tests at a time.

PREFIX  ?= /usr/local
DESTDIR ?=
SETUP   ?= scripts/setup
JOBS    ?= $(shell nproc 2>/dev/null || echo 2)
FLAGS   ?=
TESTERS := $(shell echo $$(($(JOBS) + 2))) # some tests wait, for processes or a browser
MINUTES ?= 5
FUZZ_SECONDS ?= 30
ROOMS   ?= src/stein src/maths src/sample src/graph src/dist
COUNT   ?= 20
SEED    ?= 1
RELEASE := build/release

# In CI, warnings are errors.
ifeq ($(CI),true)
override FLAGS += -DSVMP_WERROR=ON
endif

.DEFAULT_GOAL := build
.PHONY: build run agents test test-long test-wheel test-bench test-gpu asan fuzz soak soak-agents coverage mutate test-arm64 lint format bench bench-gpu docs site dist install clean help

help:
	@sed -n '3,/^$$/s/^# \{0,3\}//p' Makefile

build:
	@cmake --preset release $(FLAGS)
	@cmake --build --preset release -j $(JOBS)

# Where there is no GPU, this does not wait for nvcc, which takes minutes.
DRIVER := $(wildcard /proc/driver/nvidia/version /dev/dxg)
agents:
	@$(SETUP) build
	@cmake --preset release $(FLAGS)
	@cmake --build --preset release -j $(JOBS) --target svmp_command
	@examples/agents/run $(RELEASE)/svmp

run:
	@$(SETUP) build
	@cmake --preset release $(FLAGS)
	@cmake --build --preset release -j $(JOBS) --target $(if $(DRIVER),all,host)
	@echo
	@$(RELEASE)/examples/grid models/grid.mtx models/grid_b.mtx
	@echo "A model of your own: $(RELEASE)/svmp run models/robust.bug models/robust.csv shows how (README.md)."
	@[ -n "$(DRIVER)" ] || [ -e $(RELEASE)/svmp_cuda.so ] || ! $(RELEASE)/svmp --version | grep -q '^cuda: yes' || \
	    echo "Not built: the backend for NVIDIA GPUs, because this machine has no NVIDIA driver; 'make' builds it (some minutes)."

test:
	@$(SETUP) build test
	@$(MAKE) --no-print-directory build FLAGS="$(FLAGS) -DSVMP_TESTS=ON"
	@ctest --preset release -j $(TESTERS)

test-long:
	@$(SETUP) build test long
	@$(MAKE) --no-print-directory build FLAGS="$(FLAGS) -DSVMP_TESTS=ON"
	@ctest --preset long -j $(JOBS)

test-wheel:
	@$(SETUP) build test
	@$(MAKE) --no-print-directory build FLAGS="$(FLAGS) -DSVMP_TESTS=ON"
	@ctest --preset long -R '^long/python_wheel$$'

test-bench:
	@$(SETUP) build test
	@$(MAKE) --no-print-directory build FLAGS="$(FLAGS) -DSVMP_TESTS=ON"
	@ctest --preset long -R '^long/bench$$'

asan:
	@$(SETUP) build test
	@cmake --preset asan $(FLAGS) -DSVMP_TESTS=ON
	@cmake --build --preset asan -j $(JOBS)
	@ctest --preset asan -j $(TESTERS)

fuzz:
	@$(SETUP) build
	@tests/fuzz/run $(FUZZ_SECONDS) $(JOBS)

soak: build
	@tests/soak/soak.sh $(RELEASE)/svmp $(MINUTES)

soak-agents: build
	@tests/soak/soak_agents.sh $(RELEASE)/svmp $(MINUTES)

coverage:
	@$(SETUP) build test long
	@scripts/coverage $(JOBS)

mutate:
	@$(SETUP) build test
	@scripts/mutate --count $(COUNT) --seed $(SEED) $(ROOMS)

test-arm64:
	@$(SETUP) build arm64
	@scripts/test_arm64 $(JOBS)

lint:
	@$(SETUP) build lint
	@cmake --preset release $(FLAGS) >/dev/null
	@scripts/lint $(RELEASE) $(JOBS)

format:
	@scripts/sources | xargs clang-format -i

bench: build
	@cmake --build --preset release --target bench
	@bench/run

bench-gpu: build
	@cmake --build --preset release --target bench_gpu
	@bench/gpu

test-gpu:
	@$(MAKE) --no-print-directory build FLAGS="$(FLAGS) -DSVMP_TESTS=ON"
	@tests/gpu/run

docs:
	@$(SETUP) docs
	@mkdir -p build
	@SVMP_VERSION=$$(cat VERSION) doxygen docs/Doxyfile && echo "written to build/docs/html/index.html"
	@scripts/rooms --dot >docs/developers/rooms.dot && dot -Tsvg docs/developers/rooms.dot -o docs/developers/rooms.svg

site:
	@$(SETUP) build
	@$(MAKE) --no-print-directory build FLAGS="$(FLAGS)"
	@scripts/site

dist:
	@scripts/dist

install: build
	@DESTDIR="$(DESTDIR)" cmake --install $(RELEASE) --prefix "$(PREFIX)"

clean:
	rm -rf build
