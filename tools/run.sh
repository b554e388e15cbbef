# `tessera run`: its options and variables, where the driver is, and what is preloaded. Sourced by tools/tessera, whose functions it uses.
. "$scripts/place.sh"

# Longest time in seconds that the library and the manager take, a year.
longest_timeout=31536000

# Whether a number without leading zeros is beyond 2^63 - 1, where shell arithmetic ends: far more bytes than any GPU has.
is_too_large() { # DIGITS
    [ ${#1} -ge 19 ] || return 1
    [ ${#1} -eq 19 ] || return 0
    size_high=${1%?????????}
    [ "$size_high" -gt 9223372036 ] || { [ "$size_high" -eq 9223372036 ] && [ "${1#"$size_high"}" -gt 854775807 ]; }
}

# What the protocol has room for, beside a NUL.
most_label_bytes=63

# Length of $1 in bytes, in length: some shells count characters, by the language.
find_length() {
    length_language=${LC_ALL-} length_given=${LC_ALL+yes}
    LC_ALL=C
    length=${#1}
    LC_ALL=$length_language
    [ -n "$length_given" ] || unset LC_ALL
}

# The label of a program $1 that was given none, in label: its name and number, so that each `tessera run` and its children are one tenant.
# $$ stays the program's over exec. The end of a long name is left out, and never the number.
default_label() {
    label=${1##*/}
    label_number=$$
    find_length "$label"
    while [ $((length + 1 + ${#label_number})) -gt $most_label_bytes ]; do
        label=${label%?}
        find_length "$label"
    done
    label=$label-$label_number
}

# Size $2 of the option $1 in bytes, as bytes.
parse_size() {
    size_digits=${2%%[!0-9]*}
    size_unit=${2#"$size_digits"}
    while case $size_digits in 0?*) true ;; *) false ;; esac; do size_digits=${size_digits#0}; done
    case $size_unit in
    '' | B) size_factor=1 ;;
    K | KiB) size_factor=1024 ;;
    M | MiB) size_factor=1048576 ;;
    G | GiB) size_factor=1073741824 ;;
    T | TiB) size_factor=1099511627776 ;;
    KB) size_factor=1000 ;;
    MB) size_factor=1000000 ;;
    GB) size_factor=1000000000 ;;
    TB) size_factor=1000000000000 ;;
    *) size_digits= ;;
    esac
    if [ -z "$size_digits" ] || [ "$size_digits" = 0 ] || is_too_large "$size_digits" ||
        [ "$size_digits" -gt $((9223372036854775807 / size_factor)) ]; then
        usage run "$1 $2: a size is a whole number above 0 with a unit: KiB, MiB, GiB, TiB (or K, M, G, T)," \
            "KB, MB, GB, TB (powers of ten), or nothing for bytes; for example 8GiB"
    fi
    bytes=$((size_digits * size_factor))
}

