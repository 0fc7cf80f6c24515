# Several processes write the same file as one, for any number of processes, kernel, start and interruption. This script
# runs a selection of the combinations; long/ranks.sh runs all.
. "$TESTS/cli/support.bash"
several_processes || exit 77

# The Slurm script in the documentation is valid.
awk '/^```sh/ { block = ""; inside = 1; next } /^```/ { if (block ~ /#SBATCH/) printf "%s", block; block = ""; inside = 0 }
    inside { block = block $0 "\n" }' "$TESTS/../docs/distributed.md" >slurm.sh
grep -q '^srun ' slurm.sh && grep -q ' svmp run ' slurm.sh && bash -n slurm.sh || fail "the script for Slurm: $(cat slurm.sh)"

# Runs the command and keeps its exit status: all processes end by themselves with the same status. If one differed,
# mpirun would kill the others after twice its time limit (support.bash).
export STATUSES=$PWD/statuses
cat >each <<'END'
#!/bin/bash
status=0
"$SVMP" "$@" || status=$?
echo $status >>"$STATUSES"
END
chmod +x each
each=$PWD/each

# together ARGUMENT...: arguments of mpirun; gives the exit status of all processes.
together() {
    rm -f "$STATUSES"
    OMPI_MCA_orte_abort_on_non_zero_status=0 timeout 60 mpirun "$@" >said 2>errors ||
        fail "mpirun $*: exit $?: $(cat errors)"
    [[ $(sort -u "$STATUSES" | wc -l) -eq 1 ]] || fail "mpirun $*: exits $(tr '\n' ' ' <"$STATUSES"): $(cat errors)"
    return "$(head -1 "$STATUSES")"
}

# ranks P ARGUMENT...: the command in P processes.
ranks() {
    local processes=$1
    shift
    together -n "$processes" "$each" "$@" || return
    [[ $(wc -l <"$STATUSES") -eq $processes ]] || fail "$(wc -l <"$STATUSES") of $processes processes came to an end"
}

# named OPTION...: adds a method that runs by nodes unless a method is given; the default runs by chains.
named() { [[ " $* " == *" -m "* ]] && echo "$*" || echo "-m graphical $*"; }

# The file without the lines that may differ.
timeless() { grep -vE '^# (.*seconds|processes|threads|iterations = |resumed |verdict)' "$1"; }

# same FILE FILE: bit for bit.
same() { diff <(timeless "$1") <(timeless "$2") >differ || fail "$3: $(head -5 differ)"; }

# Help and refusals are printed once, without MPI.
for more in "run --help" ${ALL:+--version --help "help run" "plan --help"}; do
    "$SVMP" $more >alone
    ranks 3 $more || fail "$more: exit $?: $(cat errors)"
    cmp said alone && [[ ! -s errors ]] || fail "$more: $(cat errors)"
done
status=0
ranks 2 rnu || status=$?
[[ $status -eq 2 && $(cat errors) == "svmp: Unknown command 'rnu'; did you mean 'run'?" ]] || fail "$(cat errors)"
status=0
ranks 2 || status=$?
"$SVMP" 2>alone || true
[[ $status -eq 2 ]] && cmp errors alone || fail "exit $status: $(cat errors)"

models=("$MODELS/grid.mtx $MODELS/grid_b.mtx")
"$SVMP" --version | grep -qx 'jansson: yes' &&
    models+=("$MODELS/sensors.bug $MODELS/sensors.json" "$MODELS/crowd.bug $MODELS/crowd.csv $MODELS/crowd.json")

# Local kernels: the same bits, including lp__ and discrepancy, for any number of processes and threads.
for model in "${models[@]}"; do
    methods=("-m graphical --step adam:0.05")
    [[ -z ${ALL:-} && $model != "${models[-1]}" ]] || methods+=("-m local")
    [[ -z ${ALL:-} ]] || methods+=("-m random" "-m langevin --step fixed:0.0001")
    for method in "${methods[@]}"; do
        arguments=(run $model -n 11 -t 12 --quiet $method)
        works "${arguments[@]}" -o one.csv --force --threads 1
        several=3 # unit/test_part has other models
        [[ -z ${ALL:-} || $method != *graphical* ]] || several="2 3 4 7"
        for processes in $several; do
            ranks $processes "${arguments[@]}" -o many.csv --force --threads $((1 + processes % 2)) ||
                fail "$model $method in $processes processes: exit $?: $(cat errors)"
            same one.csv many.csv "$model $method in $processes processes"
        done
    done
