# The pages of the gallery show what their scripts print.
. "$TESTS/cli/support.bash"
python=$(python_with_pytest) || { echo "skipped: there is no python3 with numpy, or the build has sanitizers" && exit 77; }
mkdir bin && printf '#!/bin/sh\nexec "%s" "$@"\n' "$(command -v "$python")" >bin/python3 && chmod +x bin/python3
export PATH=$PWD/bin:$PATH PYTHONPATH=$TESTS/../bindings/python PYTHONDONTWRITEBYTECODE=1 SVMP_LIBRARY=$BUILD/libsvmp.so \
    SVMP_INCLUDE=$TESTS/../include SVMP_COMMAND=$SVMP
mapfile -t pages < <(grep -l '^```console$' "$TESTS"/../docs/gallery/*.md)
[[ ${#pages[@]} -eq $(ls "$TESTS"/../docs/gallery/*.svg | wc -l) ]] || fail "a page of the gallery has no picture, or no script"
"$TESTS/../scripts/console_blocks" "${pages[@]}"
