# Agents over UDP have the bits of one process, whatever is lost, late, damaged or killed; bad input gives a sentence
# with the name of the agent.
. "$TESTS/cli/support.bash"
"$SVMP" --version | grep -qx 'sodium: yes' || { echo "skipped: this build has no libsodium" && exit 77; }

cat >positions.bug <<'END'
model {
  for (i in 1:4) { x[i,1] ~ dunif(0, 10)  x[i,2] ~ dunif(0, 10) }
  for (k in 1:length(r)) {
    r[k] ~ dnorm(sqrt(pow(x[from[k],1] - x[to[k],1], 2) + pow(x[from[k],2] - x[to[k],2], 2)), 25)
  }
  for (k in 1:length(s)) { s[k] ~ dnorm(sqrt(pow(x[of[k],1] - px[k], 2) + pow(x[of[k],2] - py[k], 2)), 25) }
}
END
cat >positions.R <<'END'
from <- c(1, 2, 3)
to <- c(2, 3, 4)
r <- c(3.1, 2.9, 4.2)
of <- c(1, 1, 2, 3, 4, 4)
s <- c(3.5, 6.2, 5.1, 4.9, 3.0, 5.8)
px <- c(0, 10, 10, 0, 10, 5)
py <- c(0, 0, 0, 10, 10, 10)
END
printf 'node,agent\n"x[1,*",anna\n"x[2,*",bert\n"x[3,*",carl\n*,dora\n' >groups.csv
plan=(agents plan positions.bug positions.R --groups groups.csv -n 20 -t 300)
works "${plan[@]}" -o swarm
works run positions.bug positions.R -m local -n 20 -t 300 --verify no -o one.csv

# The numbers of a file of particles.
numbers() { grep -v '^#' "$1"; }