done
# Discrete unknowns: probabilities over all kept states of a chain, and draws, are the same, too.
words=$TESTS/peer/words
for method in ${ALL:+"-m graphical"} "-m local"; do
    arguments=(run "$words/regimes.bug" "$words/regimes.R" -n 6 -t 8 --quiet $method)
    works "${arguments[@]}" -o one.csv --force
    ranks 3 "${arguments[@]}" -o many.csv --force --threads 1 || fail "regimes $method: exit $?: $(cat errors)"
    grep -q probability.regime one.csv || fail "regimes $method: no probabilities"
    same one.csv many.csv "regimes $method"
done
ranks 1 "${arguments[@]}" -o many.csv --force || fail "one process under mpirun: $(cat errors)"
same one.csv many.csv "one process under mpirun"

# By chains: the default method, samplers, discrete unknowns and exact draws write the file of one process, and say how
# they run. The verdict depends on how long it may take, unless it may take as long as it likes.
chains=("$MODELS/hierarchical.bug $MODELS/hierarchical.csv $MODELS/hierarchical.json -n 21 --verify yes"
    "$words/regimes.bug $words/regimes.R -n 9 -t 130 --verify yes"
    "$MODELS/schools_centred.bug $MODELS/schools.R -m nuts --warmup 60 --draws 30 --verify no"
    "$MODELS/schools.bug $MODELS/schools.R -m mala -n 7 -t 30" "$MODELS/grid.mtx $MODELS/grid_b.mtx -m exact -n 7")
for arguments in "${chains[@]}"; do
    works run $arguments --quiet -o one.csv --force --threads 1
    grep -vE ' iterations? in |svmp (summary|verify)' said >alone
    for processes in 2 ${ALL:+3 4}; do
        ranks $processes run $arguments --quiet -o many.csv --force --threads $((1 + processes % 2)) ||
            fail "$arguments in $processes processes: exit $?: $(cat errors)"
        shows "^$processes processes by chains: each has the whole model and moves a share of the (chains|particles)\$"
        same one.csv many.csv "$arguments in $processes processes"
        diff alone <(grep -vE ' iterations? in |svmp (summary|verify)|by chains' said) >differ ||
            fail "$arguments in $processes processes: $(cat differ)"
    done
done
works verify one.csv "$MODELS/grid.mtx" "$MODELS/grid_b.mtx"
grep -v 'exact moves each in' said >alone
ranks 2 verify one.csv "$MODELS/grid.mtx" "$MODELS/grid_b.mtx" || fail "$(cat errors)"
diff alone <(grep -v 'exact moves each in' said) >differ || fail "verify: $(cat differ)"
if "$SVMP" --version | grep -q '^netcdf: yes'; then
    ranks 2 run "$MODELS/schools.bug" "$MODELS/schools.R" -n 10 -t 130 --quiet -o many.nc --force || fail "$(cat errors)"
    works summary many.nc
fi
# A process dies: the run continues from the checkpoint with another number of processes.
hierarchical=(run "$MODELS/hierarchical.bug" "$MODELS/hierarchical.csv" "$MODELS/hierarchical.json" -n 200 --quiet)
works "${hierarchical[@]}" -o whole.csv --force
rm -f killed.svmp
timeout 60 mpirun -n 3 "$SVMP" "${hierarchical[@]}" --checkpoint killed.svmp --checkpoint-every 0 >said 2>errors &
running=$!
until [[ -s killed.svmp ]] || ! kill -0 $running 2>/dev/null; do sleep 0.05; done
kill -KILL "$(pgrep -P "$(pgrep -P $running mpirun)" | tail -1)"
wait $running && fail "a run without a process ended well"
grep -q '^svmp: To continue: mpirun -n 3 svmp run .*--resume killed.svmp' errors || fail "$(cat errors)"
ranks 2 "${hierarchical[@]}" --resume killed.svmp -o resumed.csv --force || fail "$(cat errors)"
same whole.csv resumed.csv "chains resumed in two"

