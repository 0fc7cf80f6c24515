# Errors are reported before the run begins, with exit 2 and no file left.
. "$TESTS/cli/support.bash"
banner='%%MatrixMarket matrix coordinate real'
model() { printf '%s\n' "$@" >bad.mtx; }
touch bad.mtx

# the output
touch there.csv
mkdir folder.csv
refuses 2 "The output file 'out.txt' must end in .csv" run chain.mtx -o out.txt
refuses 2 "The file 'there.csv' already exists; use --force to overwrite it." run chain.mtx -o there.csv
refuses 2 "The output 'folder.csv' is a folder." run chain.mtx -o folder.csv --force
refuses 2 "folder 'no/such/': No such file or directory." run chain.mtx -o no/such/out.csv
if [[ $(id -u) -ne 0 ]]; then
    mkdir -m 555 closed
    refuses 2 "folder 'closed/': Permission denied." run chain.mtx -o closed/out.csv
fi

# the options
refuses 2 "'graphicl'" run chain.mtx -m graphicl -o out.csv
refuses 2 "'0'" run chain.mtx -n 0 -o out.csv
refuses 2 "Unknown backend 'abacus'; available: cpu, " run chain.mtx --backend abacus -o out.csv
for name in gpu GPU Cuda CUDA cuda-f32 cuda-32 cud; do
    refuses 2 "Unknown backend '$name'; did you mean 'cuda'? Available: cpu, " run chain.mtx --backend $name -o out.csv
done
refuses 2 "Unknown backend 'cuda-64'; did you mean 'cuda-f64'?" run chain.mtx --backend cuda-64 -o out.csv
refuses 2 "Unknown backend 'avx2'; available: cpu, " run chain.mtx --backend avx2 -o out.csv
SVMP_CUDA=/no/such/file.so refuses 2 "SVMP_CUDA names '/no/such/file.so', which cannot be loaded (cannot open shared object file" run chain.mtx --backend cuda -o out.csv
SVMP_CUDA="$PWD/chain.mtx" refuses 2 "SVMP_CUDA names '$PWD/chain.mtx', which cannot be loaded (" run chain.mtx --backend cuda -o out.csv
SVMP_CUDA='' refuses 2 "SVMP_CUDA is empty, so the plug-in svmp_cuda.so is not used." run chain.mtx --backend cuda -o out.csv
SVMP_CUDA='' works run chain.mtx -n 5 -t 1 -q --backend auto -o auto.csv

