# What nodes of location-scale families move in: centred, not centred, or chosen. What is reported is the same.
. "$TESTS/cli/support.bash"

schools="$MODELS/schools_centred.bug $MODELS/schools.R"

# svmp check says which; centred is the default.
works check $schools
shows '^coordinates +theta centred$'
works check $schools --coordinates centred
shows '^coordinates +theta centred$'
works check $schools --coordinates noncentred
shows '^coordinates +theta not centred$'
shows '^factors +18$'
works check $schools --coordinates auto
shows '^coordinates +theta 0\.0?[0-9]+ to 0\.[0-9]+ centred$'
works check "$MODELS/schools.bug" "$MODELS/schools.R" --coordinates auto
! grep -q '^coordinates' said || fail "nothing is to be chosen in schools.bug"
works check "$MODELS/grid.mtx" --coordinates auto
works graph $schools --coordinates noncentred
works plan $schools --coordinates noncentred
refuses 2 "Unknown coordinates 'sideways': expected auto, centred or noncentred." run $schools --coordinates sideways

# Centred is what a run does without the option, to the bit; the file says what was asked for.
works run $schools -n 20 -t 10 -q -o plain.csv
works run $schools -n 20 -t 10 -q --coordinates centred -o centred.csv
diff <(rows plain.csv) <(rows centred.csv) || fail "centred is not the default"
grep -qx '# coordinates = centred' centred.csv || fail "the coordinates are not recorded"

# Natural values go out and in: a run in one kind starts from the particles of another.
for kind in noncentred auto; do
    works run $schools -n 20 -t 10 -q --coordinates $kind -o $kind.csv
    [[ $(rows $kind.csv | head -1) == $(rows plain.csv | head -1) ]] || fail "$kind: the header is $(rows $kind.csv | head -1)"
    works run $schools -n 20 -t 0 -q --coordinates $kind --init plain.csv -o again.csv --force
    paste -d, <(rows plain.csv | tail -n +2) <(rows again.csv | tail -n +2) |
        awk -F, '{ for (k = 2; k <= 11; k++) { d = $k - $(k + 11); if (d * d > 1e-16 * (1 + $k * $k)) exit 1 } }' ||
        fail "$kind: the start does not come back"
    works run $schools -n 20 -t 10 -q --threads 1 --coordinates $kind -o one.csv --force
    diff <(rows $kind.csv) <(rows one.csv) || fail "$kind: threads differ"
done

# The samplers gain: hardly a trajectory diverges where many do.
works run $schools -m nuts --warmup 300 --draws 300 -q --coordinates auto -o draws.csv
rows draws.csv | awk -F, 'NR == 1 { for (k = 1; k <= NF; k++) if ($k == "divergent__") at = k } NR > 1 { d += $at } END { exit d > 10 }' ||
    fail "the trajectories diverge"

# Other methods.
for method in langevin mala vanilla; do
    works run $schools -m $method -n 10 -t 10 -q --coordinates auto --init gaussian
done

# A checkpoint is of the coordinates that it was made in.
works run $schools -n 20 -t 10 -q --coordinates noncentred --checkpoint run.ckpt -o before.csv
works run $schools -n 20 -t 20 -q --coordinates noncentred --resume run.ckpt -o after.csv
refuses 2 "model" run $schools -n 20 -t 20 -q --resume run.ckpt -o other.csv

if several_processes; then
    for kind in noncentred auto; do
        mpirun -n 2 "$SVMP" run $schools -n 20 -t 10 -q --threads 1 --coordinates $kind -o two.csv --force >said 2>errors || fail "$(cat errors)"
        diff <(rows $kind.csv) <(rows two.csv) || fail "$kind: processes differ"
    done
fi
