# One parser for every command: accepted forms, order, and errors.
. "$TESTS/cli/support.bash"

works run -m graphical chain.mtx b.mtx -n 5 -t 10 --seed 3 -o plain.csv --quiet
for form in "-f -n5 -t10 --seed=3" "--particles=5 --force --iterations 10 --seed 3" "-qfn5 -t 10 --seed 3"; do
    works run -m graphical $form chain.mtx -o form.csv b.mtx
    diff <(rows plain.csv) <(rows form.csv) || fail "the forms differ: $form"
done
works run -m graphical chain.mtx b.mtx -n 5e0 -t 1e1 --seed 3 -q -o e.csv --threads 1e0
diff <(rows plain.csv) <(rows e.csv)
for wrong in 1e-1 2.5 1e30 0x10 nan ''; do
    refuses 2 "The option 'particles' must be a whole number from 1 to 1000000000, not '$wrong'." run chain.mtx -n "$wrong"
    refuses 2 "The option '--threads' must be a whole number from 0 to 4096, not '$wrong'." run chain.mtx --threads "$wrong"
done
cp chain.mtx ./-chain.mtx
works check -- -chain.mtx

refuses 2 "Unknown option '--partcles'; did you mean '--particles'?" run chain.mtx --partcles 5
refuses 2 "Unknown option '--iter'; did you mean '--iterations'?" run chain.mtx --iter=5
refuses 2 "Unknown option '--zzz'; see 'svmp run --help'." run chain.mtx --zzz
refuses 2 "Unknown option '-z'; see 'svmp run --help'." run chain.mtx -z
refuses 2 "Unknown option '--particles'" check chain.mtx --particles 5
refuses 2 "The option '--particles' needs a value: --particles N." run chain.mtx -n
refuses 2 "The option '--output' needs a value: --output FILE." run chain.mtx --output
refuses 2 "The option '--particles' is given twice." run chain.mtx -n 5 --particles=5
refuses 2 "The option '--force' takes no value." run chain.mtx --force=yes
refuses 2 "Unknown command 'rnu'; did you mean 'run'?" rnu
refuses 2 "Unknown command 'frobnicate'; see 'svmp --help'." frobnicate
refuses 2 "Missing argument. Usage: svmp run MODEL [DATA...]." run
refuses 2 "Missing argument. Usage: svmp compare FILE REFERENCE." compare plain.csv
refuses 2 "Unexpected argument 'b'. Usage: svmp compare FILE REFERENCE." compare plain.csv plain.csv b
refuses 2 "Unexpected argument 'x'" manual x

refuses 2 "Unknown method 'nut'; did you mean 'nuts'? Available: auto, transport, graphical, " run chain.mtx -m nut
refuses 2 "Unknown method 'frobnicate'; available: auto, transport, graphical, " run chain.mtx -m frobnicate

status=0
"$SVMP" >said 2>errors || status=$?
[[ $status -eq 2 && ! -s said ]] && grep -q '^Usage: svmp COMMAND' errors
