# `svmp plan`: exact counts of work, messages and memory, and refusals.
. "$TESTS/cli/support.bash"

# A grid of 10 x 10 in two halves: ten edges are cut, and each half reads ten nodes of the other.
works plan "$MODELS/grid.mtx" "$MODELS/grid_b.mtx" --ranks 2 -n 20
shows '^graphical: 2 processes, 2 with nodes; the busiest has .* more work than average; 1[0-4] of 180 edges cut$'
shows '^own nodes +50 +50$'
shows '^neighbouring processes +1 +1$'
shows '^An iteration takes .* in one process, .* in 2 processes: .* times as (fast|slow), with .* spent in reductions\.$'
sent=$(awk '/^sent per iteration/ { print $4, $5 }' said) read=$(awk '/^nodes read from others/ { print $6 }' said)
[[ $sent == "$(awk "BEGIN { print $read * 20 * 8 / 1000 }") kB" ]] || fail "$read nodes of 20 particles are not $sent"

# One process sends nothing; with more processes than nodes some have no node.
works plan chain.mtx --ranks 1
shows '^graphical: 1 process, 1 with nodes;'
shows '^An iteration takes .* in one process\.$'
shows '^sent per iteration +0 kB +0 kB$'
works plan chain.mtx --ranks 9 -m langevin
shows '^langevin: 9 processes, 3 with nodes; the busiest has 2[0-9][0-9] % more work than average; 2 of 2 edges cut'
shows '^6 of 9 processes have no nodes and would be idle\.$'

# Messages and reductions, to the last digit, on a network so slow that computing time is negligible. The middle process
# of the chain has two neighbours; with 3 processes a reduction goes up and down in 2 steps, and there are 2 reductions.
works plan chain.mtx --ranks 3 -n 2 --latency 1e6
shows '^time for messages +1\.33 s +2 s$'
shows ' in one process, 10 s in 3 processes: .*, with 8 s spent in reductions\.$'
# A kernel on all variables reduces n numbers and half of n^2 more; a linear kernel reduces n^2, or n per variable if
# there are fewer variables than particles. Each takes twice 8 bytes at a gigabyte a second, and the other reductions
# 0.256 us.
works plan "$MODELS/grid.mtx" --ranks 2 -n 100 --latency 0 --throughput 1 -m vanilla
shows ', with 81\.9 us spent in reductions\.$'
works plan "$MODELS/grid.mtx" --ranks 2 -n 100 --latency 0 --throughput 1 -m graphical --kernel linear@all
shows ', with 162 us spent in reductions\.$'
works plan chain.mtx --ranks 2 -n 1000 --latency 0 --throughput 1 -m graphical --kernel linear@all
shows ', with 48\.3 us spent in reductions\.$'

# Memory of a linear kernel, which needs only rows of particles: x, score, phi, the state of the step and x minus its
# mean, and two more for the final discrepancy; for 100 variables, or for 50 and the halo, plus the messages.
memory() { awk '/^memory \(without program\)/ { print $4, $5 }' said; }
works plan "$MODELS/grid.mtx" --ranks 1 -n 1e6 -m graphical --kernel linear@blanket
[[ $(memory) == "5.6 GB" ]] || fail "7 rows of 8 MB for 100 variables are not $(memory)"
works plan "$MODELS/grid.mtx" --ranks 1 -n 1e6 -m graphical --kernel linear@blanket --step adam:0.1
[[ $(memory) == "6.4 GB" ]] || fail "8 rows of 8 MB for 100 variables are not $(memory)"
works plan "$MODELS/grid.mtx" --ranks 2 -n 1e6 -m graphical --kernel linear@blanket
read=$(awk '/^nodes read from others/ { print $6 }' said) sent=$(awk '/^sent per iteration/ { print $6 }' said)
expected=$(awk "BEGIN { printf \"%.3g GB\", 8e-3 * 7 * (50 + $read) + 1e-3 * $sent }")
[[ $(memory) == "$expected" ]] || fail "7 rows of 8 MB for 50 + $read variables and $sent MB are $expected, not $(memory)"
# Memory grows with the particles.
last=0
for n in 10 30 90; do
    works plan "$MODELS/grid.mtx" --ranks 2 -n $n
    now=$(memory | awk '{ print $1 * ($2 == "GB" ? 1e9 : $2 == "MB" ? 1e6 : 1e3) }')
    awk "BEGIN { exit !($now > $last) }" || fail "$n particles take $now bytes, fewer take $last"
    last=$now
done

# The centre of a star: with 64 processes one has only the centre, which is 832 of 15196 units of work; with 4 all have
# equal work.
{
    printf '%%%%MatrixMarket matrix coordinate real symmetric\n400 400 799\n1 1 400\n'
    for node in {2..400}; do printf '%d 1 -0.5\n%d %d 2\n' $node $node $node; done
} >star.mtx
works plan star.mtx --ranks 64 -n 10
shows '^graphical: 64 processes, 64 with nodes; the busiest has 250 % more work than average; 399 of 399 edges cut$'
shows '^x\.1 alone has 5.5 % of all work, which limits the speed: more than 19 processes gain nothing and may be slower\.$'
works plan star.mtx --ranks 4 -n 10
shows '^graphical: 4 processes, 4 with nodes; the busiest has [0-9](\.[0-9]+)? % more work than average'
! grep -q 'limits the speed' said || fail "a node of less than a share bounds nothing: $(cat said)"

# The plan itself takes neither the time nor the memory of the run, here centuries per iteration.
works plan "$MODELS/grid.mtx" --ranks 4 -n 1e9 -m langevin
shows '^memory \(without program\) +1\.2e\+03 GB'
works plan chain.mtx --ranks 4096 -m combined --latency 1.5 --throughput 25
shows '^latency of 1.5 us .--latency. and a throughput of 25 GB/s .--throughput.\.$'

for ranks in 0 -1; do
    refuses 2 "The option '--ranks' must be a whole number from 1 to 1000000, not '$ranks'." plan chain.mtx --ranks $ranks
done
refuses 2 "The option '--throughput' must be a number" plan chain.mtx --throughput 0
refuses 2 "The method 'dpmp' needs the whole model in one process." plan chain.mtx -m dpmp

# By chains every process has everything, and more of them than chains are idle.
for ranks in 2 9; do
    works plan chain.mtx --ranks $ranks -m nuts
    shows "^nuts by chains: $ranks processes, .*; $((ranks < 4 ? ranks : 4)) share the chains, the busiest has 0 % more than"
    shows '^average; memory of a process: [0-9.]+ [kM]B, and up to [0-9.]+ MB to read the model$'
done
works plan "$MODELS/grid.mtx" --ranks 3
shows '^transport by chains: 3 processes, .*; 3 share the chains, the busiest has 2 % more than$'
shows '^graphical: 3 processes, 3 with nodes;'
refuses 2 "Unknown kernel domain 'none'" plan chain.mtx --kernel rbf@none
refuses 2 "Cannot read 'no.mtx'" plan no.mtx
