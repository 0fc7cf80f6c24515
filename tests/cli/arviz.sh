# R-hat, effective draws and standard errors of summary are those of ArviZ.
. "$TESTS/cli/support.bash"
python=$(arviz_python) || { echo "skipped, for it is not here: ArviZ and h5netcdf, in python3 or build/arviz" && exit 77; }
"$python" "$TESTS/peer/mixing.py" "$SVMP"
