# Shared by the tests of the command: source "$TESTS/cli/support.bash".

fail() { echo "FAILED: $*" && exit 1; }

# A Gaussian chain of three variables, and its vector b: mean (1.25, 1, 0.75), every factor known by hand.
cat >chain.mtx <<'END'
%%MatrixMarket matrix coordinate real symmetric
3 3 5
1 1 2
2 1 -1
2 2 2
3 2 -1
3 3 2
END
cat >b.mtx <<'END'
%%MatrixMarket matrix array real general
3 1
1.5
0
0.5
END

# The program under test is $SVMP: svmp, unless the test sets SVMP=$SVMP_PAPER.

# works ARGUMENT...: exit 0 and nothing on standard error; the output is in `said`.
works() {
    "$SVMP" "$@" >said 2>errors || fail "svmp $*: exit $?: $(cat errors)"
    [[ ! -s errors ]] || fail "svmp $*: $(cat errors)"
}

# refuses STATUS SENTENCE ARGUMENT...: that exit status, "PROGRAM: ...SENTENCE..." on the standard error, and no new file.
refuses() {
    local status=0 expected=$1 sentence=$2
    shift 2
    ls -A >before
    "$SVMP" "$@" >said 2>errors || status=$?
    local left
    left=$(ls -A | { diff before - || true; } | sed -nE '/^> (said|errors)$/d; s/^> //p')
    [[ -z $left ]] || fail "svmp $*: files were left: $left"
    [[ $status -eq $expected ]] || fail "svmp $*: exit $status, not $expected: $(cat errors)"
    [[ $(head -1 errors) == "$(basename "$SVMP"): "* ]] || fail "svmp $*: the standard error is $(cat errors)"
    grep -qF -- "$sentence" errors || fail "svmp $*: '$(cat errors)' instead of '$sentence'"
}
touch said errors before

shows() { grep -qE -- "$1" said || fail "no line like '$1' in: $(cat said)"; }

# The rows of a particle file without its comments.
rows() { grep -v '^#' "$1"; }

# A Python with ArviZ: $ARVIZ_PYTHON, python3, or build/arviz, which can be made by
#     python3 -m venv build/arviz && build/arviz/bin/pip install 'arviz<1' 'matplotlib<3.9' h5netcdf h5py
arviz_python() {
    local candidate
    for candidate in ${ARVIZ_PYTHON:-} python3 "$BUILD/../arviz/bin/python"; do
        "$candidate" -c 'import arviz, h5netcdf' 2>/dev/null && echo "$candidate" && return
    done
    false
}

# A Python with numpy and pytest; none if the library has sanitizers, which Python lacks.
python_with_pytest() {
    local candidate
    [[ -z $SANITIZE ]] || return 1
    for candidate in ${PYTHON:-} python3 /usr/bin/python3; do
        "$candidate" -c 'import numpy, pytest, sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null && echo "$candidate" && return
    done
    false
}

# Succeeds if R has the package.
has_r() { command -v Rscript >/dev/null && Rscript -e "quit(status = !requireNamespace('$1', quietly = TRUE))" >/dev/null 2>&1; }

# Waits until the process handles SIGTERM: from then on a signal stops the run, not the program.
listening() {
    until ((0x$(awk '/^SigCgt/ { print $2 }' "/proc/$1/status" || echo 0) & 0x4000)); do
        kill -0 "$1" || fail "the process ended before it listened"
        sleep 0.02
    done
}

# Succeeds if several processes can be started; otherwise says why not. Lets Open MPI start more processes than cores,
# also as root.
several_processes() {
    "$SVMP" --version | grep -q '^mpi: yes' || { echo "MPI is not in this build" && return 1; }
    command -v mpirun >/dev/null || { echo "there is no mpirun" && return 1; }
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
    export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_btl_vader_single_copy_mechanism=none
    export OMPI_MCA_odls_base_sigkill_timeout=2 # seconds between SIGTERM and SIGKILL, for a machine that others use too
    export LSAN_OPTIONS=detect_leaks=0 # MPI's own messages
}
