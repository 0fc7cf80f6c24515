# The three forms of progress; which variables of a result are written.
. "$TESTS/cli/support.bash"

"$SVMP" run -m graphical chain.mtx -n 5 -t 20 --progress json >said 2>errors
[[ $(wc -l <errors) -eq 2 ]] || fail "$(cat errors)" # a short run prints only its end and its verdict
grep -qxF '{"verdict": "not examined", "clear": false, "sentence": "Fewer than 10 particles: too few to judge convergence.", "advice": "Use more particles (-n 100)."}' errors || fail "$(cat errors)"
grep -qE '^\{"iteration": 20, "iterations": 20, "seconds": [0-9.e-]+, "rate": [0-9.e+]+, "left": 0, "largest_phi": [0-9.e-]+, "step_size": 1, "divergences": 0, "largest": [0-9.e-]+, "largest_of": "\|phi\|"\}$' errors || fail "$(cat errors)"
"$SVMP" run chain.mtx -m nuts --warmup 20 --draws 20 --progress json >said 2>errors
grep -q '"iteration": 40, .*"largest_phi": null, "step_size": [0-9.]*, "divergences": [0-9]*, "largest": null, "largest_of": null}$' errors || fail "$(cat errors)"
"$SVMP" run chain.mtx -m mala -n 5 -t 20 --progress json >said 2>errors
grep -q '"largest_phi": null, .*"largest": [0-9.]*, "largest_of": "|score|"}$' errors || fail "$(cat errors)"
"$SVMP" run chain.mtx -m tpmp -n 5 -t 3 --progress json >said 2>errors
grep -q '"largest_phi": null, .*"largest_of": "change of a message"}$' errors || fail "$(cat errors)"
if command -v python3 >/dev/null; then
    "$SVMP" run -m graphical chain.mtx b.mtx -n 100 -t 100000000 --progress json >said 2>errors &
    sleep 2.5
    kill -TERM $!
    wait $! || true
    python3 - <<'PYTHON'
import json
lines = [json.loads(line) for line in open("errors") if line.startswith("{")]
assert "verdict" in lines.pop()
assert len(lines) >= 2, lines
assert all(a["iteration"] <= b["iteration"] for a, b in zip(lines, lines[1:]))
PYTHON
fi
works run -m graphical chain.mtx -n 5 -t 20 --progress none
works run -m graphical chain.mtx -n 5 -t 20 --progress json --quiet
works run -m graphical chain.mtx -n 5 -t 20 --progress auto
refuses 2 "The option '--progress' must be auto, json or none, not 'loud'." run chain.mtx --progress loud

# Variables and arrays by name, in the model's order; the summary shows all.
nuts=(run chain.mtx b.mtx -m nuts --warmup 50 --draws 20 --chains 2)
works "${nuts[@]}" -o all.csv
works "${nuts[@]}" -o some.csv --save x.3,x.1
shows '^x\.2 '
[[ $(rows some.csv | head -1) == "$(rows all.csv | head -1 | sed 's/x.1,x.2,x.3/x_1,x_3/')" ]] # not a whole array
diff <(rows some.csv | tail -n +2) <(rows all.csv | tail -n +2 | cut -d, -f1-9,11)
works summary some.csv
shows '^x\.3 '
works "${nuts[@]}" -o array.csv --save x
diff <(rows array.csv) <(rows all.csv)
works "${nuts[@]}" -o thin.csv --thin 10
diff <(rows thin.csv) <(rows all.csv | sed -n '1p;11p;21p;31p;41p')
works summary thin.csv
shows '^2 chains of 2 draws'
refuses 2 "Unknown variable 'y' in the model, which has 3 variables, 'x.1' to 'x.3'." "${nuts[@]}" -o a.csv --save x.1,y
printf 'model { x ~ dnorm(0, 1); theta <- x + 1 }' >computed.bug
refuses 2 "'theta' is a deterministic node: add --monitor theta." run computed.bug -n 5 -t 5 -o a.csv --save x,theta
refuses 2 "Unknown variable '' in the model" "${nuts[@]}" -o a.csv --save x.1,
refuses 2 "The option '--save' needs '--output'." "${nuts[@]}" --save x
refuses 2 "The method 'transport' does not take --thin" run chain.mtx --thin 2 -o a.csv
refuses 2 "The option '--thin' must be a whole number from 1 to 20, the draws per chain, not '0'." "${nuts[@]}" --thin 0 -o a.csv
refuses 2 "The option '--thin' must be a whole number from 1 to 20, the draws per chain, not '21'." "${nuts[@]}" --thin 21 -o a.csv

# --split: a file for each chain, also of a run that is stopped early.
works "${nuts[@]}" -o part.csv --split --save x.2
[[ $(rows part_2.csv | head -1) == lp__,accept_stat__,stepsize__,treedepth__,n_leapfrog__,divergent__,energy__,x_2 ]]
diff <(rows part_2.csv | tail -n +2 | cut -d, -f8) <(rows all.csv | tail -n 20 | cut -d, -f10)
set -m # jobs in the background shall not ignore SIGINT
"$SVMP" run chain.mtx -m nuts --warmup 0 --draws 10000000 --chains 2 --split -o stopped.csv >said 2>errors &
listening $!
sleep 0.1
kill -TERM $!
status=0
wait $! || status=$?
[[ $status -eq 130 && $(rows stopped_1.csv | wc -l) -ge 2 && $(rows stopped_2.csv | wc -l) -ge 2 ]] || fail "exit $status: $(cat errors)"
