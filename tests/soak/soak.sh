#!/bin/bash
# soak.sh SVMP MINUTES [SEED]: kills runs at random moments, fills disks, fails allocations, damages files, and checks that
# nothing is lost. Prints one line for every finding and keeps its folder; exit 1 if there is one. `make soak` runs it.
#
# Requirements:
#   - a program ends by itself with exit 0, 1, 2 or 130, never by a signal of its own making, and with a sentence
#   - an output file is whole or not there, and an existing one is unchanged if the run fails
#   - a checkpoint is whole, and a run that is resumed from it ends with the bits of an uninterrupted run
#   - no files are left behind except the outputs
set -u
svmp=$(realpath "$1")
minutes=$2
RANDOM=${3:-1}
here=$(cd "$(dirname "$0")" && pwd)
models=$here/../../models
work=$(mktemp -d)
cd "$work" || exit 1
export OMP_NUM_THREADS=2
ulimit -c 0
findings=0
declare -A count

finding() {
    findings=$((findings + 1))
    echo "FINDING $findings: $*"
    [[ ! -s errors ]] || sed 's/^/    /' errors | head -5
    mkdir -p "$work/kept/$findings" && find . -maxdepth 1 -type f -size -10M -exec cp {} "$work/kept/$findings/" \;
}

cat >chain.mtx <<'END_OF_FILE'
%%MatrixMarket matrix coordinate real symmetric
3 3 5
1 1 2
2 1 -1
2 2 2
3 2 -1
3 3 2
END_OF_FILE
printf 'from,to,range\n1,2,1.0\n2,3,1.1\n1,3,1.9\n3,4,1.0\n2,4,1.7\n1,4,2.5\n' >ranges.csv
printf 'point,x,y\n1,0,0\n2,1,0\n3,1.9,0.5\n' >anchors.csv
printf 'model { mu ~ dnorm(0, 0.1)\n tau ~ dgamma(2, 2)\n for (i in 1:N) { x[i] ~ dnorm(mu, tau)\n y[i] ~ dnorm(x[i], 4) } }\n' >m.bug
printf 'N <- 5\ny <- c(0.1, 1.2, -0.3, 0.8, 2.0)\n' >m.R
printf 'ahead,left,turn\n1,0,0.5\n1,0.1,0.5\n1,0,0.5\n1,-0.1,0.5\n1,0,0.5\n1,0,0.5\n' >odometry.csv
printf 'pose,landmark,r\n1,1,3\n2,1,2.3\n3,1,2.1\n4,1,2.2\n5,1,2.8\n6,1,3.4\n7,1,3.9\n2,2,1.5\n5,2,2.0\n' >sights.csv
netcdf=$("$svmp" --version | grep -cx 'netcdf: yes')
cc -O1 -shared -fPIC -o scarce.so "$here/scarce.c" -ldl 2>/dev/null || rm -f scarce.so

# The file without the lines that differ from run to run.
timeless() { grep -avE '^# (seconds|resumed|last_step|threads|Elapsed|  .* seconds)' "$1"; }

# ended STATUS WHAT: checks that the program ended by itself, with a sentence if it failed.
ended() {
    case $1 in
    0) ;;
    1 | 2 | 130) [[ -s errors ]] || finding "$2: exit $1 without a sentence" ;;
    *) finding "$2: exit $1" ;;
    esac
}

# Checks that the folder contains nothing new since `before` except these names.
clean() {
    local name what=$1
    shift
    for name in $(ls -A); do
        grep -qxF "$name" before || [[ " $* " == *" $name "* ]] || finding "$what leaves $name"
    done
}

