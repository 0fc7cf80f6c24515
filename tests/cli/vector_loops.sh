# The compiled loops of operations process several lanes per instruction and call no functions. Exceptions: functions
# that iterate until they are accurate, and the loops over single lanes for blocks whose arguments the vector form does
# not cover.
[[ -z $SANITIZE ]] || { echo "skipped: $SANITIZE puts calls in loops" && exit 77; }
[[ $(uname -m) == x86_64 ]] || { echo "skipped: the words of other processors are others" && exit 77; }
command -v objdump >/dev/null || { echo "skipped: objdump is not here" && exit 77; }
grep -q 'CMAKE_BUILD_TYPE:STRING=Release' "$BUILD/CMakeCache.txt" || { echo "skipped: not compiled for speed" && exit 77; }

iterate='log_gamma_[pq](_shape|_bend)?|log_beta_i(_first|_second|_bend|_cross|_bend_second)?|(gamma|beta|t)_quantile'
iterate+='|log_0f1(_shape|_bend)?|log_normal_power(_shape|_bend)?|log_hypergeometric_sum|hypergeometric_(mean|variance)'
one_by_one='(sin|cos|tan|loggam|gamma|logfact|digamma|trigamma)_v'
same_for_all='(add|subtract|multiply)_square_ssv' # a square of scalars

for set in "" _avx2 _avx512; do
    object=$(find "$BUILD/CMakeFiles/svmp_objects.dir" -name "operation_loops$set.c.o")
    [[ -n $object ]] || { echo "FAILED: operation_loops$set.c.o is not under $BUILD" && exit 1; }
    objdump -dr --no-show-raw-insn "$object" >code
    # each function: its name, the number of scalar and of vector instructions, the functions it calls
    awk '/^[0-9a-f]+ <.*>:$/ { name = substr($2, 2, length($2) - 3); one[name] = many[name] = 0; calls[name] = ""; next }
         $2 ~ /^v?(add|sub|mul|div|sqrt)sd$/ { one[name]++ }
         $2 ~ /^v?(add|sub|mul|div|sqrt)pd$/ { many[name]++ }
         /R_X86_64_PLT32/ { sub(/[-+@].*/, "", $3); calls[name] = calls[name] " " $3 }
         END { for (name in one) print name, one[name], many[name] calls[name] }' code | sort >loops
    [[ $(grep -cE '_(v|s){1,3} ' loops) -gt 300 ]] || { echo "FAILED: $object has few loops" && exit 1; }
    grep -vE "^($one_by_one) " loops | grep -vE "^($iterate)_[sv]+ [0-9]+ [0-9]+( svmp_($iterate))+\$" >hot
    if grep -vE '^[a-z0-9_]+ [0-9]+ [0-9]+( memset)*$' hot; then
        echo "FAILED: these loops of operation_loops$set.c call functions, the last word of each line"
        exit 1
    fi
    if grep -E '^[a-z0-9_]+ [1-9][0-9]* 0' hot | grep -vE "^$same_for_all "; then
        echo "FAILED: these loops of operation_loops$set.c compute one number at a time"
        exit 1
    fi
done
