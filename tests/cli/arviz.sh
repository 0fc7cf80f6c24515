# R-hat, effective draws and standard errors of summary are those of ArviZ. It is looked for in $ARVIZ_PYTHON, python3.
. "$TESTS/cli/support.bash"
for python in ${ARVIZ_PYTHON:-} python3; do
    "$python" -c 'import arviz' 2>/dev/null || continue
    "$python" "$TESTS/peer/mixing.py" "$SVMP"
    exit
done
echo "skipped: no python3 here has ArviZ" && exit 77