# Where there is no memory for all copies, the default splits the model, and says so; another method is refused.
large=(run "$MODELS/grid.mtx" -n 200 -t 1 --draws 1000000000 --quiet)
ranks 2 "${large[@]}" || fail "$(cat errors)"
grep -q "^svmp: The model is split by nodes, with the method 'graphical', because it is too large" errors || fail "$(cat errors)"
shows '^2 processes by nodes; the busiest has '
status=0
ranks 2 "${large[@]}" -m transport || status=$?
[[ $status -eq 1 && $(grep -c '^svmp: Out of memory: this run and its result need' errors) -eq 1 ]] || fail "exit $status: $(cat errors)"

# Sums of kernels, boxes of other methods, other starts.
long=(run "$MODELS/grid.mtx" "$MODELS/grid_b.mtx" -n 9 --quiet)
grid=("${long[@]}" -t 10)
kernels=("--kernel imq@self+rbf@random:2+rbf@blanket+linear@all" "--init one.csv")
[[ -z ${ALL:-} ]] || kernels+=("--kernel rbf/sd@self+linear/sd@near:4 --step adam-sd:0.1" "--kernel linear@all+imq@all --backend ref" "--kernel 0.1*rbf@blanket+linear@blanket" "-m vanilla" "-m independent --init uniform:-1,2" "--kernel imq@random:2" "-m combined" "--backend ref" \
    "--kernel linear@all+imq@all" "--kernel rbf@all+linear@all --backend ref" "--kernel rbf@all+rbf@blanket+imq@self" \
    "--kernel rbf/sd@self+linear/sd@blanket --step adam-sd:0.1..0.01" "--kernel rbf/sd@all+linear/sd@all")
for more in "${kernels[@]}"; do
    more=$(named $more)
    [[ $more == *one.csv ]] && works "${grid[@]}" -m graphical --seed 5 -o one.csv --force
    works "${grid[@]}" $more -o alone.csv --force
    ranks 3 "${grid[@]}" $more -o many.csv --force || fail "$more: $(cat errors)"
    same alone.csv many.csv "$more"
done

# A kernel on all variables with too many particles to store their pairs in one process.
{ printf '%%%%MatrixMarket matrix coordinate real symmetric\n4 4 7\n'
    printf '%d %d %g\n' 1 1 2 2 2 2 3 3 2 4 4 2 2 1 -1 3 2 -1 4 3 -1; } >four.mtx
for more in "-m vanilla" ${ALL:+"-m graphical --kernel linear@all"}; do
    works run four.mtx $more -n 1600 -t 2 --quiet -o alone.csv --force
    ranks 2 run four.mtx $more -n 1600 -t 2 --quiet --threads 1 -o many.csv --force || fail "$more: $(cat errors)"
    same alone.csv many.csv "$more of many particles"
done

# A checkpoint of P processes equals that of one process and is resumed by Q. The sd in whose units kernels and steps
# work is also kept for the neighbours' variables.
for more in ${ALL:+"-m graphical"} "-m graphical --kernel rbf/sd@self+linear/sd@blanket --step adam-sd:0.1"; do
    works "${long[@]}" $more -t 40 -o whole.csv --force
    works "${long[@]}" $more -t 20 --checkpoint one.svmp --force
    ranks 3 "${long[@]}" $more -t 20 --checkpoint three.svmp --force || fail "$(cat errors)"
    cmp one.svmp three.svmp || fail "the checkpoint of three processes is another $more"
    for processes in ${ALL:+2 }4; do
        cp three.svmp on.svmp # which continues
        ranks $processes "${long[@]}" $more -t 40 --resume on.svmp -o resumed.csv --force || fail "$(cat errors)"
        same whole.csv resumed.csv "resumed in $processes $more"
    done
    works "${long[@]}" $more -t 40 --resume three.svmp -o resumed.csv --force
    same whole.csv resumed.csv "resumed in one"
