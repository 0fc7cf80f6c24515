#!/bin/bash
# Range-only SLAM: a start from odometry and ranges, and the Gaussian fitted from it.
source "$TESTS/cli/support.bash"
slam=$TESTS/../examples/slam
python3 "$slam/simulate.py" 60 8 0.1 2
first=$(awk -F, 'NR > 1 && NR < 5 { printf "%s%s", comma, $2; comma = "," }' truth.csv)
odometry=(localise ranges.csv --odometry odometry.csv --noise 0.2,0.05,0.01 --first "$first")
works "${odometry[@]}" -o start.json
shows '^60 poses and [0-9]+ landmarks, 0 of them known, from '
shows '^root mean square residuals, in sd: moves 0\.'

# The fitted Gaussian: at least 95 % of the true positions are within 4 sd of its mean.
works run "$slam/slam.bug" slam.json -m graphical --init gaussian:start.json -n 50 -t 0 -q -o out.csv
works summary out.csv --variables x
grep '^x\.' said | awk 'NR == FNR { true[$1] = $2; next }
    $3 > 0 { all++; inside += ($2 - true[$1])^2 < 16 * $3^2 }
    END { if (all < 100 || inside < 0.95 * all) { print inside, "of", all; exit 1 } }' <(tr , ' ' <truth.csv) - >counted || fail "$(cat counted)"
grep -q '^# init = gaussian:start.json' out.csv || fail "$(grep '^# init' out.csv)"

# The start may also be the mean of particles, and the same start gives the same bits.
works run "$slam/slam.bug" slam.json -m graphical --init gaussian:out.csv -n 20 -t 0 -q -o again.csv
works run "$slam/slam.bug" slam.json -m graphical --init gaussian:out.csv -n 20 -t 0 -q --threads 2 -o twice.csv
cmp <(rows again.csv) <(rows twice.csv)

# Of two modes the fit finds the one nearer to the start; from several starts it could be either.
printf 'model { x ~ dnorm(0, 0.0001)\n y ~ dnorm(pow(x, 2), 100) }\n' >two.bug
printf '{"y": 25}\n' >two.json
for side in -4 4; do
    printf '{"x": %d}\n' $side >point.json
    works run two.bug two.json -m graphical --init gaussian:point.json -n 20 -t 0 -q
    shows "^x +${side%4}(5|4\.99|5\.0)"
    works run two.bug two.json -m transport --init gaussian:point.json -n 20 -t 200 -q
    shows "^x +${side%4}(5|4\.99|5\.0)"
done

# Refusals.
refuses 2 "Cannot read 'missing.json'" run two.bug two.json --init gaussian:missing.json -q
refuses 2 "The output 'point.csv' would overwrite 'point.csv'" run two.bug two.json --init gaussian:point.csv -q -f -o "$(cp out.csv point.csv && echo point.csv)"
refuses 2 "the noise is needed: --noise RANGE,MOVE,TURN" localise ranges.csv --odometry odometry.csv -o new.json
refuses 2 "The option '--noise' must be three positive numbers" localise ranges.csv --odometry odometry.csv --noise 1,0,1 -o new.json
refuses 2 "must end in .json" "${odometry[@]}" -o new.csv
refuses 2 "--particles has no meaning" "${odometry[@]}" -n 10 -o new.json
refuses 2 "The option '--noise' needs --odometry" localise ranges.csv odometry.csv --noise 1,1,1 -o new.csv
refuses 2 "The known points are needed" localise ranges.csv -o new.csv
refuses 2 "would overwrite 'odometry.json'" localise ranges.csv --odometry odometry.json --noise 1,1,1 -f -o "$(cp odometry.csv odometry.json && echo odometry.json)"
printf 'pose,landmark,r\n1,1,2\n61,1,2\n' >bad.csv
refuses 2 "bad.csv:3: '61' is not a pose number from 1 to 60" localise bad.csv --odometry odometry.csv --noise 1,1,1 -o new.json
printf 'pose,landmark,r\n1,2,2\n' >bad.csv
refuses 2 "Landmark 1 cannot be located: no range goes to it" localise bad.csv --odometry odometry.csv --noise 1,1,1 -o new.json
printf 'ahead\n1\n' >bad.csv
refuses 2 "has no column 'turn'" localise ranges.csv --odometry bad.csv --noise 1,1,1 -o new.json

# A straight path does not determine the side of a landmark, and svmp reports it; a known landmark is not affected.
awk 'BEGIN { print "ahead,turn"; for (t = 1; t < 20; t++) print "1,0" }' >straight.csv
awk 'BEGIN { print "pose,landmark,r"; for (t = 0; t < 20; t++) { print t+1 ",1," sqrt((t - 8)^2 + 25); print t+1 ",2," sqrt((t - 3)^2 + 49) } }' >sides.csv
printf 'landmark,x,y\n2,3,-7\n' >known.csv
works localise sides.csv known.csv --odometry straight.csv --noise 0.1,0.05,0.01 -o sides.json
shows '^warning: landmark 1 may be at \(8, -?5\) or at \(8, -?5\): its 20 ranges fit both'
! grep -q 'landmark 2' said || fail "$(cat said)"
