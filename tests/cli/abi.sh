# The binary interface matches the recorded one: exported symbols, constants, layouts and types (docs/developers/versioning.md).
[[ -z $SANITIZE ]] || { echo "skipped: a library with $SANITIZE exports more" && exit 77; }
[[ $(uname -s) == Linux && $(getconf LONG_BIT) == 64 ]] || { echo "skipped: the list is of 64-bit Linux" && exit 77; }
command -v nm >/dev/null || { echo "skipped: nm is not here" && exit 77; }
library=$BUILD/libsvmp.so
"$TESTS/../scripts/abi" "$BUILD" >now
diff -u "$TESTS/abi/svmp.abi" now || {
    echo "FAILED: the binary interface has changed. docs/developers/versioning.md says what that takes."
    exit 1
}

# What is in svmp_plugin.h, comments and blanks aside, belongs to its version.
header=$TESTS/../include/svmp_plugin.h
version=$(sed -n 's/.*SVMP_PLUGIN_VERSION = \([0-9]*\).*/\1/p' "$header")
declared=$(cc -w -fpreprocessed -E -P -x c "$header" | tr -d ' \n' | cksum)
[[ $(cat "$TESTS/abi/svmp_plugin.version") == "$version $declared" ]] || {
    echo "FAILED: svmp_plugin.h has changed: raise SVMP_PLUGIN_VERSION if a plug-in would notice, and"
    echo "write '$version $declared' to tests/abi/svmp_plugin.version."
    exit 1
}

# Only functions named svmp_... are exported.
if grep '^symbol' now | grep -vE '^symbol svmp_[a-z0-9_]+ T$'; then
    echo "FAILED: these are exported, too"
    exit 1
fi

# The library exports exactly the functions that the headers declare.
cat "$TESTS"/../include/*.h | grep -oE '\bsvmp_[a-z0-9_]+\(' | tr -d '(' | sort -u >declared
grep '^symbol' now | cut -d' ' -f2 >exported
diff declared exported

# scripts/abi has found the types of all of them.
grep -oE '^call .*\bsvmp_[a-z0-9_]+\(' now | sed 's/.*[ *]//; s/($//' | sort >typed
diff exported typed

# Every function survives NULL for all pointers, with 0 and with 1 for all numbers; it then returns SVMP_BAD_CALL if it
# returns a status.
sed -nE 's/^call (.*[ *])(svmp_[a-z0-9_]+)\((.*)\)$/\1|\2|\3/p' now | awk -F'|' '
    BEGIN { print "#include <stdio.h>\n#include <svmp_agents.h>\n#include <svmp_parallel.h>\n#include <svmp_slam.h>\n#include <svmp_tools.h>\nint main(void) {\nint wrong = 0;" }
    {
        count = $3 == "void" ? 0 : split($3, type, /, /)
        for (number = 0; number < 2; number++) {
            values = ""
            for (k = 1; k <= count; k++) values = values (k > 1 ? ", " : "") (type[k] ~ /\*$|_function$|_monitor$/ ? "NULL" : number)
            call = $2 "(" values ")"
            print "puts(\"" call "\"), fflush(stdout);"
            print $1 == "svmp_status " && values ~ /NULL/ ? "if (" call " != SVMP_BAD_CALL) wrong = 1, puts(\"is not SVMP_BAD_CALL\");" : "(void)" call ";"
        }
    }
    END { print "return wrong; }" }' >null.c
cc -I "$TESTS/../include" null.c "$library" "$BUILD/libsvmp_slam.so" -Wl,-rpath,"$BUILD" -o null
./null >called || { echo "FAILED: a call with NULL: $(grep -B1 'is not' called || tail -1 called)" && exit 1; }

# Names mentioned in comments of the headers exist: "svmp_tools.h" is a file, all others are declared.
cat "$TESTS"/../include/*.h | cc -w -fpreprocessed -E -dD -P -x c - | grep -oE '\bsvmp_[a-z0-9_]+' | sort -u >words
cat "$TESTS"/../include/*.h | grep -oE '\bsvmp_[a-z0-9_]+(\.h)?' | grep -v '\.h$' | sort -u >cited
if comm -13 words cited | grep .; then
    echo "FAILED: the comments of include/*.h refer to these, which are not declared"
    exit 1
fi

# The soname is major.minor while major is 0.
version=$(cat "$TESTS/../VERSION")
soname=$(readelf -d "$library" | sed -n 's/.*soname: \[\(.*\)\]/\1/p')
[[ $version != 0.* || $soname == "libsvmp.so.${version%.*}" ]] || { echo "FAILED: the soname of $version is $soname" && exit 1; }

# The macros of the header are this version, and what is marked as deprecated gives a warning that can be switched off.
cat >version.c <<END
#include <svmp.h>
#include <stdio.h>
SVMP_DEPRECATED("svmp_new") int svmp_old(void);
int svmp_old(void) { return SVMP_VERSION_AT_LEAST(0, 0, 1) && !SVMP_VERSION_AT_LEAST(SVMP_VERSION_MAJOR, SVMP_VERSION_MINOR, SVMP_VERSION_PATCH + 1); }
int main(void) { return printf("%d.%d.%d", SVMP_VERSION_MAJOR, SVMP_VERSION_MINOR, SVMP_VERSION_PATCH) < 0 || !svmp_old(); }
END
cc -I "$TESTS/../include" version.c -o version 2>warnings
[[ $(./version) == "$version" ]] || { echo "FAILED: SVMP_VERSION_MAJOR ... of svmp.h are $(./version), and VERSION is $version" && exit 1; }
./version >printed || { echo "FAILED: SVMP_VERSION_AT_LEAST" && exit 1; }
grep -q 'svmp_new' warnings || { echo "FAILED: no warning about a deprecated function" && exit 1; }
cc -Werror -DSVMP_NO_DEPRECATION -I "$TESTS/../include" version.c -o version || exit 1