done

for processes in 1 3; do
    ranks $processes "${long[@]}" -m local -t 20 --checkpoint local$processes.svmp || fail "$(cat errors)"
done
cmp local1.svmp local3.svmp || fail "the checkpoint of local moves of three processes is another"
works "${long[@]}" -m local -t 40 --warmup 10 -o whole.csv --force
ranks 2 "${long[@]}" -m local -t 40 --resume local3.svmp --warmup 10 -o resumed.csv --force || fail "$(cat errors)"
same whole.csv resumed.csv "local moves resumed in two"

# A run with a tolerance stops at the same iteration.
works "${long[@]}" -m graphical -t 2000 --tolerance 0.9 -o whole.csv --force
ranks 3 "${long[@]}" -m graphical -t 2000 --tolerance 0.9 -o many.csv --force || fail "$(cat errors)"
grep -q 'outcome = converged' whole.csv || fail "the tolerance was not reached"
same whole.csv many.csv "tolerance"

# If several variables have moved equally far, the first one of the model is named, whichever process has it.
ring=(4 12 10 1 2 11 6 3 9 7 8 5)
{ printf '%%%%MatrixMarket matrix coordinate real symmetric\n12 12 24\n'
    for k in ${!ring[@]}; do
        a=${ring[k]} b=${ring[(k + 1) % 12]}
        printf '%d %d %g\n' $a $a 3 $((a > b ? a : b)) $((a > b ? b : a)) -1
    done; } >ring.mtx
{ printf 'x.%d,' {1..11} && echo x.12
    for value in -1.5 -1 -0.25 0.5 0.75 2; do # exact in any order of summation
        printf -- "$value,%.0s" {1..11} && echo $value
    done; } >even.csv
works run ring.mtx -n 6 -t 1 -m independent --init even.csv -o alone.csv --force
grep -q '^# last_step_sd = .* x\.1$' alone.csv || fail "$(grep last_step alone.csv)"
for processes in ${ALL:+2 3}; do
    ranks $processes run ring.mtx -n 6 -t 1 -m independent --init even.csv --quiet -o many.csv --force || fail "$(cat errors)"
    same alone.csv many.csv "a tie in $processes processes"
done

# More processes than nodes, and a graph in pieces.
cat >pieces.mtx <<'END'
%%MatrixMarket matrix coordinate real symmetric
5 5 6
1 1 2
2 1 -1
2 2 2
3 3 1
4 4 1
5 5 3
END
for model in ${ALL:+"chain.mtx b.mtx"} pieces.mtx; do
    works run -m graphical $model -n 6 -t 10 -o alone.csv --force
    ranks 6 run -m graphical $model -n 6 -t 10 --quiet -o many.csv --force || fail "$model: $(cat errors)"
    grep -qE 'warning: [0-9] of 6 processes have no nodes' errors || fail "no warning: $(cat errors)"
    same alone.csv many.csv "$model"
done

# One node that all processes read.
cat >hub.bug <<'END'
model { mu ~ dnorm(0, 1)
  for (i in 1:20) { theta[i] ~ dnorm(mu, 2)
    y[i] ~ dnorm(theta[i], 1) } }
END
echo 'y <- c(1,2,3,4,5,6,7,8,9,10,1,2,3,4,5,6,7,8,9,10)' >hub.R
# Measurements of one variable with those of others between them: summed in the order of the whole model.
cat >runs.bug <<'END'
model { for (i in 1:9) { theta[i] ~ dnorm(0, 0.3) }
  for (k in 1:length(y)) { y[k] ~ dnorm(theta[g[k]], 0.7) }
  for (k in 1:8) { factor(-pow(theta[k] - theta[k + 1], 4)) } }
