# An installation suffices to build programs with pkg-config and find_package(svmp), shared and static, even after it is
# moved.
[[ -z $SANITIZE ]] || { echo "skipped: a program without $SANITIZE does not link a library with it" && exit 77; }
command -v pkg-config >/dev/null || { echo "skipped: pkg-config is not here" && exit 77; }

cmake --install "$BUILD" --prefix "$WORK/first" >/dev/null
mv first prefix # the installed tree may be moved
lib=$(dirname "$(find "$WORK/prefix" -name libsvmp.a)")
export PKG_CONFIG_PATH=$lib/pkgconfig
unset LD_LIBRARY_PATH
for file in bin/svmp bin/svmp-localise include/svmp.h include/svmp_notes.h include/svmp_tools.h include/svmp_parallel.h include/svmp_plugin.h include/svmp_slam.h share/man/man1/svmp.1 share/doc/svmp/docs/language.md share/bash-completion/completions/svmp share/zsh/site-functions/_svmp; do
    [[ -s prefix/$file ]] || { echo "prefix/$file is missing or empty" && exit 1; }
done
[[ ! -e prefix/bin/svmp-paper ]] || { echo "svmp-paper is installed by default" && exit 1; }
cmake --install "$BUILD" --prefix "$WORK/prefix" --component paper >/dev/null
prefix/bin/svmp-paper --version
version=$(pkg-config --modversion svmp)
prefix/bin/svmp --version | grep -qF "$version"

# x ~ N(1, 1/4) as a factor 4x - 2x^2: its score at x = 3 is -8, its exact mean 1.
cat >main.c <<'END'
#include <stdio.h>
#include <svmp.h>

int main(void) {
    svmp_context *context = NULL;
    svmp_model *model = NULL;
    size_t node;
    const double precision = 4, linear = 4, x = 3;
    double log_density, score;
    if (svmp_context_create(NULL, &context) || svmp_model_create(context, &model) ||
        svmp_model_add_node(model, "x", 1, NULL, NULL, &node) ||
        svmp_model_add_gaussian(model, 1, &node, &precision, &linear) || svmp_model_finish(model) ||
        svmp_model_evaluate(model, 1, &x, &log_density, &score)) {
        fprintf(stderr, "%s\n", svmp_context_error(context));
        return 1;
    }
    printf("svmp %s: log p(3) = %g, score %g\n", svmp_version(), log_density, score);
    svmp_model_free(model);
    svmp_context_free(context);
    return 0;
}
END
check() { # check HOW COMMAND...: runs a program built in the way HOW
    local said
    said=$("${@:2}")
    echo "$1: $said"
    [[ $said == "svmp $version: log p(3) = -6, score -8" ]]
}

cc main.c $(pkg-config --cflags --libs svmp) -o shared
check "pkg-config, shared" env LD_LIBRARY_PATH="$lib" ./shared

mkdir project && cp main.c project
cat >project/CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.21)
project(user C)
find_package(svmp ${version%.*} REQUIRED)
add_executable(with_shared main.c)
target_link_libraries(with_shared svmp::svmp)
add_executable(with_static main.c)
target_link_libraries(with_static svmp::static)
END
cmake -S project -B project/build -DCMAKE_PREFIX_PATH="$WORK/prefix" >/dev/null
cmake --build project/build >/dev/null
check "find_package, svmp::svmp" project/build/with_shared
check "find_package, svmp::static" project/build/with_static

# libsvmp_slam: an unknown point on a line, with its distances from two known points.
cat >slam.c <<'END'
#include <math.h>
#include <stdio.h>
#include <stdio.h>
#include <svmp_slam.h>

int main(void) {
    svmp_context *context = NULL;
    const double known[] = {0, 4, NAN}, range[] = {4, 1, 3};
    const size_t from[] = {0, 0, 1}, to[] = {1, 2, 2};
    const svmp_ranges ranges = {3, 1, known, 3, from, to, range};
    double found[3];
    if (svmp_context_create(NULL, &context) || svmp_localise(context, &ranges, found)) return 1;
    printf("%.3f\n", found[2]);
    svmp_context_free(context);
    return 0;
}
END
cc slam.c $(pkg-config --cflags --libs svmp_slam) -o slam
[[ $(LD_LIBRARY_PATH=$lib ./slam) == 1.000 ]] || { echo "libsvmp_slam: $(LD_LIBRARY_PATH=$lib ./slam)" && exit 1; }
prefix/bin/svmp localise --help | grep -q '^Usage: svmp localise'

find prefix -name 'libsvmp*.so*' -delete # only the archive is left to link
cc main.c $(pkg-config --static --cflags --libs svmp) -o static
check "pkg-config, static" ./static

# Each header compiles alone, in C99, C11 and C++.
for header in prefix/include/*.h; do
    program="#include <$(basename "$header")>"
    for standard in c99 c11; do
        echo "$program" | cc -x c -std=$standard -Wall -Wextra -Wpedantic -Wstrict-prototypes -Werror $(pkg-config --cflags svmp) -fsyntax-only -
    done
    command -v c++ >/dev/null || continue
    for standard in c++11 c++20; do
        echo "$program" | c++ -x c++ -std=$standard -Wall -Wextra -Wpedantic -Werror $(pkg-config --cflags svmp) -fsyntax-only -
    done
done