# Where the vendor's driver is, in driver; empty where there is none: the places in which the preload library looks. The
# loader's cache costs two forks here, so it comes last.
find_driver() {
    driver=${TESSERA_DRIVER:-}
    [ -z "$driver" ] || return 0
    driver_rest=${LD_LIBRARY_PATH:-}:/usr/lib/x86_64-linux-gnu:/lib/x86_64-linux-gnu:/usr/lib64:/lib64
    driver_rest=$driver_rest:/usr/local/nvidia/lib64:/usr/lib/wsl/lib:/usr/lib:/usr/local/cuda/compat:
    while [ -n "$driver_rest" ]; do
        driver=${driver_rest%%:*}/libcuda.so.1
        driver_rest=${driver_rest#*:}
        case $driver in "$native_folder"/* | "$runtime"/native/*) continue ;; esac
        [ ! -e "$driver" ] || return 0
    done
    driver=
    for ldconfig in /sbin/ldconfig /usr/sbin/ldconfig; do
        [ -x $ldconfig ] || continue
        driver_cache=$($ldconfig -p 2>/dev/null)
        case $driver_cache in
        *libcuda.so.1\ *)
            driver=${driver_cache#*libcuda.so.1 *=> }
            driver=${driver%%
*}
            ;;
        esac
        return 0
    done
}

# Whether programs with a shared CUDA runtime get ours. NVIDIA's refuses to work without NVIDIA's driver.
use_own_runtime() {
    case $runtime_library in
    tessera) return 0 ;;
    vendor) return 1 ;;
    esac
    [ -z "$driver" ] && [ "$TESSERA_SHARE" = space ] && [ -e "$native_folder/runtime/libcudart.so.13" ]
}

# Puts our libraries before everything else. A blank or a colon separates the entries of LD_PRELOAD, so a folder whose
# name holds one is reached by a link in the runtime directory.
preload() {
    preload_folder=$native_folder
    case $preload_folder in
    *[\ :\;]*)
        preload_folder=$runtime/native
        case $preload_folder in
        *[\ :\;]*) fail $exit_failure "LD_PRELOAD cannot name $native_folder: move Tessera to a path without" \
            "blanks, colons and semicolons" ;;
        esac
        [ -d "$runtime" ] || mkdir -m 700 "$runtime" || fail $exit_failure "cannot make $runtime"
        [ -O "$runtime" ] || fail $exit_failure "$runtime belongs to somebody else; no link to $native_folder there"
        ln -sfn "$native_folder" "$preload_folder" || fail $exit_failure "cannot make the link $preload_folder"
        ;;
    esac
    case ${LD_PRELOAD:-} in
    "$preload_folder/libcuda.so.1"*) ;; # a tessera run inside another
    *)
        preload_list=$preload_folder/libcuda.so.1:$preload_folder/libnvidia-ml.so.1
        if use_own_runtime; then
            # Names of both carry versions, so that each program is given the one that it was linked with.
            preload_list=$preload_list:$preload_folder/runtime/libcudart.so.13:$preload_folder/runtime/libcudart.so.12
        fi
        LD_PRELOAD=$preload_list${LD_PRELOAD:+:$LD_PRELOAD}
        ;;
    esac
    case ${LD_LIBRARY_PATH:-} in
    "$preload_folder" | "$preload_folder":*) ;;
    *) LD_LIBRARY_PATH=$preload_folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} ;;
    esac
    TRITON_LIBCUDA_PATH=$preload_folder
    export LD_PRELOAD LD_LIBRARY_PATH TRITON_LIBCUDA_PATH
}

run_command() {
    start_manager=yes
    runtime_library=auto
    run_given=
    tenant_terms=
    tenant_class=
    tenant_replayable=
    wait_options=
    device_given=
    while [ $# -gt 0 ]; do
        case $1 in
        --memory | --memory-guarantee | --plan | --name | --device | --share | --runtime | --fence | --unfenced | \
            --kernel-timeout | --swap-directory | --swap-file | --weight | --priority | --class | --cap | --soft-cap)
            [ $# -ge 2 ] || usage run "$1 needs a value"
            case $2 in --*) usage run "$1 needs a value, and $2 is an option" ;; esac
            run_option "$1" "$2"
            shift 2
            ;;
        --memory=* | --memory-guarantee=* | --plan=* | --name=* | --device=* | --share=* | --runtime=* | --fence=* | \
            --unfenced=* | --kernel-timeout=* | --swap-directory=* | --swap-file=* | --weight=* | --priority=* | --class=* | \
            --cap=* | --soft-cap=* | --replayable=*)
            run_option "${1%%=*}" "${1#*=}"
            shift
            ;;
        --fence-alone) export TESSERA_FENCE_ALONE=1; run_given="$run_given $1"; shift ;;
        --replayable)
            # The value is left out or joined, so that no program is taken for a value.
            case ${2-} in yes | no) usage run "--replayable $2: --replayable=$2 is meant" ;; esac
            run_option "$1" yes
            shift
            ;;
        --wait | --wait=*) wait_option "$1"; shift ;;
        --require) export TESSERA_REQUIRE=1; shift ;;
        --no-manager) start_manager=no; shift ;;
        -h | --help) help_command run; exit 0 ;;
        --) shift; break ;;
        -*) usage run "run has no option $1; put -- before a program that starts with a dash" ;;
        *) break ;;
        esac
    done
    [ $# -gt 0 ] || usage run "which program? tessera run [options] -- PROGRAM [ARGUMENTS]"
    check_environment
    export TESSERA_SHARE="${TESSERA_SHARE:-auto}" TESSERA_PLAN="${TESSERA_PLAN:-$default_plan}"
    check_memory
    say_without_effect
    need_native
    find_runtime
    if ! manager_runs && [ $start_manager = yes ]; then
        . "$scripts/manager.sh"
        launch_manager || exit_start $?
    fi
    find_driver
    # An executor needs no driver in the program: it has one of its own, or is the software GPU.
    [ -n "$driver" ] || [ "$TESSERA_SHARE" = space ] ||
        say "this machine has no GPU driver (no libcuda.so.1): the program will see no GPU; --share space gives it one in software"
    # Where only one way is possible, or the options speak of one, there is nothing to choose.
    if [ "$TESSERA_SHARE" = auto ] && { [ -z "$driver" ] || [ -n "$tenant_terms" ]; }; then
        export TESSERA_SHARE=time
    fi
    export TESSERA_RUNTIME_DIR="$runtime"
    [ -n "${TESSERA_NAME:-}" ] || { default_label "$1"; export TESSERA_NAME="$label"; }
    check_program "$1"
    await_place
    set_terms
    preload
    exec "$@"
}

# Ends where there is no such program, in our own words: the shell's exec speaks of this script. Errors that only exec finds (a wrong
# format, a missing interpreter) are left to it.
check_program() { # PROGRAM
    case $1 in
    */*)
        [ -e "$1" ] || fail 127 "$1: not found"
        [ ! -d "$1" ] || fail 126 "$1: a directory, no program"
        [ -x "$1" ] || fail 126 "$1: cannot be executed: chmod +x, or its interpreter before it"
        ;;
    *[!0-9]*) command -v "$1" >/dev/null || fail 127 "$1: not found" ;;
    *)
        command -v "$1" >/dev/null && return 0
        [ "$wait_options" = " --seconds=-1" ] && [ -n "$1" ] || fail 127 "$1: not found"
        fail 127 "$1: not found; for at most $1 seconds waits --wait=$1"
        ;;
    esac
}