END
echo 'y <- c(.1,.7,.3,1.1,.6,.9,1.3,.2,.4,.8,.1,.7); g <- c(1,1,5,1,9,1,5,5,2,5,9,9)' >runs.R
works run -m graphical runs.bug runs.R -n 6 -t 10 -o alone.csv --force
ranks 3 run -m graphical runs.bug runs.R -n 6 -t 10 --quiet -o many.csv --force || fail "runs: $(cat errors)"
same alone.csv many.csv "runs"
for start in ${ALL:+normal:1 prior}; do
    works run -m graphical hub.bug hub.R -n 6 -t 10 --init $start -o alone.csv --force
    ranks 3 run -m graphical hub.bug hub.R -n 6 -t 10 --quiet --init $start -o many.csv --force || fail "hub: $(cat errors)"
    same alone.csv many.csv "hub from $start"
done

# Written and monitored values of nodes of all processes equal those of one process; values that are not finite are left
# out.
cat >monitored.bug <<'END'
model { mu ~ dnorm(0, 1)
  for (i in 1:20) { theta[i] ~ dnorm(mu, 2)
    d[i] <- theta[i] - mu
    y[i] ~ dnorm(theta[i], 1) }
  top <- mean(theta[]) / (1 + mu * mu)
  bad <- log(mu - 1000) }
END
hub=(run -m graphical monitored.bug hub.R -n 6 -t 10 --quiet)
for more in ${ALL:+"--save theta,mu" "--monitor top,d"} "--monitor d,top --save top,theta.7,d[3]"; do
    works "${hub[@]}" $more -o alone.csv --force
    ranks 3 "${hub[@]}" $more -o many.csv --force || fail "$more: $(cat errors)"
    same alone.csv many.csv "$more"
done
ranks 3 "${hub[@]}" --monitor bad,top -o many.csv --force || fail "$(cat errors)"
"$SVMP" "${hub[@]}" --monitor bad,top -o alone.csv --force 2>/dev/null >said
same alone.csv many.csv "what is left out"
grep -qx "svmp: 'bad' is omitted: it is not finite in some particles." errors || fail "$(cat errors)"

# A start may have columns that follow from others; one with unknown or missing columns is refused.
works "${hub[@]}" --monitor top -o start.csv --force
for processes in 2 ${ALL:+7}; do # some of 7 have no variables
    works run -m graphical monitored.bug hub.R -t 5 --init start.csv --quiet -o alone.csv --force
    ranks $processes run -m graphical monitored.bug hub.R -t 5 --init start.csv --quiet -o many.csv --force || fail "$(cat errors)"
    same alone.csv many.csv "start in $processes"
done
sed 's/,mu,/,nu,/' start.csv >strange.csv
sentence="The variables differ: 1 of the model is not in the particles (mu), and 1 of the particles is not in the model (nu)."
refuses 2 "$sentence" run monitored.bug hub.R --init strange.csv
status=0
ranks 3 run -m graphical monitored.bug hub.R --init strange.csv || status=$?
[[ $status -eq 2 && $(grep -cFx "svmp: $sentence" errors) -eq 1 ]] || fail "exit $status: $(cat errors)"
status=0
ranks 2 "${hub[@]}" --save zeta -o none.csv || status=$?
[[ $status -eq 2 && ! -e none.csv ]] && grep -q "Unknown variable 'zeta' in the model" errors || fail "$(cat errors)"

# disagree STATUS SENTENCE ARGUMENTS : ARGUMENTS: two processes with different arguments.
disagree() {
    local expected=$1 sentence=$2 status=0
    shift 2
    local first=() second=()
    while [[ $1 != : ]]; do first+=("$1") && shift; done
    shift && second=("$@")
    together -n 1 "$each" "${first[@]}" : -n 1 "$each" "${second[@]}" || status=$?
    [[ $status -eq $expected ]] || fail "exit $status, not $expected: $(cat errors)"
    grep -qF -- "$sentence" errors || fail "'$(cat errors)' instead of '$sentence'"
    [[ $(grep -c '^svmp: ' errors) -eq 1 ]] || fail "said more than once: $(cat errors)"
}
# Processes that would not find each other: each would do the whole run.
SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=0 refuses 2 "srun started 2 processes that are not connected" run chain.mtx -t 3
PMI_SIZE=2 PMI_RANK=0 refuses 2 "mpiexec started 2 processes that are not connected" run chain.mtx -t 3