references() { # the reference for killed runs
    "$svmp" run m.bug m.R -m graphical -n 60 -t 1500 -q -o whole_graphical.csv >/dev/null 2>&1
    "$svmp" run m.bug m.R -m nuts --chains 2 --warmup 600 --draws 600 -q -o whole_nuts.csv >/dev/null 2>&1
    "$svmp" run m.bug m.R -m local -n 8 -t 1500 -q -o whole_local.csv >/dev/null 2>&1
    "$svmp" run chain.mtx -m dpmp -n 20 -t 300 -q -o whole_dpmp.csv >/dev/null 2>&1
    "$svmp" run m.bug m.R -m transport -n 40 -t 300 -q --verify no -o whole_transport.csv >/dev/null 2>&1
    "$svmp" run m.bug m.R -m graphical -n 20 -t 5 -q -o start.csv >/dev/null 2>&1
    [[ $netcdf -eq 0 ]] || "$svmp" run m.bug m.R -m graphical -n 20 -t 5 -q -o start.nc >/dev/null 2>&1
    "$svmp" run m.bug m.R -m graphical -n 20 -t 50 -q --checkpoint there.svmp >/dev/null 2>&1
}

arguments_of() {
    case $1 in
    graphical) echo "m.bug m.R -m graphical -n 60 -t 1500" ;;
    nuts) echo "m.bug m.R -m nuts --chains 2 --warmup 600 --draws 600" ;;
    local) echo "m.bug m.R -m local -n 8 -t 1500" ;;
    dpmp) echo "chain.mtx -m dpmp -n 20 -t 300" ;;
    transport) echo "m.bug m.R -m transport -n 40 -t 300 --verify no" ;;
    esac
}

# A run is killed at random moments, resumed each time, and finally left to complete. Sometimes a second run tries to
# use the same checkpoint.
kills() {
    local methods=(graphical nuts local dpmp transport) method resume= k status pid other
    method=${methods[RANDOM % 5]}
    rm -f k.svmp* k.csv
    for k in 1 2 3; do
        [[ -s k.svmp ]] && resume="--resume k.svmp" || resume=
        "$svmp" run $(arguments_of $method) -q -f -o k.csv --checkpoint k.svmp --checkpoint-every 0.01 $resume >said 2>errors &
        pid=$!
        sleep 0.$(printf %03d $((RANDOM % 300)))
        if [[ $((RANDOM % 3)) -eq 0 && -s k.svmp ]] && kill -0 $pid 2>/dev/null; then
            "$svmp" run $(arguments_of $method) -q -f -o other.csv --resume k.svmp >/dev/null 2>second
            other=$?
            [[ $other -eq 2 || $other -eq 0 ]] || finding "a second run on the checkpoint of $method: exit $other: $(cat second)"
            rm -f other.csv
        fi
        kill -KILL $pid 2>/dev/null
        wait $pid 2>/dev/null
        status=$?
        [[ $status -eq 137 ]] || ended $status "$method, killed"
        rm -f .svmp-* # the run was killed while writing
    done
    [[ -s k.svmp ]] && resume="--resume k.svmp" || resume=
    "$svmp" run $(arguments_of $method) -q -f -o k.csv --checkpoint k.svmp $resume >said 2>errors
    status=$?
    [[ $status -eq 0 ]] || finding "$method, resumed after kills: exit $status"
    [[ $status -ne 0 ]] || diff <(timeless k.csv) <(timeless whole_$method.csv) >/dev/null || finding "$method: the resumed run differs"
    [[ $(echo k.svmp*) == k.svmp ]] || finding "left: $(echo k.svmp*)"
    rm -f k.svmp* k.csv
}

# Chooses a command: its words in `command`, its outputs in `outputs`.
choose_command() {
    local ending=csv
    [[ $netcdf -eq 1 && $((RANDOM % 2)) -eq 0 ]] && ending=nc
    outputs=(out.$ending)
    case $((RANDOM % 11)) in
    0) command=(run m.bug m.R -m graphical -n 20 -t 20 -q -o out.$ending) ;;
    1) command=(run m.bug m.R -m graphical -t 20 -q --init start.$ending -o out.$ending) ;;
    2) command=(run m.bug m.R -m graphical -n 20 -t 60 -q --resume there.svmp --checkpoint out.svmp -o out.$ending) && outputs+=(out.svmp) ;;
    3) command=(run chain.mtx -m dpmp -n 10 -t 10 -q -o out.$ending) ;;
    4) command=(localise ranges.csv anchors.csv -n 20 -o out.$ending) ;;
    5) command=(run m.bug m.R -m nuts --chains 2 --warmup 30 --draws 30 -q --split -o out.csv) && outputs=(out_1.csv out_2.csv) ;;
    6) command=(run m.bug m.R -m local -n 4 -t 60 -q --monitor mu -o out.$ending) ;;
    7) command=(summary start.$ending) && outputs=() ;;
    8) command=(run m.bug m.R -m transport -n 20 -t 40 -q -o out.$ending) ;;
    9) command=(run m.bug m.R -m graphical -n 20 -t 20 -q --init gaussian:start.$ending -o out.$ending) ;;
    10) command=(localise sights.csv --odometry odometry.csv --noise 0.1,0.1,0.05 -o out.json) && outputs=(out.json) ;;
    esac
}