# The manager keeps the tenant's terms of the GPU's time. Nothing of the program has run yet, so a refusal ends the command.
set_terms() {
    tenant_terms=$tenant_terms$tenant_class$tenant_replayable
    [ -n "$tenant_terms" ] || return 0
    [ "$TESSERA_SHARE" != space ] || tenant_terms="$tenant_terms --space"
    # No quotation marks: run_option lets no blanks through.
    (client_command tenant --own --ahead --while-it-runs $tenant_terms -- "$TESSERA_NAME" >/dev/null) || exit $?
}

# Variables mean what the options mean, and a wrong one is as wrong.
check_environment() {
    for run_variable in TESSERA_MEMORY TESSERA_MEMORY_GUARANTEE TESSERA_PLAN TESSERA_SWAP_DIRECTORY TESSERA_SWAP_FILE_BYTES \
        TESSERA_NAME TESSERA_SHARE TESSERA_FENCE TESSERA_UNFENCED TESSERA_KERNEL_TIMEOUT; do
        eval "run_value=\${$run_variable:-}"
        [ -z "$run_value" ] || run_option "$run_variable" "$run_value"
    done
    check_milliseconds TESSERA_MANAGER_TIMEOUT_MS 1
    check_milliseconds TESSERA_MEMORY_WAIT_MS 0
    for run_variable in TESSERA_DISABLE TESSERA_REQUIRE TESSERA_QUIET TESSERA_FENCE_ALONE; do
        eval "run_value=\${$run_variable:-}"
        case $run_value in '' | 0 | 1) ;; *) usage run "$run_variable=$run_value: 1, or 0" ;; esac
    done
    for run_variable in TESSERA_TRACE TESSERA_MOVE_TRACE; do
        eval "run_value=\${$run_variable:-}"
        [ -z "$run_value" ] || is_writable_file "$run_value" ||
            usage run "$run_variable=$run_value: a file that can be written to"
    done
    [ -z "${TESSERA_DRIVER:-}" ] || is_library "$TESSERA_DRIVER" ||
        usage run "TESSERA_DRIVER=$TESSERA_DRIVER: a library that can be read (libcuda.so.1)"
    [ -z "${TESSERA_NVML:-}" ] || is_library "$TESSERA_NVML" ||
        usage run "TESSERA_NVML=$TESSERA_NVML: a library that can be read (libnvidia-ml.so.1)"
}