# chosen REASON ARGUMENT...: the message of `auto` about its choice, which --quiet omits; it is not progress.
chosen() {
    local reason=$1 sentence
    shift
    for how in --progress=auto --progress=json --progress=none; do
        "$SVMP" run chain.mtx b.mtx --verify no --backend auto $how "$@" >said 2>errors || fail "$(cat errors)"
        sentence=$(grep -oE "^svmp: The backend is 'cpu-[a-z0-9]+': .*" errors) || fail "$(cat errors)"
        [[ ${sentence#*\': } == "$reason." ]] || fail "$how $*: $sentence"
        [[ $how != --progress=none || $(wc -l <errors) -eq 1 ]] || fail "$(cat errors)"
    done
    works run chain.mtx b.mtx --verify no --backend auto --quiet "$@"
}
clause() { local first=${1%%. *}; first=${first%.}; [[ $first == [A-Z][a-z]* ]] && first=${first,}; echo "$first"; } # a sentence
chosen "the method 'nuts' gains nothing on a GPU" -m nuts --warmup 5 --draws 5
chosen "the run is small for a GPU" -m graphical -n 5 -t 3
SVMP_CUDA='' chosen "SVMP_CUDA is empty, so the plug-in svmp_cuda.so is not used" -m graphical -n 600 -t 2
SVMP_CUDA=/no/such/file.so "$SVMP" run chain.mtx b.mtx --verify no --backend auto -m graphical -n 600 -t 2 -q >said 2>errors || fail "$(cat errors)"
grep -qxE "svmp: warning: SVMP_CUDA .*'/no/such/file.so'.* The run uses the CPU\." errors || fail "$(cat errors)"
SVMP_CUDA=/no/such/file.so "$SVMP" run chain.mtx b.mtx --verify no --backend auto -m graphical -n 600 -t 2 >said 2>errors || fail "$(cat errors)"
grep -qx "svmp: The backend is 'cpu-[a-z0-9]*': the plug-in for GPUs cannot be used\." errors || fail "$(cat errors)"
gpu=$("$SVMP" --version | sed -n 's/^gpu: no\. //p')
if [[ -n $gpu ]]; then # no library, no driver or no GPU: one sentence, and `auto` uses the CPU
    refuses 2 "$gpu" run chain.mtx --backend cuda-f64 -o out.csv
    chosen "$(clause "$gpu")" -m graphical -n 600 -t 2 -o out.csv --force
    grep -q '^# backend = cpu-' out.csv || fail "auto does not run on the CPU"
    rm out.csv
fi
refuses 2 "'-5'" run chain.mtx -n -5 -o out.csv
refuses 2 "'many'" run chain.mtx -t many -o out.csv
refuses 2 "'nowhere'" run chain.mtx --kernel rbf@nowhere -o out.csv
refuses 2 "'fast'" run -m graphical chain.mtx --step fast -o out.csv
refuses 2 "'mean'" run chain.mtx --bandwidth mean -o out.csv
refuses 2 "normal:" run chain.mtx --init normal: -o out.csv
refuses 2 "The option '--threads' must be a whole number from 0 to 4096, not 'two'." run chain.mtx --threads two -o out.csv
refuses 2 "not '99999999999999999999'" run chain.mtx --threads 99999999999999999999 -o out.csv

# the model
refuses 2 "Cannot read 'nowhere.mtx': No such file or directory." run nowhere.mtx -o out.csv
refuses 2 "Unknown kind of model file 'model.xyz'" run model.xyz -o out.csv
refuses 2 "'d.csv' is a data file; the model file comes first, and its name ends in .bug, .jags, .txt or .mtx." run d.csv m.bug
printf '# svmp 0.2.0\nlp__,mu\n0,1\n' >particles.csv
printf 'model { mu ~ dnorm(0, 1) }\n' >mu.bug
! "$SVMP" run mu.bug particles.csv 2>errors && grep -q "^particles.csv:1:1: error: this is a file of particles, not of data" errors || fail "$(cat errors)"
refuses 2 "Cannot read the Stan program 'model.stan': models are written in the BUGS language" run model.stan -o out.csv
refuses 2 "3 were given." run chain.mtx b.mtx b.mtx -o out.csv
model "$banner symmetric" "2 2 2" "1 1 1" "2 2 x"
refuses 2 "bad.mtx:4: the value 'x' is not a number." run bad.mtx -o out.csv
model "$banner general" "2 3 2" "1 1 1" "2 2 1"
refuses 2 "bad.mtx: a precision matrix must be square, not 2 by 3." run bad.mtx -o out.csv
model "$banner general" "2 2 4" "1 1 1" "2 2 1" "1 2 0.5" "2 1 0.25"
refuses 2 "entry (1, 2) is 0.5 and entry (2, 1) is 0.25." run bad.mtx -o out.csv
model "$banner general" "2 2 3" "1 1 1" "2 2 1" "2 1 0.25"
refuses 2 "entry (2, 1) is 0.25 and entry (1, 2) is 0." run bad.mtx -o out.csv
model "$banner symmetric" "3000000000 3000000000 1" "1 1 1"
refuses 2 "not positive definite" run bad.mtx -o out.csv
model "$banner symmetric" "2 2 2" "1 1 1" "2 1 1"
refuses 2 "the diagonal entry of row 2 is 0, so the matrix is not positive definite." run bad.mtx -o out.csv
# Singular up to rounding: the last pivot is slightly above 0.
echo 'model { x ~ dflat()
  y ~ dflat()
  factor(-(x - y) * (x - y)) }' >singular.bug
refuses 2 "The precision matrix is not positive definite" run singular.bug -m exact
refuses 2 "The precision matrix is not positive definite" run singular.bug
model "$banner general" "2 1 1" "2 1 1"
refuses 2 "bad.mtx: the vector is 2 by 1, but the matrix in 'chain.mtx' needs 3 by 1." run chain.mtx bad.mtx
model "x,y" "1,nan"
mv bad.mtx bad.csv
refuses 2 "bad.csv:2: column 2 (y): 'nan' is not a finite number." run chain.mtx --init bad.csv -o out.csv

# A general matrix with equal triangles is accepted; zeros make no edges.
model "$banner general" "3 3 6" "1 1 1" "2 2 1" "1 2 0.25" "2 1 0.25" "3 1 0" "3 3 1"
works check bad.mtx
shows '^factors +4$'
shows '^largest Markov blanket +1$'

# A dangling link is refused before the run.
ln -s nowhere link.csv
refuses 2 "The file 'link.csv' is a broken symbolic link." run chain.mtx -o link.csv
refuses 2 "The file 'link.csv' is a broken symbolic link." run chain.mtx --checkpoint link.csv --force

# A run that exceeds the memory limit of the process says so before it begins; sanitizers reserve more than this limit.
if [[ -z $SANITIZE ]]; then
    (
        ulimit -v 4000000
        refuses 1 "Out of memory: this run and its result need 10.7 GB, but this machine has 4.1 GB for this process." run chain.mtx -m transport -n 20000000 -o out.csv
    )
fi