# Every output is whole or absent; a file of --split may exist without the others.
check_outputs() {
    local name
    for name in "${outputs[@]}"; do
        [[ -e $name ]] || continue
        if [[ $name == *.svmp ]]; then
            cp there.svmp spare.svmp
            "$svmp" run m.bug m.R -m graphical -n 20 -t 60 -q --resume $name --checkpoint other.svmp >/dev/null 2>second || finding "$1: $name: $(cat second)"
            rm -f other.svmp spare.svmp
        elif [[ $name == *.json ]]; then
            python3 -c 'import json, sys; json.load(open(sys.argv[1]))' $name 2>second || finding "$1: $name: $(cat second)"
        else
            "$svmp" summary $name >/dev/null 2>second || finding "$1: $name: $(cat second)"
        fi
    done
}

allocations() {
    [[ -e scarce.so ]] || return
    choose_command
    local least=$((RANDOM % 3 == 0 ? 4096 : 0)) at status what
    at=$((1 + RANDOM % (least ? 60 : 3000)))
    [[ $((RANDOM % 4)) -ne 0 ]] && at=$((1 + at * at / 3000))
    LD_PRELOAD=$work/scarce.so SVMP_FAIL_AT=$at SVMP_FAIL_COUNT=$((RANDOM % 2 ? 1 : 1000000)) SVMP_FAIL_LEAST=$least \
        "$svmp" "${command[@]}" >said 2>errors
    status=$?
    what="allocation $at (of at least $least bytes) of ${command[*]}"
    # the loader ends a process without memory before svmp writes anything
    if [[ $status -ge 126 ]] && grep -qE 'error while loading|cannot allocate memory|terminate called' errors; then
        count[runtime]=$((${count[runtime]:-0} + 1))
    elif [[ $status -ge 126 && ${command[*]} == *start.nc* ]]; then # HDF5 has no memory to read with: nothing was written
        count[hdf5]=$((${count[hdf5]:-0} + 1))
    else
        ended $status "$what"
    fi
    grep -q 'HDF5-DIAG' errors && finding "$what: HDF5 prints a report"
    check_outputs "$what"
    [[ $status -ge 126 ]] || clean "$what" "${outputs[@]}" out.csv # of a .nc file whose library crashed
    rm -f out* .svmp-* ./*.lock
}

disks() {
    local size status what name
    mkdir -p disk
    size=$((4 * (1 + RANDOM % 12)))k
    mount -t tmpfs -o size=$size none disk 2>/dev/null || { disks_are_missing=1 && return; }
    choose_command
    echo precious >disk/precious
    command=("${command[@]/#out/disk/out}")
    outputs=("${outputs[@]/#/disk/}")
    if [[ $((RANDOM % 2)) -eq 0 && ${#outputs[@]} -gt 0 ]]; then
        for name in "${outputs[@]}"; do echo old >$name || rm -f $name; done 2>/dev/null
        command+=(-f)
    fi
    "$svmp" "${command[@]}" >said 2>errors
    status=$?
    what="a disk of $size, ${command[*]}"
    ended $status "$what"
    for name in "${outputs[@]}"; do
        [[ ! -e $name || $(head -c 4 $name) == old ]] || outputs_whole+=($name)
    done
    outputs=("${outputs_whole[@]}")
    outputs_whole=()
    check_outputs "$what"
    [[ $(cat disk/precious) == precious ]] || finding "$what: another file is changed"
    [[ -z $(find disk -name '.svmp-*' -o -name '*.new' -o -name '*.lock') ]] || finding "$what leaves $(ls -A disk)"
    umount disk
}

# Signals that request an end: the run stops, writes its particles, and says so.
signals() {
    local pid status name=INT
    [[ $((RANDOM % 2)) -eq 0 ]] && name=TERM
    rm -f sig.csv
    (exec env --default-signal=INT "$svmp" run m.bug m.R -m graphical -n 40 -t 100000000 -q -o sig.csv --threads 1 >said 2>errors) &
    pid=$!
    sleep 0.$(printf %03d $((100 + RANDOM % 400)))
    kill -$name $pid 2>/dev/null
    wait $pid 2>/dev/null
    status=$?
    rm -f .svmp-*
    [[ $status -eq $((128 + $(kill -l $name))) && ! -e sig.csv ]] && return # before it handled signals: nothing was done yet
    [[ $status -eq 130 ]] || finding "SIG$name: exit $status"
    "$svmp" summary sig.csv >/dev/null 2>errors || finding "SIG$name: sig.csv cannot be read"
    rm -f sig.csv .svmp-*
}

# Damaged files are refused or read, without a crash.
damage() {
    local files=(start.csv there.svmp m.bug m.R ranges.csv odometry.csv sights.csv) file size status
    [[ $netcdf -eq 0 ]] || files+=(start.nc start.nc)
    file=${files[RANDOM % ${#files[@]}]}
    cp $file bad_$file
    size=$(stat -c %s $file)
    if [[ $((RANDOM % 3)) -eq 0 ]]; then
        head -c $((RANDOM * 32768 % size)) $file >bad_$file
    else
        [[ $file != *.nc || $((RANDOM % 2)) -eq 0 ]] || head -c -40 $file >bad_$file # as if another program had written it
        for _ in 1 2 3; do
            printf "\\x$(printf %02x $((RANDOM % 256)))" | dd of=bad_$file bs=1 seek=$(((RANDOM * 32768 + RANDOM) % size)) conv=notrunc 2>/dev/null
        done
    fi
    case $file in
    start.*) command=(run m.bug m.R -m graphical -t 3 -q --init bad_$file) ;;
    there.svmp) command=(run m.bug m.R -m graphical -n 20 -t 60 -q --resume bad_$file --checkpoint other.svmp) ;;
    m.bug) command=(run bad_m.bug m.R -m graphical -n 5 -t 3 -q) ;;
    m.R) command=(run m.bug bad_m.R -m graphical -n 5 -t 3 -q) ;;
    ranges.csv) command=(localise bad_ranges.csv anchors.csv -n 3 -o other.csv) ;;
    odometry.csv) command=(localise sights.csv --odometry bad_odometry.csv --noise 0.1,0.1,0.05 -o other.json) ;;
    sights.csv) command=(localise bad_sights.csv --odometry odometry.csv --noise 0.1,0.1,0.05 -o other.json) ;;
    esac
    timeout -s KILL 120 "$svmp" "${command[@]}" >said 2>errors
    ended $? "damaged $file: ${command[*]}"
    grep -q 'HDF5-DIAG' errors && finding "damaged $file: HDF5 prints a report"
    rm -f bad_* other.*
}

references
: >said && : >errors && : >second && mkdir -p disk kept
ls -A >before && echo before >>before
end=$((SECONDS + minutes * 60))
parts=(kills allocations allocations allocations allocations disks disks signals damage damage damage)
while [[ $SECONDS -lt $end ]]; do
    part=${parts[RANDOM % ${#parts[@]}]}
    $part
    count[$part]=$((${count[$part]:-0} + 1))
done
for part in "${!count[@]}"; do printf '%6d %s\n' "${count[$part]}" "$part"; done | sort -rn
[[ -z ${disks_are_missing:-} ]] || echo "       disks were left out: mounting is not allowed here"
if [[ $findings -gt 0 ]]; then
    echo "$findings findings in $minutes min; the files of each are in $work/kept"
    exit 1
fi
echo "no findings in $minutes min"
cd / && rm -rf "$work"
