# The image of packaging/Dockerfile runs a model of a mounted folder.
. "$TESTS/cli/support.bash"
docker info >/dev/null 2>&1 || { echo "skipped, for it is not here: a Docker daemon" && exit 77; }
docker build -q -t svmp:test -f "$TESTS/../packaging/Dockerfile" "$TESTS/.." >built 2>&1 || fail "docker build: $(tail -5 built)"
docker run --rm -v "$MODELS:/data:ro" svmp:test run robust.bug robust.csv --quiet --require-converged
docker image rm svmp:test >/dev/null
