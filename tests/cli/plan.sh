# A plan: exact where it counts, and refusals.
. "$TESTS/cli/support.bash"

# A grid of 10 x 10 in two halves: ten edges are cut, ten nodes of each half are read by the other.
works plan "$MODELS/grid.mtx" "$MODELS/grid_b.mtx" --ranks 2 -n 20
shows '^2 processes, 2 with nodes; the busiest has .* more than its share; 1[0-4] of 180 edges are cut$'
shows '^nodes of its own +50 +50$'
shows '^neighbours +1 +1$'
shows '^An iteration takes .* in one process, .* in 2: .* times as fast, .* of it in reductions\.$'
sent=$(awk '/^sent an iteration/ { print $4, $5 }' said) read=$(awk '/^nodes that it reads/ { print $6 }' said)
[[ $sent == "$(awk "BEGIN { print $read * 20 * 8 / 1000 }") kB" ]] || fail "$read nodes of 20 particles are not $sent"

# One process sends nothing; more processes than nodes leave some without.
works plan chain.mtx --ranks 1
shows '^1 process, 1 with nodes;'
shows '^An iteration takes .* in one process\.$'
shows '^sent an iteration +0 kB +0 kB$'
works plan chain.mtx --ranks 9 -m langevin
shows '^9 processes, 3 with nodes; the busiest has 2[0-9][0-9] % more than its share; 2 of 2 edges are cut'
shows '^6 of 9 processes have no nodes and would be idle\.$'

# Neither the time nor the memory of the run: of so many particles an iteration would take centuries.
works plan "$MODELS/grid.mtx" --ranks 4 -n 1e9
shows '^memory, beside the model +4e\+09 GB'
works plan chain.mtx --ranks 4096 -m combined --latency 1.5 --throughput 25
shows 'messages take 1.5 us and 1 s for 25 GB'

for ranks in 0 -1; do
    refuses 2 "The option '--ranks' is a whole number from 1 to 1000000, not '$ranks'." plan chain.mtx --ranks $ranks
done
refuses 2 "The option '--throughput' is a number" plan chain.mtx --throughput 0
refuses 2 "The method 'nuts' needs the whole model in one process." plan chain.mtx -m nuts
refuses 2 "'none' is no kernel" plan chain.mtx --kernel rbf@none
refuses 2 "The file 'no.mtx' could not be read" plan no.mtx
