# Ten thousand fits from Python at constant memory.
. "$TESTS/cli/support.bash"
python=$(python_with_pytest) || true
[[ -n $python ]] || { echo "skipped: there is no python3 with numpy and pytest, or the build has sanitizers" && exit 77; }
export PYTHONPATH=$TESTS/../bindings/python PYTHONDONTWRITEBYTECODE=1 SVMP_LIBRARY=$BUILD/libsvmp.so SVMP_INCLUDE=$TESTS/../include
SVMP_LEAK_FITS=10000 "$python" -m pytest -q -p no:cacheprovider --rootdir="$TESTS/../bindings/python" "$TESTS/../bindings/python/tests/test_threads.py"
