# A report page is self-contained, shows the numbers of `svmp summary`, and no name can break it.
. "$TESTS/cli/support.bash"
printf 'x,y\n1,2\n3,4\n' >two.csv
if "$SVMP" --version | grep -q '^d3: no'; then
    refuses 2 "This build cannot write reports: it was built without D3 (Debian: node-d3)." report two.csv -o two.html
    echo "skipped: this build has no D3 (node-d3)" && exit 77
fi

# the data, one row per variable
cells() { sed -n '/"cells":\[/,/\]/p' "$1" | sed 1d | tr -d '"]' | tr ',' ' ' | sed 's/ *$//'; }
numbers() { "$SVMP" summary "$@" | awk '/^variable/ { t = 1; next } t && NF == 0 { exit } t { $1 = ""; print substr($0, 2) }'; }

works run -m graphical "$MODELS/grid.mtx" "$MODELS/grid_b.mtx" -n 20 -t 30 -q -o grid.csv
works report grid.csv "$MODELS/grid.mtx" "$MODELS/grid_b.mtx" -o grid.html
shows '^grid.html: 100 variables, [0-9.]+ MB$'
[[ $(numbers grid.csv --variables x | wc -l) -eq 100 ]]
diff <(numbers grid.csv --variables x) <(cells grid.html) || fail "the numbers are not those of summary"
works run chain.mtx b.mtx -m nuts --warmup 50 --draws 50 --chains 2 -q -o chains.csv
works report chains.csv chain.mtx -o chains.html
diff <(numbers chains.csv) <(cells chains.html) || fail "the numbers of chains are not those of summary"
grep -qF '"R-hat","bulk ESS","tail ESS"]' chains.html
grep -q '"method = graphical"' grid.html || fail "the configuration is not in the page"
works check "$MODELS/grid.mtx" "$MODELS/grid_b.mtx"
grep -qF "[\"factors\",\"$(awk '/^factors/ { print $2 }' said)\"]" grid.html
grep -qF "[\"mean Markov blanket\",\"$(awk '/^mean/ { print $4 }' said)\"]" grid.html

# one file: nothing is loaded, and the content security policy forbids it
grep -q "Content-Security-Policy\" content=\"default-src 'none'" grid.html
loads='(src|href|action)=["'\'']?(https?:)?//|@import|url\( *["'\'']?(https?:)?//|importScripts|<(iframe|embed|object)'
! grep -nE "$loads" grid.html | cut -c1-200 | grep . || fail "the page loads something"

# names are text, whatever they contain
ends() { grep -o '</script' "$1" | wc -l; }
printf '# </script><script>broken()</script>\n# <!--<script> = &amp;\n</script><b>,<!--<script>,a\\u003cb\n1,2,3\n2,3,5\n' >hostile.csv
works report hostile.csv -o hostile.html
[[ $(ends hostile.html) -eq $(ends grid.html) ]] || fail "a name ends the script"
[[ $(grep -c '<!--' hostile.html) -eq $(grep -c '<!--' grid.html) ]] || fail "a name begins a comment"
diff <(numbers hostile.csv) <(cells hostile.html)

# overwritten only with --force, and never in part
refuses 2 "An output file is needed: svmp report two.csv -o FILE.html." report two.csv
refuses 2 "The output file 'two.txt' must end in .html." report two.csv -o two.txt
refuses 2 "The file 'grid.html' already exists; use --force to overwrite it." report two.csv -o grid.html
refuses 2 "folder 'no/such/': No such file or directory." report two.csv -o no/such/out.html
works report two.csv -o grid.html --force
[[ $(cells grid.html | wc -l) -eq 2 ]]
[[ ! -w /dev/full ]] || { ln -s /dev/full full.html && refuses 1 "No space left on device" report two.csv -o full.html; }

