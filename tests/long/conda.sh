# The recipe in packaging/conda builds, and its own tests pass.
. "$TESTS/cli/support.bash"
command -v conda-build >/dev/null || { echo "skipped, for it is not here: conda-build" && exit 77; }
conda-build -c conda-forge --output-folder out "$TESTS/../packaging/conda" >built 2>&1 || fail "conda-build: $(tail -20 built)"
