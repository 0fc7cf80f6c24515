# A wheel, built by pip from the source distribution, is installed into an empty virtual environment and tried there,
# with ArviZ if PyPI provides it.
. "$TESTS/cli/support.bash"
[[ -z $SANITIZE ]] || { echo "skipped: Python is not built with $SANITIZE" && exit 77; }
python=
for candidate in ${PYTHON:-} python3 /usr/bin/python3; do
    "$candidate" -c 'import ensurepip, venv, sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null && python=$candidate && break
done
[[ -n $python ]] || { echo "skipped, for it is not here: a python3 with venv" && exit 77; }
"$python" -m venv empty
pip() { empty/bin/python -m pip --disable-pip-version-check --retries 0 --timeout 10 "$@"; }
pip download -q --no-deps -d offline scikit-build-core >/dev/null 2>&1 || { echo "skipped, for it is not here: PyPI" && exit 77; }

command -v ccache >/dev/null && export CMAKE_C_COMPILER_LAUNCHER=ccache
pip install -q --no-compile scikit-build-core
here=$PWD
(cd "$TESTS/.." && "$here/empty/bin/python" -c "import sys, scikit_build_core.build as b; b.build_sdist(sys.argv[1])" "$here/sources") >/dev/null
(cd "$TESTS/.." && "$here/empty/bin/python" -c "import sys, scikit_build_core.build as b; b.build_sdist(sys.argv[1])" "$here/again") >/dev/null
cmp sources/svmp-*.tar.gz again/svmp-*.tar.gz || fail "two source distributions differ"
pip uninstall -q -y scikit-build-core packaging pathspec
pip wheel -q --no-deps -w wheels sources/svmp-*.tar.gz
[[ $(ls wheels) == svmp-*-py3-none-*.whl ]] || fail "the wheel is $(ls wheels)"
pip install -q --no-compile wheels/*.whl
[[ $(pip list 2>/dev/null | grep -cE '^(cffi|scipy|pandas|xarray) ') -eq 0 ]] || fail "the wheel needs more than numpy: $(pip list)"
empty/bin/svmp --version | grep -q "^svmp $(cat "$TESTS/../VERSION")" || fail "the command is $(empty/bin/svmp --version)"
empty/bin/python - <<'END'
import numpy, svmp
m = svmp.Model("model { for (i in 1:length(y)) { y[i] ~ dnorm(mu, 1) }  mu ~ dnorm(0, 1) }", {"y": [1.0, 2.0, 3.0]})
assert abs(m.exact(2000)["mu"].mean() - 1.5) < 5 * 0.5 / numpy.sqrt(2000)
assert m.fit(progressbar=False)["mu"].shape == (4000,)
assert "site-packages" in svmp._library.path
END
! readelf -d empty/lib/python*/site-packages/svmp/lib/libsvmp.so | grep -iE '(rpath|runpath).*(/work|/home|/tmp)' || fail "a path of this machine is in the library"

# Five lines from a table to ArviZ.
pip install -q --no-compile arviz pandas matplotlib 2>/dev/null || { echo "not tried, for it is not here: ArviZ from PyPI" && exit 0; }
MPLBACKEND=Agg empty/bin/python "$TESTS/../examples/python/five_lines.py"

# The notebook of twelve tasks.
pip install -q --no-compile pytest
empty/bin/python -m pytest -q -p no:cacheprovider "$TESTS/../bindings/python/tests/test_notebook.py"
