# Help, version and the manual page are made of the tables, and fit a screen.
. "$TESTS/cli/support.bash"

works --version
shows '^svmp [0-9]+\.[0-9]+\.[0-9]+$'
shows '^openmp: (yes|no, )'
works --help
for command in run check graph summary compare report manual completion; do
    grep -q "^  svmp $command" said || fail "--help does not name $command"
done

for command in run check graph summary compare report manual completion; do
    works $command --help
    shows "^Usage: svmp $command"
    (($(wc -l <said) <= 40)) || fail "svmp $command --help has $(wc -l <said) lines"
    awk 'length > 100 { exit 1 }' said || fail "svmp $command --help is wider than 100"
    cp said "help-$command"
done
works run -h
diff said help-run

# Every option of every help stands in the manual, and roff has nothing to say about it.
works manual
cp said svmp.1
for command in run check graph summary compare report completion; do
    for option in $(grep -oE '^  (-., |    )--[a-z-]+' "help-$command" | grep -oE -- '--[a-z-]+'); do
        grep -qF -- "${option//-/\\-}" svmp.1 || fail "the manual lacks $option of $command"
    done
done
if command -v groff >/dev/null; then
    groff -man -Tascii -ww svmp.1 >page 2>warnings
    [[ ! -s warnings ]] || fail "roff: $(cat warnings)"
    grep -q 'The input or the call was wrong' page
fi
