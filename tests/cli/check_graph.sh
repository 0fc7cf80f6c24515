# The shape of a model, and its graph as text.
. "$TESTS/cli/support.bash"

works check chain.mtx b.mtx
shows '^nodes +3$'
shows '^variables +3$'
shows '^factors +5$'
shows '^mean Markov blanket +1\.333$'
shows '^largest Markov blanket +2$'
shows '^distinct neighbourhoods +3$'
shows '^jointly Gaussian +yes$'
refuses 2 "The file 'nowhere.mtx' could not be read" check nowhere.mtx

works graph chain.mtx
shows '^graph '
shows 'x\.3'
works graph chain.mtx --format=json
if command -v jq >/dev/null; then [[ $(jq '.factors | length' said) -eq 5 ]]; fi
cp said expected
works graph chain.mtx --format json -o graph.json
diff graph.json expected
refuses 2 "The file 'graph.json' exists already; --force overwrites it." graph chain.mtx -o graph.json
works graph chain.mtx --format json -o graph.json --force
refuses 2 "The option '--format' is dot or json, not 'png'." graph chain.mtx --format png
refuses 2 "the folder 'no/': No such file or directory." graph chain.mtx -o no/graph.dot
"$SVMP" graph chain.mtx -o /dev/stdout | cat >piped # a pipe has no path
works graph chain.mtx
cmp piped said
[[ ! -w /dev/full ]] || refuses 1 "No space left on device" graph chain.mtx -o /dev/full
[[ ! -w /dev/full || -c /dev/full ]]
