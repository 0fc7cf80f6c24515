# Ten thousand fits from Python at constant memory.
. "$TESTS/cli/support.bash"
[[ -z $SANITIZE ]] || { echo "skipped: Python is not built with $SANITIZE" && exit 77; }
python=
for candidate in ${PYTHON:-} python3 /usr/bin/python3; do
    "$candidate" -c 'import numpy, pytest, sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null && python=$candidate && break
done
[[ -n $python ]] || { echo "skipped, for it is not here: a python3 with numpy and pytest" && exit 77; }
export PYTHONPATH=$TESTS/../python PYTHONDONTWRITEBYTECODE=1 SVMP_LIBRARY=$BUILD/libsvmp.so SVMP_INCLUDE=$TESTS/../include
SVMP_LEAK_FITS=10000 "$python" -m pytest -q -p no:cacheprovider --rootdir="$TESTS/../python" "$TESTS/../python/tests/test_threads.py"