# many variables: scalars first, a plot of every larger array, and evenly spaced elements of arrays
cat >field.bug <<'END'
model {
  for (i in 1:80) {
    for (j in 1:90) { u[i,j] ~ dnorm(mu, tau) }
    w[i] ~ dnorm(0, 1)
  }
  mu ~ dnorm(0, 1)
  tau ~ dgamma(2, 2)
}
END
cat >shares.bug <<'END'
model { x[1:3] ~ dmulti(p[], 12); p[1:3] ~ ddirch(a[]) }
END
echo '{"x": [3, 4, 5], "a": [1, 1, 1]}' >shares.json
works run -m graphical shares.bug shares.json -n 12 -t 3 -q --verify no -o shares.csv # elements that are not variables
works report shares.csv shares.bug shares.json -o shares.html
shows '^shares.html: 3 variables, [0-9.]+ MB$'
works run -m graphical field.bug -n 12 -t 3 -q --threads 2 --verify no -o field.csv
works report field.csv field.bug -o field.html
shows '^field.html: 7282 variables, [0-9.]+ MB$'
[[ $(wc -c <field.html) -lt 3000000 ]] || fail "the page has $(wc -c <field.html) bytes"
grep -qF '"all":7282,"opens":0' field.html
[[ $(cells field.html | wc -l) -le 2000 && $(cells field.html | wc -l) -gt 1000 ]] || fail "$(cells field.html | wc -l) rows"
diff <(numbers field.csv --variables mu,tau) <(cells field.html | head -2) || fail "the page does not begin with mu and tau"
grep -qF '["u",2,1,[1,1],[80,90],"' field.html
grep -qF '["w",1,1,[1,1],[80,1],"' field.html
python3 - field.html field.csv <<'END' || fail "the picture of u differs from the particles"
import base64, csv, json, re, struct, sys
page = open(sys.argv[1]).read()
data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S).group(1))
name, rank, step, low, extent, mean, sd, q05, q95, excess = next(f for f in data["fields"] if f[0] == "u")
means = struct.unpack("<7200f", base64.b64decode(mean))
rows = list(csv.reader(line for line in open(sys.argv[2]) if not line.startswith("#")))
for i, j in ((1, 1), (80, 90), (13, 57), (57, 13)):
    column = rows[0].index(f"u.{i}.{j}")
    exact = sum(float(row[column]) for row in rows[1:]) / (len(rows) - 1)
    assert abs(means[(i - 1) * 90 + j - 1] - exact) <= 1e-6 * max(1, abs(exact)), (i, j, means[(i - 1) * 90 + j - 1], exact)
assert len(base64.b64decode(excess)) == 4 * 7200 and q05 is None
END
printf 'name,value\nmu,0.5\nu.7.7,1\n' >some_truth.csv
works report field.csv --truth some_truth.csv -o some_truth.html
grep -qF '"truth":[[0,0.5]' some_truth.html

# particles shown in the plots
printf '# draws\nz\n' >many.csv
seq 1 500 >>many.csv
works report many.csv --particles 50 -o many.html
grep -q '"shown":50,' many.html
diff <(numbers many.csv) <(cells many.html)
refuses 2 "The option '--particles' must be a whole number from 0 to 10000000, not 'few'." report two.csv --particles few -o out.html
printf 'u,v,w\n1e300,5,-1.7e308\n1e300,5,1.7e308\n' >wide.csv
works report wide.csv -o wide.html
grep -q '\[5,0,"AAAAAAAAAAA="\]' wide.html || fail "equal particles are written in another way"

# errors
refuses 2 "Cannot read 'none.csv': No such file or directory." report none.csv -o out.html
refuses 2 "The model does not match 'two.csv': the model has no variable 'x'." report two.csv chain.mtx -o out.html
refuses 2 "Cannot read 'none.mtx'" report grid.csv none.mtx -o out.html
truth() { printf '%s\n' "$@" >truth.csv; }
touch truth.csv
refuses 2 "truth.csv: the file has no rows; expected rows below the header 'name,value'." report two.csv --truth truth.csv -o out.html
truth name,wert x,1
refuses 2 "truth.csv:1: the header must be 'name,value', not 'name,wert'." report two.csv --truth truth.csv -o out.html
truth name,value x,1,2
refuses 2 "truth.csv:2: expected two fields, name and value." report two.csv --truth truth.csv -o out.html
truth name,value x,NA
refuses 2 "truth.csv:2: the value 'NA' of 'x' is not a finite number." report two.csv --truth truth.csv -o out.html
truth name,value x,1 y,2 x,3
refuses 2 "truth.csv: 'x' is given on lines " report two.csv --truth truth.csv -o out.html
truth name,value x,1 z,1
refuses 2 "truth.csv:3: 'z' is neither a variable of 'two.csv' nor a coordinate P.1 or P.2 of a fixed point." report two.csv --truth truth.csv -o out.html
truth name,value z.1,1
refuses 2 "truth.csv:2: 'z.1' is neither a variable" report two.csv --truth truth.csv -o out.html
refuses 2 "Cannot read 'none.csv': No such file or directory." report two.csv --truth none.csv -o out.html
refuses 2 "Cannot read '.': Is a directory." report two.csv --truth . -o out.html

# the truth of variables, and a pair that is not a variable: a fixed point
truth '# by hand' '"name","value"' '' ' x , 1.5' 'z.1,7' 'z.2,-8'
works report two.csv --truth truth.csv -o truth.html
grep -q '"truth":\[\[0,1.5\]\]' truth.html
grep -q '"anchors":\[\["z",7,-8\]\]' truth.html
