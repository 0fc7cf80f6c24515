# The README tells the truth: hello.c is in it as it is, and the commands in it say what it says they say.
readme=$TESTS/../README.md
awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$readme" | diff "$TESTS/../examples/hello.c" -

"$SVMP" --version | grep -q '^cholmod: yes' || { echo "skipped: the README's commands need CHOLMOD" && exit 77; }
ln -s "$MODELS" models
svmp() { command "$SVMP" "$@"; }

# said.txt is what the README shows, did.txt what the same commands show now; times are not compared.
awk '/^```console$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$readme" >said.txt
grep '^\$ ' said.txt >commands.txt
while read -r prompt command; do
    echo "$prompt $command"
    eval "$command" 2>/dev/null
done <commands.txt >did.txt

# Word by word; numbers may differ by a thousandth, as another C library may round exp in another way, and where NUTS has a
# part in them, whose trajectories magnify such a difference, only the first word of a line counts.
time='s/in [0-9.]* s,/in a time,/'
paste -d '\n' <(sed "$time" said.txt) <(sed "$time" did.txt) | awk '
    NR % 2 == 1 { said = $0; if (/^\$ /) chaotic = /nuts/; next }
    {
        same = split(said, a) == split($0, b)
        if (chaotic) same = a[1] == b[1]
        else for (k in a) if (a[k] != b[k]) {
            difference = a[k] - b[k]; size = a[k] < 0 ? -a[k] : a[k]
            if (a[k] !~ /^\(?[-0-9.e+]+[,.)]*$/ || difference * difference > 1e-6 * (1 + size * size)) same = 0
        }
        if (!same) { print "README: " said "\nsvmp:   " $0; wrong = 1 }
    }
    END { exit wrong || NR < 20 }'
