# If memory runs out while writing, an output file is whole or absent, and HDF5 prints nothing of its own.
. "$TESTS/cli/support.bash"
command -v cc >/dev/null || { echo "skipped: there is no compiler" && exit 77; }
[[ -z $SANITIZE ]] || { echo "skipped: $SANITIZE allocates by itself" && exit 77; }
cc -O1 -shared -fPIC -o scarce.so "$TESTS/soak/scarce.c" -ldl

# scarce NUMBER ARGUMENT...: runs svmp with the allocation of this number failing; its exit status is in `status`.
scarce() {
    local at=$1
    shift
    status=0
    LD_PRELOAD=$PWD/scarce.so SVMP_FAIL_REPORT=$PWD/count SVMP_FAIL_AT=$at "$SVMP" "$@" >said 2>errors || status=$?
}

printf 'ahead,left,turn\n1,0,0.5\n1,0.1,0.5\n1,0,0.5\n1,-0.1,0.5\n1,0,0.5\n1,0,0.5\n' >odometry.csv
printf 'pose,landmark,r\n1,1,3\n2,1,2.3\n3,1,2.1\n4,1,2.2\n5,1,2.8\n6,1,3.4\n7,1,3.9\n2,2,1.5\n5,2,2.0\n' >sights.csv
works run chain.mtx b.mtx -m graphical -n 20 -t 5 -q -o start.csv

# last_allocations OUTPUT ARGUMENT...: lets each of the last allocations fail in turn.
last_allocations() {
    local output=$1 at all
    shift
    scarce 0 "$@" -o "$output"
    [[ $status -eq 0 ]] || fail "svmp $*: $(cat errors)"
    mv "$output" whole
    all=$(cat count)
    for at in $(seq $((all > 40 ? all - 40 : 1)) "$all"); do
        scarce "$at" "$@" -o "$output"
        [[ $status -ne 0 || -e $output ]] || fail "allocation $at of svmp $*: exit 0 without '$output'"
        [[ ! -e $output ]] || cmp "$output" whole || fail "allocation $at of svmp $*: '$output' is not whole"
        [[ $status -eq 0 || -s errors ]] || fail "allocation $at of svmp $*: exit $status without a sentence"
        rm -f "$output"
    done
}
last_allocations out.json localise sights.csv --odometry odometry.csv --noise 0.1,0.1,0.05
"$SVMP" --version | grep -qx 'd3: yes' && last_allocations out.html report start.csv chain.mtx b.mtx

# HDF5 without memory from the start: svmp prints its sentence or HDF5 crashes, but HDF5 prints no report.
if "$SVMP" --version | grep -qx 'netcdf: yes'; then
    works run chain.mtx b.mtx -m graphical -n 20 -t 5 -q -o start.nc
    scarce 0 summary start.nc
    all=$(cat count)
    for k in {1..30}; do
        scarce $((all * k / 31)) summary start.nc
        ! grep -q HDF5-DIAG errors || fail "allocation $((all * k / 31)) of $all: $(cat errors)"
        scarce $((all * k / 31)) run chain.mtx b.mtx -m graphical -n 20 -t 5 -q -o out.nc
        ! grep -q HDF5-DIAG errors || fail "allocation $((all * k / 31)), writing: $(cat errors)"
        rm -f out.* .svmp-*
    done
fi
