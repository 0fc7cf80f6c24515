# Coordinates of location-scale nodes: centred, not centred, or chosen. Reported values do not depend on them.
. "$TESTS/cli/support.bash"

schools="$MODELS/schools_centred.bug $MODELS/schools.R"

# svmp check reports the coordinates that svmp run would use.
works check $schools -m graphical
shows '^coordinates +theta centred$'
works check $schools
shows '^coordinates +theta 0\.0?[0-9]+ to 0\.[0-9]+ centred$'
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

# Without the option the paper's methods use centred coordinates, with the same bits; the file records the option.
works run $schools -m graphical -n 20 -t 10 -q -o plain.csv
works run $schools -m graphical -n 20 -t 10 -q --coordinates centred -o centred.csv
diff <(rows plain.csv) <(rows centred.csv) || fail "centred is not the default"
grep -qx '# coordinates = centred' centred.csv || fail "the coordinates are not recorded"

# Natural values are written and read: a run in one kind of coordinates starts from particles of another.
for kind in noncentred auto; do
    works run $schools -m graphical -n 20 -t 10 -q --coordinates $kind -o $kind.csv
    [[ $(rows $kind.csv | head -1) == $(rows plain.csv | head -1) ]] || fail "$kind: the header is $(rows $kind.csv | head -1)"
    works run $schools -m graphical -n 20 -t 0 -q --coordinates $kind --init plain.csv -o again.csv --force
    paste -d, <(rows plain.csv | tail -n +2) <(rows again.csv | tail -n +2) |
        awk -F, '{ for (k = 2; k <= 11; k++) { d = $k - $(k + 11); if (d * d > 1e-16 * (1 + $k * $k)) exit 1 } }' ||
        fail "$kind: the start does not come back"
    works run $schools -m graphical -n 20 -t 10 -q --threads 1 --coordinates $kind -o one.csv --force
    diff <(rows $kind.csv) <(rows one.csv) || fail "$kind: threads differ"
done

# Better coordinates help NUTS: few trajectories diverge where many do in centred coordinates.
works run $schools -m nuts --warmup 300 --draws 300 -q --coordinates auto -o draws.csv
rows draws.csv | awk -F, 'NR == 1 { for (k = 1; k <= NF; k++) if ($k == "divergent__") at = k } NR > 1 { d += $at } END { exit d > 10 }' ||
    fail "the trajectories diverge"

# Other methods.
for method in langevin mala vanilla; do
    works run $schools -m $method -n 10 -t 10 -q --coordinates auto --init gaussian
done

# A checkpoint belongs to its coordinates; a resumed run has the bits of an uninterrupted one.
for kind in noncentred auto; do
    works run $schools -m graphical -n 20 -t 10 -q --coordinates $kind --checkpoint run.ckpt -o before.csv --force
    works run $schools -m graphical -n 20 -t 20 -q --coordinates $kind --resume run.ckpt -o after.csv --force
    works run $schools -m graphical -n 20 -t 20 -q --coordinates $kind -o whole.csv --force
    diff <(rows after.csv) <(rows whole.csv) || fail "$kind: the resumed run differs"
done
refuses 2 "model" run $schools -m graphical -n 20 -t 20 -q --resume run.ckpt -o other.csv

# transport, local and nuts use auto by default, with the same bits for any number of threads.
for method in "transport -n 20 -t 200" "local -n 20 -t 60" "nuts --chains 2 --warmup 30 --draws 20"; do
    works run $schools -m $method -q --threads 1 -o default.csv --force
    works run $schools -m $method -q --threads 3 --coordinates auto -o chosen.csv --force
    diff <(rows default.csv) <(rows chosen.csv) || fail "$method: auto is not the default, or threads differ"
    grep -qx '# coordinates = auto' default.csv || fail "$method: the coordinates are not recorded"
done

# Monitored quantities are computed from natural values; both file formats hold the same particles.
sed 's/^model {/model {\n  both <- theta[1] + mu/' "$MODELS/schools_centred.bug" >both.bug
works run both.bug "$MODELS/schools.R" -m graphical -n 20 -t 10 -q --coordinates noncentred --monitor both -o both.csv
rows both.csv | awk -F, 'NR == 1 { for (k = 1; k <= NF; k++) at[$k] = k }
    NR > 1 { d = $at["both"] - $at["theta.1"] - $at["mu"]; if (d * d > 1e-12) exit 1 }' || fail "a monitored node differs"
if "$SVMP" --version | grep -q '^netcdf: yes'; then
    works run both.bug "$MODELS/schools.R" -m graphical -n 20 -t 10 -q --coordinates noncentred --monitor both -o both.nc
    works compare both.csv both.nc
fi

# The posterior is the same in all coordinates. The data are informative, but not so much that one kind fails.
cat >groups.bug <<'END'
model {
  for (i in 1:8) { theta[i] ~ dnorm(mu, tau); for (j in 1:4) { y[i, j] ~ dnorm(theta[i], 1) } }
  mu ~ dnorm(0, 0.01)
  tau ~ dgamma(4, 4)
}
END
echo 'y <- structure(c(0.3,1.9,-0.4,0.8,2.2,1.1,-0.9,0.6,1.2,2.8,0.4,-0.2,1.6,0.2,-1.4,1.5,0.9,1.4,-1.2,0.1,3.1,0.7,0.3,-0.5,-0.6,2.3,0.6,1.1,1.8,1.9,-0.7,0.4), .Dim = c(8, 4))' >groups.R
for kind in centred noncentred auto; do
    works run groups.bug groups.R -m nuts --warmup 500 --draws 1500 -q --coordinates $kind -o nuts_$kind.csv
done
works compare nuts_noncentred.csv nuts_centred.csv
works compare nuts_auto.csv nuts_centred.csv

if several_processes; then
    for kind in noncentred auto; do
        mpirun -n 2 "$SVMP" run $schools -m graphical -n 20 -t 10 -q --threads 1 --coordinates $kind -o two.csv --force >said 2>errors || fail "$(cat errors)"
        diff <(rows $kind.csv) <(rows two.csv) || fail "$kind: processes differ"
    done
    works run $schools -m local -n 20 -t 60 -q -o one.csv --force
    mpirun -n 2 "$SVMP" run $schools -m local -n 20 -t 60 -q --threads 1 -o two.csv --force >said 2>errors || fail "$(cat errors)"
    diff <(rows one.csv) <(rows two.csv) || fail "local: processes differ"
fi
