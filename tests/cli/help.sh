# Help, version and the manual page are made of the tables, and fit a screen.
. "$TESTS/cli/support.bash"

works --version
shows '^svmp [0-9]+\.[0-9]+\.[0-9]+$'
shows '^cholmod: (yes|no, )'
works --help
for command in run verify plan check graph summary compare report localise help manual completion; do
    grep -q "^  svmp $command" said || fail "--help does not name $command"
done

# fits LINES: a terminal of 80 columns and so many lines shows all of it.
fits() {
    (($(wc -l <said) < $1)) || fail "the help has $(wc -l <said) lines: $(cat said)"
    awk 'length > 80 { exit 1 }' said || fail "the help is wider than 80: $(cat said)"
}
fits 24
for command in run verify plan check graph summary compare report localise help manual completion; do
    works $command --help
    shows "^Usage: svmp $command"
    case $command in run) fits 60 ;; plan) fits 33 ;; *) fits 24 ;; esac
    cp said "help-$command"
    works help $command
    diff said "help-$command"
done
works help
shows '^  svmp run MODEL'
refuses 2 "Unknown command 'rnu'; did you mean 'run'?" help rnu
grep -q 'decay:A,B,GAMMA' help-run && grep -q 'rbf, imq or' help-run
for method in graphical combined langevin mala; do # the default that is told is the one that is taken
    works run chain.mtx -m $method -n 5 -t 1 -q -o $method.csv
    tr -s '\n ' ' ' <help-run | grep -qE "[[ ]$(sed -n 's/^# step = //p' $method.csv)[];]" || fail "the help has another step than $method"
done
works run -h
diff said help-run

# The experiments are another program, and the command says so wherever it is asked for them.
for asked in "paper" "paper fig1 --quick" "help paper"; do
    refuses 2 "The paper's experiments are a separate program" $asked
done
[[ $(cat errors) == *"program: '$(dirname "$(realpath "$SVMP")")/svmp-paper'." ]] || fail "$(cat errors)"
cp "$SVMP" alone
! ./alone paper 2>errors
grep -q "'svmp-paper', which is not installed here" errors
! "$SVMP" --help | grep -q paper || fail "--help lists the experiments"

# Every option of every help stands in the manual, and roff has nothing to say about it.
works manual
cp said svmp.1
for command in run verify plan check graph summary compare report localise help completion; do
    for option in $(grep -oE '^  (-., |    )--[a-z-]+' "help-$command" | grep -oE -- '--[a-z-]+'); do
        grep -qF -- "${option//-/\\-}" svmp.1 || fail "the manual lacks $option of $command"
    done
done
for variable in $(grep -rhoE 'getenv\("[A-Za-z_]+"\)' "$TESTS"/../{src,plugins,apps} | grep -oE '[A-Z][A-Za-z_]+') \
    $(grep -oE '"(OMPI|PMI|PMIX|MPI|SLURM)_[A-Za-z_]+"' "$TESTS/../src/base/launcher.c" | tr -d '"'); do
    sed -n '/^.SH ENVIRONMENT/,/^.SH FILES/p' svmp.1 | grep -qwF "$variable" || fail "the manual lacks $variable"
done
if command -v man >/dev/null; then
    MANWIDTH=80 man --warnings -l svmp.1 >page 2>warnings
    [[ ! -s warnings ]] || fail "man: $(cat warnings)"
    grep -q 'svmp run' page || fail "man shows $(cat page)"
else
    echo "man is not here"
fi
if command -v mandoc >/dev/null; then
    mandoc -T lint svmp.1 | grep -vE 'longer than 80|missing date' >warnings || true # it is made anew with every build
    [[ ! -s warnings ]] || fail "mandoc: $(cat warnings)"
else
    echo "mandoc is not here"
fi
if command -v groff >/dev/null; then
    groff -man -Tascii -ww svmp.1 >page 2>warnings
    [[ ! -s warnings ]] || fail "roff: $(cat warnings)"
    grep -q 'The input or the command line was invalid' page
fi