# Without MPI: a single process needs none, and several report that each would run alone.
if "$SVMP" --version | grep -qx 'mpi: yes, in svmp_mpi.so'; then
    ! ldd "$SVMP" "$(dirname "$SVMP")"/libsvmp.so* | grep -i libmpi || fail "MPI must be there for the command to start"
    works run -m graphical chain.mtx -n 9 -t 2 -o with.csv
    SVMP_MPI= works run -m graphical chain.mtx -n 9 -t 2 -o without.csv
    same with.csv without.csv "without the plug-in for MPI"
    status=0
    SVMP_MPI= ranks 2 run -m graphical chain.mtx -t 3 -o none.csv || status=$?
    sentence="mpirun started 2 processes, but they cannot be connected, and each would do the whole run. SVMP_MPI is empty, so the plug-in svmp_mpi.so is not used."
    [[ $status -eq 2 && ! -e none.csv ]] && grep -qF "$sentence" errors || fail "exit $status: $(cat errors)"
fi

sed 's/^1 1 2/1 1 2.5/' chain.mtx >other.mtx
mkdir there
cp chain.mtx copy.mtx # the same file under another name
together -n 1 "$each" run chain.mtx -t 3 : -n 1 "$each" run copy.mtx -t 3 || fail "$(cat errors)"
disagree 2 "The processes disagree on the model 'chain.mtx'" run chain.mtx : run other.mtx
[[ -z ${ALL:-} ]] || disagree 2 "The processes disagree on the data 'b.mtx'" run chain.mtx b.mtx : run chain.mtx chain.mtx
[[ -z ${ALL:-} ]] || disagree 2 "The processes disagree on the number of files: 1 in process 0" run chain.mtx : run chain.mtx b.mtx
[[ -z ${ALL:-} ]] || disagree 2 "The processes disagree on the option --seed: not given in process 0" run chain.mtx : run chain.mtx --seed 2
works run -m graphical chain.mtx -n 9 -t 2 -o start.csv --force
works run -m graphical chain.mtx -n 9 -t 2 --seed 7 -o there/start.csv
works run -m graphical chain.mtx -n 8 -t 2 -o there/short.csv
cp start.csv short.csv
chain=(run -m graphical "$PWD/chain.mtx" -t 3) # in two folders, as on two machines
(cd there && exec "$SVMP" "${chain[@]}" -o c.csv -q --checkpoint c.svmp) >said
for init in start ${ALL:+short}; do
    second=("${chain[@]}" --init $init.csv)
    status=0
    together -n 1 "$each" "${second[@]}" : -n 1 -wdir there "$each" "${second[@]}" || status=$?
    [[ $status -eq 2 ]] && grep -q "^svmp: The processes disagree on the start '$init.csv': " errors ||
        fail "exit $status: $(cat errors)"
done

# An option that only some processes have, whichever it is; an error in one is reported once.
for more in "-o c.csv" ${ALL:+"--resume there/c.svmp" "--checkpoint c.svmp --checkpoint-every 9" --force}; do
    disagree 2 "not given in process 1 on " "${chain[@]}" $more : "${chain[@]}"
done
[[ -z ${ALL:-} ]] || disagree 2 "The processes disagree on the option --progress: not given in process 0" "${chain[@]}" : \
    "${chain[@]}" --progress json
[[ -z ${ALL:-} ]] || disagree 2 "The processes disagree on the option --output: c.csv in process 0" "${chain[@]}" -o c.csv : "${chain[@]}" -o d.csv
[[ ! -e c.csv && ! -e c.svmp ]] || fail "a file was written"
[[ -z ${ALL:-} ]] || disagree 2 "svmp: Unknown option '--sede'; did you mean '--seed'?" run chain.mtx --sede 3 : run chain.mtx --sede 3
disagree 2 "svmp: process 1: The option '--threads' must be a whole number" run chain.mtx : run chain.mtx --threads x
[[ -z ${ALL:-} ]] || disagree 2 "svmp: Missing argument" run : run

