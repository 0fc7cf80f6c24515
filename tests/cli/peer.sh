# svmp and an independent implementation, tests/peer/svgd.py, move the same particles to the same places.
for python in ${PYTHON:-} python3 /usr/bin/python3 none; do
    [[ $python == none ]] && echo "skipped: no python3 here imports numpy (Debian: python3-numpy)" && exit 77
    "$python" -c 'import numpy' 2>/dev/null && break
done

"$python" "$TESTS/peer/start.py" 100 50 1 >init.csv

# Both are given the same arguments and must agree to 1e-9.
agree() {
    echo "svmp run $*"
    "$SVMP" run "$MODELS/grid.mtx" "$MODELS/grid_b.mtx" -n 50 --init init.csv -o ours.csv --quiet --force "$@"
    "$python" "$TESTS/peer/svgd.py" "$MODELS/grid.mtx" "$MODELS/grid_b.mtx" --init init.csv -o peers.csv "$@"
    "$python" "$TESTS/peer/same.py" ours.csv peers.csv 1e-9
}

agree -m graphical -t 20 --step fixed:0.1
for method in vanilla independent; do agree -m $method -t 6 --step fixed:0.1; done
for rule in median-log median-zeros 7.5; do agree -m graphical -t 6 --step fixed:0.1 --bandwidth $rule; done
for rule in adagrad:0.1 rmsprop:0.05 adam:0.1 adam:0.1..0.004; do agree -m graphical -t 6 --step $rule; done