check_milliseconds() { # VARIABLE LEAST
    eval "run_value=\${$1:-}"
    case $run_value in
    '') return 0 ;;
    *[!0-9]* | ????????????*) ;;
    *) [ "$run_value" -lt "$2" ] || [ "$run_value" -gt "${longest_timeout}000" ] || return 0 ;;
    esac
    usage run "$1=$run_value: a whole number of milliseconds from $2 to ${longest_timeout}000"
}

# Whether the file $1 begins as a library does.
is_library() {
    [ -f "$1" ] && [ -r "$1" ] || return 1
    case $(head -c 4 "$1") in ?ELF) ;; *) return 1 ;; esac
}

# Whether a program can append to the file $1, which is made where it is not there yet. Permissions are not enough: root has all of them,
# and in /proc no file can be made.
is_writable_file() {
    if [ -e "$1" ] && [ ! -f "$1" ]; then
        [ ! -d "$1" ] && [ -w "$1" ]
        return
    fi
    (: >>"$1") 2>/dev/null
}

# Whether a program can make files in the directory $1.
is_writable_directory() {
    [ -d "$1" ] && [ -w "$1" ] && directory_file=$(mktemp "$1/.tessera-XXXXXX" 2>/dev/null) && rm -f "$directory_file"
}

# Says which options of this command line do nothing in the way of sharing that was chosen.
say_without_effect() {
    for run_option in $run_given; do
        case $TESSERA_SHARE$run_option in
        space--memory-guarantee | space--swap-directory | space--swap-file)
            say "$run_option has no effect with --share space: the executor moves memory of programs that share by space as it has to" ;;
        space--plan) [ "$TESSERA_PLAN" = auto ] || [ "$TESSERA_PLAN" = plain ] ||
            say "--plan $TESSERA_PLAN has no effect with --share space: the executor moves memory of programs that share by space as it has to" ;;
        time--replayable)
            say "$run_option has no effect without --share space: kernels of programs that share by time are not stopped" ;;
        time--fence | time--unfenced | time--fence-alone | time--kernel-timeout)
            say "$run_option has no effect without --share space: programs that share by time run their kernels as they are" ;;
        esac
    done
}

# What the options about memory say together.
check_memory() {
    if [ -n "${TESSERA_MEMORY_GUARANTEE:-}" ]; then
        case $TESSERA_PLAN in
        swap | auto) ;;
        *) usage run "--memory-guarantee is about memory that can leave the GPU: with --plan swap or auto" ;;
        esac
        if [ -n "${TESSERA_MEMORY:-}" ] && [ "$TESSERA_MEMORY_GUARANTEE" -gt "$TESSERA_MEMORY" ]; then
            usage run "--memory-guarantee $TESSERA_MEMORY_GUARANTEE is more than --memory $TESSERA_MEMORY (bytes)"
        fi
    fi
    if [ -n "${TESSERA_SWAP_FILE_BYTES:-}" ] && [ -z "${TESSERA_SWAP_DIRECTORY:-}" ]; then
        usage run "--swap-file needs --swap-directory: where the file is to be"
    fi
}

# Whether each word of a list can be a device: an ordinal, -1 (none), or a UUID of a GPU or a part of one.
is_device_list() {
    device_rest=$1,
    while [ -n "$device_rest" ]; do
        case ${device_rest%%,*} in
        GPU-?* | MIG-?*) case ${device_rest%%,*} in *[!0-9A-Za-z/-]*) return 1 ;; esac ;;
        -1) ;;
        '' | *[!0-9]*) return 1 ;;
        esac
        device_rest=${device_rest#*,}
    done
}

