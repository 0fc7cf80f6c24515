# Models with several modes, whose truth is known by quadrature: few wrong answers pass, of heavy tails, and most right ones do. The
# whole catalogue: bench/verdict/run.
. "$TESTS/cli/support.bash"
python=$(python_with_pytest) || true
[[ -n $python ]] || { echo "skipped: there is no python3 with numpy and pytest, or the build has sanitizers" && exit 77; }
"$python" "$TESTS/../bench/verdict/run" --short --svmp "$SVMP" >table.txt || { cat table.txt && exit 1; }
tail -n 1 table.txt
passed=$(tail -n 1 table.txt | grep -o '[0-9]* right, passed' | cut -d ' ' -f 1)
refused=$(tail -n 1 table.txt | grep -o '[0-9]* right, refused' | cut -d ' ' -f 1)
((passed > 30 && passed >= 4 * ${refused:-0})) || { cat table.txt && exit 1; }

# A verdict that passes names the modes, with the masses of the chains; one of NUTS, which misses one, fails.
printf 'model { x ~ dnorm(0.5, 1)\n y ~ dnorm(x^2, 100) }\n' >square.bug
echo 'y <- 4' >square.R
"$SVMP" run square.bug square.R --threads 1 >two.txt
tr '\n' ' ' <two.txt | grep -qE 'several modes: x near 2 \(8[78] % of the mass, \+- 0\.[0-9] %\), x near -2 \(1[23] %'
tr '\n' ' ' <two.txt | grep -qE '[0-9]+ starts in 5 ways ended in 2 modes; narrow ones may be missed\.'
"$SVMP" run square.bug square.R -m nuts -q --threads 1 >one.txt
tr '\n' ' ' <one.txt | grep -qE 'Failed: .*x \(a mode with 12 % of the mass is .* sd away'
