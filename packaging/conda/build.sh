#!/bin/bash
# The library, the headers and the command into $PREFIX, then the Python module, which finds them in its own folder.
set -eu
cmake -S . -B build/conda -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$PREFIX" -DCMAKE_INSTALL_LIBDIR=lib \
    -DSVMP_MPI=OFF -DSVMP_CUDA=OFF
cmake --build build/conda -j "${CPU_COUNT:-2}"
cmake --install build/conda
"$PYTHON" -m pip install . --no-deps --no-build-isolation -v