run_option() { # OPTION VALUE
    run_given="$run_given $1"
    case $1 in
    --memory | TESSERA_MEMORY)
        parse_size "$1" "$2"
        export TESSERA_MEMORY="$bytes"
        ;;
    --memory-guarantee | TESSERA_MEMORY_GUARANTEE)
        parse_size "$1" "$2"
        export TESSERA_MEMORY_GUARANTEE="$bytes"
        ;;
    --plan | TESSERA_PLAN)
        case $2 in
        auto | plain | managed | swap) export TESSERA_PLAN="$2" ;;
        *) usage run "$1 $2: a plan is auto, plain, managed or swap" ;;
        esac
        ;;
    --swap-directory | TESSERA_SWAP_DIRECTORY)
        is_writable_directory "$2" || usage run "$1 '$2': a directory that can be written to"
        case $2 in
        /*) export TESSERA_SWAP_DIRECTORY="$2" ;;
        *) export TESSERA_SWAP_DIRECTORY="$PWD/$2" ;;
        esac
        ;;
    --swap-file | TESSERA_SWAP_FILE_BYTES)
        parse_size "$1" "$2"
        export TESSERA_SWAP_FILE_BYTES="$bytes"
        ;;
    --name | TESSERA_NAME)
        find_length "$2"
        [ "$length" -ge 1 ] && [ "$length" -le $most_label_bytes ] || usage run "$1 '$2': a label has 1 to $most_label_bytes bytes"
        export TESSERA_NAME="$2"
        ;;
    --share | TESSERA_SHARE)
        case $2 in
        auto | time | space) export TESSERA_SHARE="$2" ;;
        *) usage run "$1 $2: GPUs are shared by time or by space, or auto: as the manager says" ;;
        esac
        ;;
    --fence | TESSERA_FENCE)
        case $2 in
        mask | modulo | check) export TESSERA_FENCE="$2" ;;
        *) usage run "$1 $2: a fence is mask, modulo or check" ;;
        esac
        ;;
    --unfenced | TESSERA_UNFENCED)
        case $2 in
        refuse | time | trusted | own) export TESSERA_UNFENCED="$2" ;;
        *) usage run "$1 $2: kernels that cannot be fenced are met by refuse, time, trusted or own" ;;
        esac
        ;;
    --kernel-timeout | TESSERA_KERNEL_TIMEOUT)
        seconds=${2%s}
        case $seconds in
        '' | *[!0-9]* | 0* | ?????????*) seconds=0 ;;
        esac
        [ "$seconds" -gt 0 ] && [ "$seconds" -le $longest_timeout ] ||
            usage run "$1 $2: a timeout is a number of seconds from 1 to $longest_timeout, a year"
        export TESSERA_KERNEL_TIMEOUT="$seconds"
        ;;
    --weight | --priority | --class | --cap | --soft-cap)
        case $2 in
        '' | *[!0-9a-z.%-]*) usage run "$1 '$2': tessera help tenant says what it takes" ;;
        esac
        case $1 in --class) tenant_class=" $1=$2" ;; *) tenant_terms="$tenant_terms $1=$2" ;; esac
        ;;
    --replayable)
        case $2 in
        yes | no) tenant_replayable=" $1=$2" ;;
        *) usage run "$1=$2: yes or no" ;;
        esac
        ;;
    --runtime)
        case $2 in
        auto | tessera | vendor) runtime_library=$2 ;;
        *) usage run "--runtime $2: the CUDA runtime is auto, tessera or vendor" ;;
        esac
        ;;
    --device)
        case $2 in
        auto) device_given=auto; return 0 ;;
        esac
        is_device_list "$2" || usage run "--device '$2': a list of ordinals (0,1) or UUIDs (GPU-...), or auto: one that the manager chooses"
        device_given=list
        export CUDA_VISIBLE_DEVICES="$2"
        ;;
    esac
}
