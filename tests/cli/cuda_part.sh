# The CUDA part of the build, with an nvcc that only records its arguments: the compute capabilities, the versions that
# are accepted, and when svmp_cuda.so is rebuilt.
. "$TESTS/cli/support.bash"
command -v cmake >/dev/null || { echo "skipped: cmake is not here" && exit 77; }

mkdir bin
cat >bin/nvcc <<'END'
#!/bin/bash
case $* in
--version) echo "Cuda compilation tools, release ${FAKE_VERSION:-12.4}, V12.4.99" ;;
--list-gpu-arch) printf 'compute_%s\n' ${FAKE_KNOWN:-50 52 60 70 75 80 86 90 100} ;;
*)
    while [[ $# -gt 0 ]]; do
        case $1 in -MF) depends=$2 ;; -MT) target=$2 ;; -o) output=$2 ;; esac
        shift
    done
    echo "$target : $FAKE_HEADER" >"$depends"
    echo built >>"$output"
    ;;
esac
END
chmod +x bin/nvcc

# plans SAID GIVEN CI: the options of nvcc, or the reason why there are none.
cat >plan.cmake <<END
cmake_minimum_required(VERSION 3.21)
include("$TESTS/../cmake/cuda.cmake")
svmp_cuda_plan("$WORK/bin/nvcc" "\${GIVEN}" "\${CI}")
list(JOIN SVMP_CUDA_OPTIONS " " options)
message("\${options}\${SVMP_CUDA_WHY}")
END
plan() { cmake -DGIVEN="$1" -DCI="$2" -P plan.cmake >said 2>&1; }
plans() {
    plan "$2" "$3" || fail "'$2', '$3': $(cat said)"
    [[ $(cat said) == "$1" ]] || fail "'$2', '$3': '$(cat said)' instead of '$1'"
}
codes() { # OLDEST NEWEST CAPABILITY...
    local oldest=$1 newest=$2 each
    shift 2
    for each; do printf -- '-gencode arch=compute_%s,code=sm_%s ' "$each" "$each"; done
    printf -- '-gencode arch=compute_%s,code=compute_%s -DSVMP_CUDA_OLDEST=%s' "$newest" "$newest" "$oldest"
}
plans "$(codes 70 90 70 80 90)" "" 0
plans "$(codes 80 80 80)" "" 1
plans "$(codes 80 90 80 90)" "90;80;90" 0
plans "$(codes 80 100 80 100)" "100;80" 1
plans "$(codes 90 90 90a)" "90a" 0
plans "$(codes 75 90 75 90 90a)" "90a;75;90" 0
FAKE_KNOWN="75 80 90 100" plans "$(codes 75 90 75 80 90)" "" 0
FAKE_KNOWN="90 100 110" plans "$(codes 90 90 90)" "" 1
FAKE_KNOWN="100 110" plans "runs use the CPU (nvcc knows none of the compute capabilities 70, 75, 80 and 90)" "" 0
FAKE_VERSION=11.8 plans "$(codes 80 80 80)" "80" 0
FAKE_VERSION=11.2 plans "runs use the CPU (nvcc is 11.2, and 11.8 or newer is needed)" "80" 0
FAKE_VERSION=9.2 plans "runs use the CPU (nvcc is 9.2, and 11.8 or newer is needed)" "" 0
FAKE_VERSION=unknown plans "runs use the CPU ('$WORK/bin/nvcc --version' fails)" "" 0
for wrong in "9.0:'9.0' is not a compute capability" "sm_90:'sm_90' is not a compute capability" \
    "90b:'90b' is not a compute capability" "60:60 is too old" "80;77:nvcc does not know 77; it knows 50, 52, 60, 70"; do
    ! plan "${wrong%%:*}" 0 || fail "'${wrong%%:*}' was taken: $(cat said)"
    tr -s ' \n' ' ' <said | grep -qF -- "${wrong#*:}" || fail "'${wrong%%:*}': $(cat said)"
done

# svmp_cuda.so depends on every file that nvcc reads.
configure() {
    cmake -S "$TESTS/.." -B build -G Ninja -DSVMP_NVCC="$WORK/bin/nvcc" -DSVMP_CHOLMOD=OFF -DSVMP_NETCDF=OFF \
        -DSVMP_MPI=OFF "$@" >said 2>&1 || fail "$(cat said)"
}
command -v ninja >/dev/null || { echo "ninja is not here" && exit 0; }
export FAKE_HEADER=$WORK/header.h
touch header.h
configure
shows '^-- svmp part cuda: yes, in svmp_cuda\.so, for compute capability [0-9]+\.[0-9](, [0-9]+\.[0-9])* and newer$'
built() {
    cmake --build build --target svmp_cuda >said 2>&1 || fail "$(cat said)"
    [[ $(wc -l <build/svmp_cuda.so) == "$1" ]] || fail "built $(wc -l <build/svmp_cuda.so) times, not $1"
}
built 1
built 1
sleep 0.1
touch header.h
built 2
configure -DSVMP_CUDA=OFF
shows '^-- svmp part cuda: no, runs use the CPU \(SVMP_CUDA is OFF\)$'
FAKE_VERSION=11.2 configure -DSVMP_CUDA=ON
shows '^-- svmp part cuda: no, runs use the CPU \(nvcc is 11.2, and 11.8 or newer is needed\)$'

# `make run` lists the parts that it leaves out. The programs it calls are not built here.
if command -v make >/dev/null && [[ ! -e /proc/driver/nvidia/version && ! -e /dev/dxg ]]; then
    mkdir -p fake/bin fake/build/examples
    printf '#!/bin/sh\n' >fake/bin/cmake
    cp fake/bin/cmake fake/build/examples/grid
    run() { PATH=$WORK/fake/bin:$PATH make -s -C "$TESTS/.." run SETUP=: RELEASE="$WORK/fake/build" >said 2>&1 || fail "$(cat said)"; }
    for part in 'yes, in svmp_cuda.so' 'no, runs use the CPU'; do
        printf '#!/bin/sh\necho "cuda: %s"\n' "$part" >fake/build/svmp
        chmod +x fake/bin/cmake fake/build/examples/grid fake/build/svmp
        run
        said="Not built: the backend for NVIDIA GPUs, because this machine has no NVIDIA driver; 'make' builds it (some minutes)."
        [[ $(grep -cxF "$said" said) == $([[ $part != yes* ]]; echo $?) ]] || fail "cuda: $part: $(cat said)"
    done
    printf '#!/bin/sh\necho "cuda: yes"\n' >fake/build/svmp
    touch fake/build/svmp_cuda.so
    run
    ! grep -q 'Not built' said || fail "$(cat said)"
fi
