# The summary's R-hat, effective sample sizes and standard errors agree with ArviZ.
. "$TESTS/cli/support.bash"
python=$(arviz_python) || { echo "skipped, for it is not here: ArviZ and h5netcdf, in python3 or build/arviz" && exit 77; }
"$python" "$TESTS/peer/mixing.py" "$SVMP"
