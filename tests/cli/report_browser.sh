# A report page in headless Chromium (tests/report/check.py): its contents, clicks, and the time to show it.
. "$TESTS/cli/support.bash"
! "$SVMP" --version | grep -q '^d3: no' || { echo "skipped: this build has no D3 (node-d3)" && exit 77; }
command -v python3 >/dev/null || { echo "skipped: no python3" && exit 77; }
python3 -c 'import sys; sys.path.insert(0, sys.argv[1]); import browser; sys.exit(not browser.find())' "$TESTS/report" ||
    { echo "skipped: no chromium" && exit 77; }

works run -m graphical "$MODELS/grid.mtx" "$MODELS/grid_b.mtx" -n 20 -t 30 -q -o grid.csv
works report grid.csv "$MODELS/grid.mtx" "$MODELS/grid_b.mtx" -o grid.html
works summary grid.csv --variables x
cp said grid.txt
works run chain.mtx b.mtx -m nuts --warmup 50 --draws 50 --chains 2 -q -o chains.csv
works report chains.csv chain.mtx -o chains.html

works run chain.mtx b.mtx -m nuts --warmup 300 --draws 500 --chains 1 -q -o chain.csv
works report chain.csv chain.mtx -o chain.html
works run -m graphical "$MODELS/grid.mtx" "$MODELS/grid_b.mtx" -n 20 -t 3000 --step adam:0.9..0.001 -q -o long.csv
works report long.csv -o long.html
verdict() { # PAGE ROWS BEYOND NUMBERS-OF-THE-WORST
    { printf '# ksd_beyond = %s of 3\n# ksd_node x.2 = %s\nx.1,x.2,x.3\n' "$3" "$4"; seq -s, 3 3 "$(($2 * 9))" | tr ',' '\n' | paste -d, - - -; } >"$1.csv"
    works report "$1.csv" -o "$1.html"
}
verdict kernel 20 1 '0.5 0.6 2.5 1.2 1 3'
verdict moment 20 1 '0.5 0.6 1.3 1.2 9 3'
verdict good 20 0 '0.5 0.6 0.3 1.2 1 3'
verdict few 9 1 '0.5 0.6 2.5 1.2 1 3'

printf 'model { mu ~ dnorm(0, 1)\n for (i in 1:3) { y[i] ~ dnorm(mu, 1) } }\n' >text.bug
echo 'y <- c(1, 2.5, -1)' >text.R
works run -m graphical text.bug text.R -n 20 -t 20 -q -o text.csv
works report text.csv text.bug text.R -o text.html
cat >mixed.bug <<'END'
model {
    for (i in 1:12) { z[i] ~ dcat(p[])  y[i] ~ dnorm(mu[z[i]] + u[g[i]], 1) }
    for (j in 1:6) { u[j] ~ dnorm(0, tau) }
    mu[1] ~ dnorm(-3, 1)  mu[2] ~ dnorm(3, 1)  p[1] <- 0.5  p[2] <- 0.5  tau ~ dgamma(2, 2)
}
END
echo 'y <- c(-3, 3, -2, 2, -4, 4, 3, -3, 2, -2, 4, -4); g <- c(1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6)' >mixed.R
works run -m graphical mixed.bug mixed.R -n 50 -t 50 -q --monitor z -o mixed.csv
works report mixed.csv mixed.bug mixed.R -o mixed.html

# points of a plane: two of them, their truth and an anchor; the record marks one node as far from converged
awk 'BEGIN { OFS = ","; srand(1); print "# method = by hand\n# ksd_node x.1 = 0.5 0.6 2.5 1.2 1 3\nx.1.1,x.1.2,x.2.1,x.2.2,sigma"
    for (l = 0; l < 60; l++) print rand(), rand(), 2 + rand(), 1 + rand(), 0.5 }' >plane.csv
printf 'name,value\nx.1.1,0.5\nx.1.2,0.4\nx.2.1,2.5\nx.2.2,1.5\nx.3.1,-1\nx.3.2,-1\n' >truth.csv
works report plane.csv --truth truth.csv -o plane.html

printf '# <img src=x onerror=broken()> = <script>broken()</script>\n</script><script>broken=1</script>,<img src=x onerror="broken=1">\n1,2\n2,3\n' |
    tr -d '"' >hostile.csv
works report hostile.csv -o hostile.html

awk 'BEGIN { srand(2); for (s = 0; s < 2; s++) { printf "# node_%s[node] =", s ? "excess" : "ksd_ratio"
        for (i = 1; i <= 5000; i++) printf " %.3f", rand(); print "" }
    for (i = 1; i <= 5000; i++) printf "x.%d%s", i, i < 5000 ? "," : "\n"
    for (l = 0; l < 200; l++) for (i = 1; i <= 5000; i++) printf "%.6f%s", rand() + i % 7, i < 5000 ? "," : "\n" }' >large.csv
awk 'BEGIN { print "%%MatrixMarket matrix coordinate real symmetric\n5000 5000 9999"
    for (i = 1; i <= 5000; i++) { print i, i, 2.5; if (i > 1) print i, i - 1, -1 } }' >large.mtx
works report large.csv large.mtx -o large.html

timeout 300 python3 "$TESTS/report/check.py"
