# The packages of debian/: two builds in different folders give the same bytes, lintian accepts them, and in an empty
# Debian, made by debootstrap, the command, a program in C and the Python module work.
. "$TESTS/cli/support.bash"
[[ -z $SANITIZE ]] || { echo "skipped: packages have no sanitizers" && exit 77; }
for tool in dpkg-buildpackage dh dh_python3 git; do
    command -v $tool >/dev/null || { echo "skipped, for it is not here: $tool" && exit 77; }
done
sources=$TESTS/..
(cd "$sources" && dpkg-checkbuilddeps) 2>errors || { echo "skipped: $(tr '\n' ' ' <errors)" && exit 77; }

if command -v ccache >/dev/null; then export CMAKE_C_COMPILER_LAUNCHER=ccache; fi
mkdir tree
(cd "$sources" && git ls-files -co --exclude-standard -z | tar c --null -T - --ignore-failed-read) | tar x -C tree
for build in first/svmp second/a-longer-name; do
    mkdir -p $build
    cp -r tree/. $build
    (cd $build && dpkg-buildpackage -b -us -uc -j2) >${build%%/*}.log 2>&1 || fail "dpkg-buildpackage: $(tail -20 ${build%%/*}.log)"
    rm -rf $build
done
[[ $(ls first/*.deb | wc -l) -ge 4 ]] || fail "the packages are $(ls first)"
for package in first/*.deb; do
    cmp "$package" "second/$(basename "$package")" || fail "two builds differ: $package"
done

if command -v lintian >/dev/null; then # nobody has asked for these packages in Debian
    lintian --allow-root --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs first/*.changes
else
    echo "not checked, for it is not here: lintian"
fi

codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
if [[ $(id -u) -ne 0 ]] || ! command -v debootstrap >/dev/null; then
    echo "not installed into an empty root: this needs root rights and debootstrap" && exit 0
fi
debootstrap --variant=minbase "$codename" root >debootstrap.log 2>&1 ||
    { echo "not installed into an empty root: debootstrap failed: $(tail -1 debootstrap.log)" && exit 0; }
cp first/{svmp,libsvmp0.3,libsvmp-dev,python3-svmp}_*.deb root/tmp
inside() { chroot root env -u SVMP -u TESTS DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin bash -euc "cd /tmp; $1"; }
inside 'apt-get update && apt-get install -y --no-install-recommends ./*.deb gcc libc6-dev pkg-config' >install.log 2>&1 ||
    fail "the packages cannot be installed: $(tail -5 install.log)"
inside 'cd /usr/share/doc/svmp && svmp run models/robust.bug models/robust.csv --quiet --require-converged'
inside 'cc /usr/share/doc/svmp/examples/hello.c $(pkg-config --cflags --libs svmp) -o hello && cd /usr/share/doc/svmp && /tmp/hello'
inside 'cd /usr/share/doc/svmp && python3 -c "
import svmp
fit = svmp.Model(\"models/robust.bug\", \"models/robust.csv\").fit(progressbar=False)
assert fit.verdict and abs(fit[\"beta\"].mean() - 2) < 0.2
print(svmp.__version__, fit.verdict)"'
inside 'svmp-localise --help >/dev/null && zcat /usr/share/man/man1/svmp.1.gz | grep -q "^.TH"' # svmp finds svmp-localise through /proc, which this root lacks
