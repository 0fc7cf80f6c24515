# The Python package, used from the source tree: bindings/python/tests with pytest, and the examples in docstrings.
. "$TESTS/cli/support.bash"
python=$(python_with_pytest) || true
[[ -n $python ]] || { echo "skipped: there is no python3 with numpy and pytest, or the build has sanitizers" && exit 77; }
export PYTHONPATH=$TESTS/../bindings/python PYTHONDONTWRITEBYTECODE=1 SVMP_LIBRARY=$BUILD/libsvmp.so SVMP_INCLUDE=$TESTS/../include SVMP_COMMAND=$SVMP
session=("$TESTS"/../docs/{python,from-pymc}.md --doctest-glob=*.md)
"$python" -c 'import pandas' 2>/dev/null || { echo "not run, for it is not here: the sessions of docs/python.md and docs/from-pymc.md, with pandas" && session=(); }
"$python" -m pytest -q -rs -p no:cacheprovider --rootdir="$TESTS/../bindings/python" "$TESTS/../bindings/python/tests" \
    --doctest-modules "$TESTS/../bindings/python/svmp" ${session[@]+"${session[@]}"}

# Type hints, if mypy is installed.
if "$python" -c 'import mypy' 2>/dev/null; then
    (cd "$TESTS/../bindings/python" && "$python" -m mypy --config-file ../pyproject.toml --cache-dir=/dev/null svmp)
else
    echo "not checked, for it is not here: type hints, with mypy"
fi