for network in "" "--loss 10 --twice 30 --damage 10 --jitter 3" "--loss 30 --kill 3" "--loss 50 --burst 5 --delay 1" \
    "--loss 20 --keepers 2 --every 200 --lose 2 --kill 1" "--every 1 --kill 1"; do
    "$SVMP" agents try swarm $network >said 2>notes || fail "agents try $network: $(cat notes)"
    grep -qF 'are those of one process, bit for bit' said || fail "agents try $network: $(cat said)"
    works agents join swarm/try/*.out -o joined.csv -f
    diff <(numbers one.csv) <(numbers joined.csv) >differences || fail "the joined file differs: $(head -4 differences)"
done
works summary joined.csv
grep -q '^x.4.2 ' said || fail "summary: $(cat said)"
works compare one.csv joined.csv
works verify joined.csv positions.bug positions.R

# Other methods, divided by svmp itself.
works agents plan positions.bug positions.R -m graphical --agents 3 -n 12 -t 60 -o graphical
works agents try graphical --loss 20 --kill 1
works agents try graphical --loss 90

# Encrypted: the same bits, and keys that say so.
works "${plan[@]}" --encrypt -o secret
grep -qx "encrypt yes" secret/anna.key && ! grep -q encrypt swarm/anna.key || fail "the keys do not say what is encrypted"
works agents try secret --loss 20 --damage 10 --kill 2
works agents join secret/try/*.out -o joined.csv -f
diff <(numbers one.csv) <(numbers joined.csv) >differences || fail "encrypted: the joined file differs: $(head -4 differences)"

# All stop together: at the same iteration, whatever is lost, once the averages of all have settled; or after a time.
done_after() { sed -n 's/^# iterations done = //p' joined.csv; }
works agents plan positions.bug positions.R --groups groups.csv -n 20 -t 4000 --warmup 100 --until-settled --init gaussian -o settling
for network in "" "--loss 20 --kill 1"; do
    works agents try settling $network
    works agents join settling/try/*.out -o joined.csv -f
    grep -qx '# outcome = stopped' joined.csv || fail "not stopped: $(grep '^# ' joined.csv)"
    [[ $network == "" ]] && settled=$(done_after)
    [[ $(done_after) == "$settled" && $settled -lt 4000 ]] || fail "stopped after $(done_after), not $settled"
done
works summary joined.csv
grep -q '^The chains have mixed' said || fail "not settled: $(cat said)"
works agents try settling --time 0.3 --loss 10
works agents join settling/try/*.out -o joined.csv -f
[[ $(done_after) -lt $settled ]] || fail "--time: stopped after $(done_after)"
refuses 2 "Only the method 'local' can stop when averages have settled" \
    agents plan positions.bug positions.R -m graphical --until-settled -o none
printf 'model { a ~ dnorm(0, 1)  b ~ dnorm(0, 1) }\n' >apart.bug
refuses 2 "Some agents are not connected" agents plan apart.bug --agents 2 --until-settled -o none

# A folder is lost, and nobody keeps the state: a sentence, and an end. A state that is damaged is given back.
mkdir lost
cp swarm/*.* lost
! "$SVMP" agents try lost --lose 1 >said 2>&1 || fail "a lost state is not missed"
grep -qE "has lost its state: it asks for round 1, but|another process runs as" said || fail "a lost state: $(cat said)"

# A part has nothing of the data of others: the range of 6.2 is anna's alone.
works agents plan positions.bug positions.R --groups groups.csv -o other
bytes() { od -An -v -tx1 "$1" | tr -d ' \n'; }
bytes swarm/anna.part | grep -q cdcccccccccc1840 || fail "anna does not know her range"
! bytes swarm/carl.part | grep -q cdcccccccccc1840 || fail "carl knows anna's range"
grep -q 'x\[3,1\]' swarm/carl.part && ! grep -q 'x\[1,1\]' swarm/carl.part || fail "carl knows other nodes"

# Bad input.
refuses 2 "has a plan already" "${plan[@]}" -o swarm
refuses 2 "needs the whole model; agents run 'local'" "${plan[@]}" -m nuts -o none
refuses 2 "the model has no node 'y'" agents plan positions.bug positions.R --groups <(printf 'node,agent\ny,a\n') -o none
refuses 2 "has no agent for 6 of the 8 nodes; the first is 'x[2,1]'" \
    agents plan positions.bug positions.R --groups <(printf 'node,agent\n"x[1,*",a\n') -o none
refuses 2 "Agent 'anna': the key file 'other/anna.key' is of another plan" agent swarm/anna.part --key other/anna.key
refuses 2 "'swarm/bert.key' is the key file of agent 'bert', not of 'anna'" agent swarm/anna.part --key swarm/bert.key
mkdir here # which an agent makes before it reads the hosts
refuses 2 "does not have agent 'anna'" agent swarm/anna.part --state here --peers <(printf 'agent,host,port\nbert,127.0.0.1,1\n')
[[ -e here/lock && ! -e here/boot ]] || fail "a start without addresses is counted"
refuses 2 "The option '--every' must be a whole number from 1 to 65535" agent swarm/anna.part --state here --every 65536
head -c 3000 swarm/anna.part >short.part
refuses 2 "The part file 'short.part' is damaged" agent short.part
sed 's/svmp part 1/svmp part 9/' swarm/anna.part >new.part
refuses 2 "'new.part' is not a part file of this version of svmp" agent new.part
refuses 2 "are both of agent 'anna'" agents join swarm/try/{anna,anna,carl,dora}.out -o none.csv
refuses 2 "The run has 4 agents, but 3 outputs were given" agents join swarm/try/{anna,bert,carl}.out -o none.csv
refuses 2 "is not the folder of a plan" agents try .

# eventually COMMAND...: within a minute it succeeds.
eventually() {
    local attempt
    for ((attempt = 0; attempt < 600; attempt++)); do "$@" && return || sleep 0.1; done
    return 1
}

# Two processes of one agent: the second one finds the first at work.
port=$((20000 + $$ % 20000))
printf 'agent,host,port\nanna,127.0.0.1,%d\nbert,127.0.0.1,%d\ncarl,127.0.0.1,%d\ndora,127.0.0.1,%d\n' \
    $port $((port + 1)) $((port + 2)) $((port + 3)) >hosts.csv
background=()
trap 'for p in "${background[@]}"; do kill -KILL $p 2>/dev/null || true; done' EXIT
agent() { exec "$SVMP" agent $1.part --peers hosts.csv --state state.$(basename $1).$2 -o $(basename $1).out "${@:3}"; }
printf '4294967295\n' >here/boot
refuses 1 "Agent 'anna' has been started too often" agent swarm/anna.part --peers hosts.csv --state here
printf '12' >here/boot
refuses 1 "Agent 'anna': the file 'here/boot' is damaged" agent swarm/anna.part --peers hosts.csv --state here
mkdir state.anna.1
touch state.anna.1/state.77.new # of a process that was killed
agent swarm/anna 1 2>first &
background+=($!)
eventually test -e state.anna.1/boot || fail "anna does not start: $(cat first)"
[[ ! -e state.anna.1/state.77.new ]] || fail "what a killed process was writing is kept"
refuses 1 "Agent 'anna': another process uses the state folder" agent swarm/anna.part --peers hosts.csv --state state.anna.1
"$SVMP" agent swarm/anna.part --peers hosts.csv --state state.anna.2 2>errors && fail "two agents of one name"
grep -qF "Agent 'anna': port $port is in use" errors || fail "$(cat errors)"

# Parts of different plans find nothing to say to each other, and say so.
"$SVMP" agent other/bert.part --peers hosts.csv --state state.bert.9 2>errors &
stranger=$!
eventually grep -q "another plan" errors || true
kill -KILL $stranger
wait $stranger 2>/dev/null || true
grep -qF "Agent 'bert': datagrams of another plan come, as from agent 'anna'" errors || fail "parts of two plans: $(cat errors)"

# Addresses of IPv6 and IPv4.
if [[ -s /proc/net/if_inet6 ]]; then
    printf 'agent,host,port\nanna,::1,%d\nbert,::1,%d\ncarl,127.0.0.1,%d\ndora,localhost,%d\n' \
        $((port + 4)) $((port + 5)) $((port + 6)) $((port + 7)) >six.csv
    for name in anna bert carl dora; do
        "$SVMP" agent swarm/$name.part --peers six.csv --state six.$name -o six.$name.out &
        background+=($!)
    done
    for p in "${background[@]:1}"; do wait $p || fail "an agent on IPv6 failed"; done
    background=("${background[0]}")
    works agents join six.{anna,bert,carl,dora}.out -o joined.csv -f
    diff <(numbers one.csv) <(numbers joined.csv) >differences || fail "IPv6: the joined file differs: $(head -4 differences)"
fi

# The others come, and all end; the status on SIGUSR1. The disk of one is full at first: it waits, and so do the others.
kill -USR1 ${background[0]}
eventually grep -q "waits for" first || fail "no status: $(cat first)"
for name in bert carl; do
    agent swarm/$name 1 --report 0.001 >$name.json &
    background+=($!)
done
(ulimit -f 2 && agent swarm/dora 1 2>full) &
full=$!
eventually grep -q "cannot write its state" full || true
grep -qF "Agent 'dora': cannot write its state: Cannot write 'state.dora.1/state': File too large." full ||
    fail "a full disk: $(cat full)"
kill -KILL $full
wait $full 2>/dev/null || true
agent swarm/dora 1 &
background+=($!)
for p in "${background[@]}"; do wait $p || fail "an agent failed: $(cat first)"; done
background=()
grep -qE "Agent 'anna': round [0-9]+, .* waits for bert" first || fail "no status: $(cat first)"
grep -qE '^\{"agent": "bert", "round": [0-9]+, .*"neighbours": \[\{"agent": "anna", "awaited": ' bert.json ||
    fail "no JSON: $(head -1 bert.json)"
works agents join {anna,bert,carl,dora}.out -o joined.csv -f
diff <(numbers one.csv) <(numbers joined.csv) >differences || fail "the joined file differs: $(head -4 differences)"
[[ $(stat -c %a swarm/anna.key) == 600 ]] || fail "everybody can read the keys"

# Different --every: all stop, and say why, instead of waiting for states that nobody writes.
for name in bert carl dora anna; do
    [[ $name == anna ]] && every=10 || every=64
    agent swarm/$name every --every $every 2>$name.stops &
    background+=($!)
    eventually test -e state.$name.every/boot || fail "$name does not start: $(cat $name.stops)"
done
for p in "${background[@]}"; do
    status=0
    wait $p || status=$?
    [[ $status -eq 1 ]] || fail "--every 10 and 64: exit $status: $(cat *.stops)"
done
background=()
for name in anna bert carl dora; do
    grep -qE "Agent '$name': agent '.*' was started with --every [0-9]+, but agent '.*' with --every [0-9]+\. All agents stop" $name.stops ||
        fail "--every 10 and 64: $name says $(cat $name.stops)"
done

# An agent that has spent its budget sleeps until it may send again.
agent swarm/anna budget --budget 1 &
background+=($!)
agent swarm/bert budget &
background+=($!)
ticks() { awk '{ sub(/.*\) /, ""); print $12 + $13 }' /proc/${background[0]}/stat; } # hundredths of a second
eventually test -e state.anna.budget/boot -a -e state.bert.budget/boot || fail "no start with a budget"
sleep 1
began=$(ticks)
sleep 2
used=$(($(ticks) - began))
((used < 100)) || fail "an agent that may not send uses $used % of two seconds"