# A C library that rounds differently: glibc can be told to use other code for this processor.
if [[ ${#models[@]} -gt 1 ]]; then
    plain=GLIBC_TUNABLES=glibc.cpu.hwcaps=-FMA,-AVX2,-FMA4
    rounded=(run -m graphical ${models[2]} -n 20 -t 20 --backend cpu-baseline --quiet)
    works "${rounded[@]}" -o alone.csv --force
    env $plain "$SVMP" "${rounded[@]}" -o otherwise.csv --force >said
    if ! diff <(timeless alone.csv) <(timeless otherwise.csv) >differ; then
        status=0
        together -n 1 "$each" "${rounded[@]}" : -n 1 env $plain "$each" "${rounded[@]}" || status=$?
        [[ $status -eq 2 && $(grep -c '^svmp: The processes disagree on the rounding of the C library: ' errors) -eq 1 ]] ||
            fail "exit $status: $(cat errors)"
        together -n 2 env $plain "$each" "${rounded[@]}" -o many.csv --force || fail "exit $?: $(cat errors)"
        same otherwise.csv many.csv "both round otherwise"
    fi
fi

# Threads: processes share those of the machine unless numbers are given, which may differ.
offered=$(env -u OMP_NUM_THREADS nproc)
for more in "" "--threads 3"; do
    (unset OMP_NUM_THREADS && ranks 2 "${chain[@]}" $more -o threads.csv --force) || fail "$(cat errors)"
    expected=$((offered / 2 > 0 ? offered / 2 : 1))
    [[ -z $more ]] || expected=3
    grep -qx "# threads = $expected" threads.csv || fail "$(grep threads threads.csv), not $expected"
done
together -n 1 "$each" "${chain[@]}" --threads 1 : -n 1 "$each" "${chain[@]}" --threads 2 || fail "$(cat errors)"

disagree 2 "but unreadable (No such file or directory) in process 1" run chain.mtx : run no.mtx
[[ -z ${ALL:-} ]] || disagree 2 "Cannot read 'no.mtx'" run no.mtx : run no.mtx
status=0 # mpirun's own messages
OMPI_MCA_odls_base_sigkill_timeout=1 timeout 60 mpirun -n 2 "$SVMP" run -m graphical no.mtx >said 2>errors || status=$?
[[ $status -eq 2 ]] || fail "exit $status: $(cat errors)"
disagree 2 "The method 'dpmp' needs the whole model in one process" run chain.mtx -m dpmp -n 9 : run chain.mtx -m dpmp -n 9
[[ -z ${ALL:-} ]] || disagree 2 "Several processes cannot write the NetCDF file" run -m graphical chain.mtx -o a.nc : run -m graphical chain.mtx -o a.nc
[[ -z ${ALL:-} ]] || disagree 2 "The start 'map' needs the whole model" run -m graphical chain.mtx --init map : run -m graphical chain.mtx --init map
[[ ! -e a.nc ]] || fail "a file was written"

# The disk is full where the first process writes: all processes end, and the first reports it.
ln -s /dev/full full.csv
status=0
ranks 3 "${grid[@]}" -o full.csv || status=$?
[[ $status -eq 1 && $(grep -c "^svmp: Cannot write 'full.csv': No space" errors) -eq 1 ]] ||
    fail "exit $status: $(cat errors)"

# A diverging run reports it once for all processes and keeps the last finite particles.
status=0
ranks 2 run -m graphical chain.mtx -n 4 -t 500 --step fixed:10 --quiet -o diverged.csv || status=$?
[[ $status -eq 1 && $(grep -c '^svmp: The ' errors) -eq 2 ]] || fail "exit $status: $(cat errors)"
works run -m graphical chain.mtx -n 4 -t 500 --step fixed:0.1 -o alone.csv --force
status=0
"$SVMP" run -m graphical chain.mtx -n 4 -t 500 --step fixed:10 --quiet -o alone.csv --force >said 2>errors || status=$?
same alone.csv diverged.csv "diverged"

# A process dies: the run ends soon, its checkpoint is whole, and the message says how to continue.
set -m
for signal in KILL TERM; do
    rm -f c.svmp
    timeout 60 mpirun -n 3 "$SVMP" "${long[@]}" -m graphical -t 1000000 --checkpoint c.svmp --checkpoint-every 0 >said 2>errors &
    running=$!
    until [[ -s c.svmp ]] || ! kill -0 $running 2>/dev/null; do sleep 0.05; done
    mpirun=$(pgrep -P $running mpirun)
    if [[ $signal == KILL ]]; then kill -KILL "$(pgrep -P "$mpirun" | tail -1)"; else kill -TERM "$mpirun"; fi
    status=0
    wait $running || status=$?
    [[ $status -ne 0 && $status -ne 124 ]] || fail "after SIG$signal: exit $status: $(cat errors)"
    grep -q '^svmp: To continue: mpirun -n 3 svmp run .*--resume c.svmp' errors || fail "after SIG$signal: $(cat errors)"
    [[ $signal == TERM ]] || grep -q '^svmp: Process [12] of 3, on .*, has died\. The last checkpoint is intact' errors ||
        fail "$(cat errors)"
    refuses 2 "iterations = 1000000, but this run has iterations = 10, which must not be smaller" "${long[@]}" -m graphical -t 10 --resume c.svmp
done

# A stopped process keeps an iteration from ending when the run is asked to stop: a message says so, as the launcher may
# kill the run. If it does not, the run stops normally once it can.
rm -f c.svmp
export OMPI_MCA_odls_base_sigkill_timeout=1
timeout 60 mpirun -n 2 "$SVMP" "${long[@]}" -m graphical -t 1000000 --checkpoint c.svmp --checkpoint-every 0 >said 2>errors &
running=$!
until [[ -s c.svmp ]] || ! kill -0 $running 2>/dev/null; do sleep 0.05; done
for process in $(pgrep -P "$(pgrep -P $running mpirun)"); do
    case $(tr '\0' '\n' <"/proc/$process/environ" | grep '^OMPI_COMM_WORLD_RANK=') in
    *=0) first=$process ;;
    *=1) held=$process ;;
    esac
done
kill -STOP "$held"
kill -TERM "$first"
late='^svmp: The run was asked to stop 0.5 s ago and has not ended; it may be killed before it does\. The last checkpoint is intact\.$'
how='^svmp: To continue: mpirun -n 2 svmp run .*--resume c.svmp'
until grep -q "$how" errors || ! kill -0 $running 2>/dev/null; do sleep 0.05; done
grep -q "$late" errors || fail "$(cat errors)"
kill -CONT "$held"
status=0
wait $running || status=$?
[[ $status -eq 130 ]] || fail "exit $status: $(cat errors)"
grep -q '^svmp: Interrupted after [0-9]* of 1000000 iterations' errors && [[ $(grep -c "$how" errors) -eq 2 ]] ||
    fail "$(cat errors)"
refuses 2 "iterations = 1000000, but this run has iterations = 10, which must not be smaller" "${long[@]}" -m graphical -t 10 --resume c.svmp

# Counts without a largest value: the first process chooses the truncation of their sums and sends it to the others.
printf 'model { for (i in 1:4) { n[i] ~ dpois(l)\n y[i] ~ dbin(p, n[i]) }\n l ~ dgamma(2, 0.2)\n p ~ dbeta(8, 4) }\n' >open.bug
echo 'y <- c(3, 5, 4, 7)' >open.R
for processes in 1 2; do
    ranks $processes run open.bug open.R -m local -n 20 -t 30 --warmup 10 -q -f -o open$processes.csv || fail "$(cat errors)"
done
diff <(timeless open1.csv) <(timeless open2.csv) || fail "two processes write another file"

# Scalars are shown first, also those behind the variables that a process by nodes would know.
printf 'model { for (i in 1:50) { y[i] ~ dnorm(x[i], 1)  x[i] ~ dnorm(mu, 1) }\n mu ~ dnorm(0, 1) }\n' >late.bug
echo "y <- c($(seq -s, 50))" >late.R
ranks 2 run late.bug late.R -n 20 -t 75 -q || fail "$(cat errors)"
shows '^mu  '
