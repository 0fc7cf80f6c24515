# `svmp check` describes a model; `svmp graph` prints its graph as text.
. "$TESTS/cli/support.bash"

works check chain.mtx b.mtx
shows '^nodes +3$'
shows '^variables +3$'
shows '^factors +5$'
shows '^mean Markov blanket +1\.333$'
shows '^largest Markov blanket +2$'
shows '^distinct neighbourhoods +3$'
shows '^jointly Gaussian +yes$'
refuses 2 "Cannot read 'nowhere.mtx'" check nowhere.mtx

works graph chain.mtx
shows '^graph '
shows 'x\.3'
works graph chain.mtx --format=json
if command -v jq >/dev/null; then [[ $(jq '.factors | length' said) -eq 5 ]]; fi
cp said expected
works graph chain.mtx --format json -o graph.json
diff graph.json expected
refuses 2 "The file 'graph.json' already exists; use --force to overwrite it." graph chain.mtx -o graph.json
works graph chain.mtx --format json -o graph.json --force
refuses 2 "The option '--format' must be dot or json, not 'png'." graph chain.mtx --format png
refuses 2 "folder 'no/': No such file or directory." graph chain.mtx -o no/graph.dot
if command -v dot >/dev/null; then
    works graph chain.mtx -o graph.png
    [[ $(head -c 4 graph.png | tail -c 3) == PNG ]] || fail "graph.png is no picture"
    works graph chain.mtx -o graph.svg
    grep -q '<svg' graph.svg
    refuses 2 "The file 'graph.png' already exists; use --force to overwrite it." graph chain.mtx -o graph.png
fi
mkdir nothing
(PATH=$PWD/nothing; refused() { "$SVMP" graph chain.mtx -o other.png 2>words; }; ! refused)
grep -qxF "svmp: Cannot draw 'other.png': Graphviz is not installed (Debian: graphviz). -o FILE.dot writes its input instead." words ||
    fail "$(cat words)"
[[ ! -e other.png ]]
refuses 2 "The option '--format' does not apply to 'new.png', a picture." graph chain.mtx -o new.png --format json
"$SVMP" graph chain.mtx -o /dev/stdout | cat >piped # a pipe has no path
works graph chain.mtx
cmp piped said
[[ ! -w /dev/full ]] || refuses 1 "No space left on device" graph chain.mtx -o /dev/full
[[ ! -w /dev/full || -c /dev/full ]]

# Lists which variables of a model are unknown, missing in the data, observed, and computed.
cat >text.bug <<'END'
model {
  for (i in 1:30) { y[i] ~ dnorm(mu, tau) }
  for (i in 1:2) { for (j in 1:2) { z[i,j] ~ dnorm(mu, 1); twice[i,j] <- 2 * z[i,j] } }
  mu ~ dnorm(0, 1)
  tau ~ dgamma(1, 1)
  sigma <- 1 / sqrt(tau)
  four <- 4
}
END
echo "y <- c(1, NA, 2, NA, $(seq -s, 24), NA, 5)" >text.R
echo 'z <- structure(c(1, NA, NA, 2), .Dim = c(2, 2))' >>text.R
works check text.bug text.R
shows '^NA in the data +y\[2\], y\[4\], y\[29\], z\[1,2\], z\[2,1\]$'
shows '^computed \(--monitor\) +twice\[1:2,1:2\] \(2 of 4\), sigma$'
shows '^observed +y\[1:30\] \(27 of 30\), z\[1:2,1:2\] \(2 of 4\)$'
echo "y <- c(1, $(for i in {1..28}; do printf 'NA, '; done) 5)" >text.R
works check text.bug text.R
! grep -q '^NA in' said # y[2:29] already shows it
