#!/bin/bash
# soak_agents.sh SVMP MINUTES [SEED]: trials of agents, one after another, through random networks with random kills and
# lost state folders. Each must end with the bits of one process. Prints one line for every finding and keeps its folder;
# exit 1 if there is one. `make soak-agents` runs it.
set -u
svmp=$(realpath "$1")
minutes=$2
RANDOM=${3:-1}
example=$(cd "$(dirname "$0")/../../examples/agents" && pwd)/ranges.bug
work=$(mktemp -d)
cd "$work" || exit 1
findings=0
trials=0
kills=0
losses=0

# between LOW HIGH: a random number.
between() { echo $(($1 + RANDOM % ($2 - $1 + 1))); }

# one_of WORD...
one_of() { local -a words=("$@") && echo "${words[RANDOM % $#]}"; }

# plan SEED SENSORS AGENTS OPTION...: a plan for sensors at random places.
plan() {
    awk -v seed="$1" -v n="$2" 'BEGIN {
        srand(seed)
        for (i = 1; i <= n; i++) { x[i] = 100 * rand(); y[i] = 100 * rand() }
        for (i = 1; i <= n; i++) for (j = 1; j < i; j++) if ((d = sqrt((x[i] - x[j])^2 + (y[i] - y[j])^2)) < 60) { a = a "," i; b = b "," j; r = r "," d }
        for (i = 1; i <= n; i++) for (p = 0; p < 4; p++) {
            qx = 100 * (p % 2); qy = 100 * int(p / 2)
            c = c "," i; px = px "," qx; py = py "," qy; s = s "," sqrt((x[i] - qx)^2 + (y[i] - qy)^2)
        }
        printf "N <- %d\na <- c(%s)\nb <- c(%s)\nr <- c(%s)\n", n, substr(a, 2), substr(b, 2), substr(r, 2)
        printf "c <- c(%s)\npx <- c(%s)\npy <- c(%s)\ns <- c(%s)\n", substr(c, 2), substr(px, 2), substr(py, 2), substr(s, 2)
    }' >ranges.R
    "$svmp" agents plan "$example" ranges.R --agents "$3" "${@:4}" -o swarm -f >/dev/null 2>errors
}

until ((SECONDS >= 60 * minutes)); do
    trials=$((trials + 1))
    rm -rf swarm
    agents=$(between 2 5)
    method=$(one_of local local graphical)
    extra=$(one_of "" "--encrypt")
    [[ $method == local ]] && extra="$extra $(one_of "" "--until-settled")"
    killed=$(between 0 3)
    lost=$(one_of 0 0 1 2)
    network="--loss $(between 0 60) --damage $(between 0 20) --twice $(between 0 20) --jitter $(between 0 4) --kill $killed --every $(one_of 16 64 200)"
    ((lost == 0)) || network="$network --lose $lost --keepers 2"
    [[ $method == local && $extra != *settled* ]] && network="$network --time $(one_of 0 0 2)"
    # shellcheck disable=SC2086
    plan $trials "$(between 6 10)" "$agents" -m $method -n "$(between 4 30)" -t "$(between 50 200)" --init gaussian $extra || {
        findings=$((findings + 1))
        echo "FINDING $findings: plan $extra: $(cat errors)"
        continue
    }
    # shellcheck disable=SC2086
    timeout 300 "$svmp" agents try swarm $network >said 2>errors
    status=$?
    kills=$((kills + killed + lost))
    losses=$((losses + lost))
    if ((status != 0)) || ! grep -q 'are those of one process, bit for bit' said; then
        findings=$((findings + 1))
        echo "FINDING $findings: $agents agents, $method $extra, try $network: exit $status: $(tail -2 errors)"
        cp -r swarm "kept.$findings"
    fi
done
echo "$trials trials, $kills kills, $losses of them with the state folder: $findings findings"
((findings == 0)) && rm -rf "$work" && exit 0
echo "kept: $work"
exit 1
