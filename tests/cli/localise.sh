#!/bin/bash
# A start from distances alone, and a run that begins there.
source "$TESTS/cli/support.bash"

# Six points of a plane, three of them known, all distances exact: the unknown points are recovered.
cat >points <<'END'
1 0 0
2 4 0
3 0 3
4 4 3
5 2 1
6 1 2
END
printf 'point,x,y\n1,0,0\n2,4,0\n3,0,3\n' >anchors.csv
awk 'BEGIN { print "from,to,r" } { x[NR] = $2; y[NR] = $3 }
     END { for (i = 1; i <= NR; i++) for (j = i + 1; j <= NR; j++) printf "%d,%d,%.12f\n", i, j, sqrt((x[i] - x[j])^2 + (y[i] - y[j])^2) }' points >ranges.csv
works localise ranges.csv anchors.csv --spread 1e-9 -n 5 -o start.csv
shows '^5 particles of 6 points, 3 of them known, from 15 ranges'
works summary start.csv
shows '^x\.4\.1 +4 '
shows '^x\.4\.2 +3 '
shows '^x\.5\.1 +2[. ]'
shows '^x\.6\.2 +2[. ]'

# A run starts from this result.
awk -F, 'NR > 1 { f = f s $1; t = t s $2; r = r s $3; s = ", " } END {
    printf "S <- 6\nsigma <- 0.1\nx <- structure(c(0, 4, 0, NA, NA, NA, 0, 0, 3, NA, NA, NA), .Dim = c(6, 2))\n"
    printf "from <- c(%s)\nto <- c(%s)\nr <- c(%s)\n", f, t, r }' ranges.csv >net.R
works localise ranges.csv anchors.csv --spread 0.1 -n 20 --force -o start.csv
"$SVMP" run -m graphical "$MODELS/sensors.bug" net.R --init start.csv -n 20 -t 200 --step adagrad:0.05 --quiet -o out.csv >said 2>errors || fail "$(cat errors)"
shows '^x\.4\.1 +(3\.9|4\.0)'

refuses 2 "An output file is needed" localise ranges.csv anchors.csv
printf 'point,x,y\n1,0,0\n2,4,0\n' >two.csv
refuses 2 "do not determine the map" localise ranges.csv two.csv -o new.csv
printf 'from,to,r\n1,2,x\n' >bad.csv
refuses 2 "bad.csv:2: 'x' in column 'r' is not a number" localise bad.csv anchors.csv -o new.csv
printf 'from,to\n1,2\n' >bad.csv
refuses 2 "has no column 'r'" localise bad.csv anchors.csv -o new.csv
printf 'from,to,r\n1,2,3,4\n' >bad.csv
refuses 2 "has 4 fields, but the header has 3" localise bad.csv anchors.csv -o new.csv
refuses 2 "Cannot read 'missing.csv'" localise missing.csv anchors.csv -o new.csv
printf 'from,to,r\n1,2,3\n1,3,-1\n' >bad.csv
refuses 2 "bad.csv:3: a range must be positive, not -1" localise bad.csv anchors.csv -o new.csv
refuses 2 "bad.csv:3: a range must be positive" localise bad.csv anchors.csv
printf 'from,to,r\n1,2,inf\n' >bad.csv
refuses 2 "bad.csv:2: 'inf' in column 'r' is not a number" localise bad.csv anchors.csv -o new.csv
printf 'from,to,r\n1,2,1\n3,3,1\n' >bad.csv
refuses 2 "bad.csv:3: this range goes from point 3 to itself" localise bad.csv anchors.csv -o new.csv
printf 'from,to,r\n1,2,1\n3,5001,1\n' >bad.csv
refuses 2 "bad.csv:3: '5001' is not a point number from 1 to 5000" localise bad.csv anchors.csv -o new.csv
printf 'from,to,r\n1,2,4\n1,3,3\n2,3,5\n1,5,2\n' >bad.csv
refuses 2 "'bad.csv' numbers its points up to 5, but point 4 has no range" localise bad.csv anchors.csv -o new.csv
printf 'point,x,y\n1,0,0\n2,4,0\n3,0,3\n2,4,1\n' >bad.csv
refuses 2 "bad.csv:5: point 2 is given twice" localise ranges.csv bad.csv -o new.csv
printf 'point,x,y\n1,0,0\n99,4,0\n3,0,3\n' >bad.csv
refuses 2 "bad.csv:3: point 99 has no range in 'ranges.csv'" localise ranges.csv bad.csv -o new.csv
for name in '' 2x 'x y' 'x[1]' -x; do
    refuses 2 "The option '--name' must be a letter followed by" localise ranges.csv anchors.csv --name="$name" -o new.csv
done
works localise ranges.csv anchors.csv --name at.night_2 -n 2 -o named.csv
grep -q '^at.night_2.4.1,' <(rows named.csv) || fail "$(rows named.csv | head -1)"
works localise --help
shows 'columns from,to,r'
shows 'point,x\[,y\[,z\]\]'

# The example of models/README.md prints the documented result.
mkdir example && cd example
ln -s "$MODELS" models
awk '/^## A start for models of distances/ { here = 1 } /^```/ { inside = /sh$/ && here; next } inside' "$MODELS/README.md" >example.sh
svmp() { "$SVMP" "$@"; }
export -f svmp
export SVMP
bash -e example.sh >said 2>errors || fail "the example: $(cat errors)"
shows '^x\.4\.1 +(3\.9|4\.)'
shows '^x\.4\.2 +(2\.9|3\.)'
