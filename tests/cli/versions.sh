# The version is the same wherever it is written, and packages are named after the soname.
root=$TESTS/..
version=$(<"$root/VERSION")
check() { [[ $2 == "$version" ]] || { echo "$1 says version '$2', VERSION says $version" && exit 1; }; }
check "svmp --version" "$("$SVMP" --version | sed -n '1s/^svmp \([^ ]*\).*/\1/p')"
check CITATION.cff "$(sed -n 's/^version: //p' "$root/CITATION.cff")"
check debian/changelog "$(sed -n '1s/^svmp (\(.*\)-[0-9]*) .*/\1/p' "$root/debian/changelog")"
check packaging/conda/meta.yaml "$(sed -n 's/.*set version = "\(.*\)".*/\1/p' "$root/packaging/conda/meta.yaml")"
soname=${version%.*}
[[ -e $root/debian/libsvmp$soname.install ]] || { echo "debian/ has no package libsvmp$soname" && exit 1; }
! grep -hoE 'libsvmp[0-9.]+[0-9]|lib(svmp|\$\$library)\.so\.[0-9.]*[0-9]' "$root"/debian/* "$root/docs/install.md" 2>/dev/null | grep -v "$soname\$" ||
    { echo "packages are named after another soname than $soname" && exit 1; }
