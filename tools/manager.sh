# The manager's life: start, stop, restart, status, logs. Sourced by tools/tessera, whose functions it uses.
. "$scripts/launch.sh"

# Longest wait for a manager to answer on its socket, and for one to end, in twentieths of a second.
start_patience=600
stop_patience=300
# The manager's exit codes for a wrong option, and where another one has its runtime directory.
manager_exit_usage=2
manager_exit_running=3
# What a start writes at least: pid, locks, the first lines of a log.
start_kib=16
# sockaddr_un holds 108 bytes with the final NUL; /control.sock is the longest name of a socket there.
longest_runtime=94

# Makes the runtime directory, or refuses one that others could have prepared (SPEC.md, section 1), or that cannot be used.
make_runtime() {
    [ -n "${uid:-}" ] || find_uid
    if [ ${#runtime} -gt $longest_runtime ]; then
        say "the name of the runtime directory $runtime has ${#runtime} bytes, and a socket's address has room for" \
            "$longest_runtime: set TESSERA_RUNTIME_DIR to a shorter one"
        return 1
    fi
    if [ ! -e "$runtime" ] && [ ! -L "$runtime" ]; then
        runtime_mode=700
        [ "$uid" != 0 ] || runtime_mode=711
        mkdir_problem=$(mkdir -p -m $runtime_mode "$runtime" 2>&1) || {
            say "the runtime directory cannot be made: ${mkdir_problem#mkdir: }"
            return 1
        }
    fi
    if [ -L "$runtime" ] || [ ! -d "$runtime" ]; then
        say "the runtime directory $runtime is a link or no directory: not used. Remove it or set TESSERA_RUNTIME_DIR"
        return 1
    fi
    runtime_modes=$(ls -ldn "$runtime") || return 1
    [ -O "$runtime" ] || {
        say_foreign_runtime
        return 1
    }
    case $runtime_modes in
    d????w* | d???????w*)
        say "others can write to the runtime directory $runtime: not used. chmod go-w it or set TESSERA_RUNTIME_DIR"
        return 1
        ;;
    esac
    runtime_writable
}

# Why a directory of another user is not used. runtime_modes is its line of ls -n: modes, links, the owner's number.
say_foreign_runtime() {
    # shellcheck disable=SC2086
    set -- $runtime_modes
    if [ "$3" = 0 ]; then
        say "the runtime directory $runtime is root's, and no manager runs there: an administrator starts one (tessera manager" \
            "start); for a manager of your own set TESSERA_RUNTIME_DIR to a directory of yours"
    else
        say "the runtime directory $runtime belongs to user $3: not used. Set TESSERA_RUNTIME_DIR to a directory of your own"
    fi
}

# Whether files with contents can be made in the runtime directory: asked before a manager is started, or ended for another.
runtime_writable() {
    runtime_trial=$runtime/trial-$$
    # Soft limits are the caller's, and a manager leaves them behind.
    runtime_problem=$(
        ulimit -S -f "$(ulimit -H -f)"
        LC_ALL=C dd if=/dev/zero of="$runtime_trial" bs=1024 count=$start_kib 2>&1
    )
    runtime_result=$?
    rm -f "$runtime_trial" 2>/dev/null
    [ $runtime_result != 0 ] || return 0
    case $runtime_problem in
    *'No space'* | *quota*)
        say "no space left on the file system of the runtime directory $runtime: make room there, or set TESSERA_RUNTIME_DIR"
        ;;
    *'Permission denied'*)
        say "nothing can be written to the runtime directory $runtime (permission denied): chmod u+rwx it, or set TESSERA_RUNTIME_DIR"
        ;;
    *)
        runtime_problem=${runtime_problem%%
*}
        say "nothing can be written to the runtime directory $runtime (${runtime_problem##*: }): repair it, or set TESSERA_RUNTIME_DIR"
        ;;
    esac
    return 1
}

# State of the process $1 in process_state: the letter of proc(5), empty where there is no such process.
find_state() {
    process_state=
    [ -r "/proc/$1/stat" ] && read -r process_stat 2>/dev/null <"/proc/$1/stat" || return 0
    # The state follows the name in parentheses, which may hold anything.
    process_state=${process_stat##*") "}
    process_state=${process_state%% *}
}

# Whether the process $1 still runs. kill -0 would take a zombie, which nobody has collected yet, for a live process.
process_runs() {
    find_state "$1"
    case $process_state in
    Z | X | '') return 1 ;;
    esac
}

# Whether the process $1 is a child of the process $2.
is_child() {
    find_state "$1"
    [ -n "$process_state" ] || return 1
    # The parent follows the state.
    process_parent=${process_stat##*") "? }
    [ "${process_parent%% *}" = "$2" ]
}

# Whether the manager manager_pid is stopped by a signal or held by a debugger: it answers nobody, and SIGTERM waits. Says it.
manager_stopped() {
    find_state "$manager_pid"
    case $process_state in
    T | t) ;;
    *) return 1 ;;
    esac
    say "the manager (pid $manager_pid, $runtime) is stopped and answers nobody: kill -CONT $manager_pid lets it go on," \
        "kill -9 $manager_pid ends it"
}

# Reads what `start` and `restart` are given: foreground, and how many of the arguments come before the manager's own.
start_options() {
    foreground=no
    own_options=0
    while [ $# -gt 0 ]; do
        case $1 in
        --foreground) foreground=yes; own_options=$((own_options + 1)); shift ;;
        --) own_options=$((own_options + 1)); break ;;
        *) usage manager "manager start has no option $1; options of the manager itself come after --" ;;
        esac
    done
}

# Answers what only asks about options of the manager, --help and --check, and ends; returns where they ask for neither.
answer_options() {
    case " $* " in
    *" --help "*) set -- --help ;;
    *" --check "*) ;;
    *) return 0 ;;
    esac
    need_app
    need_java
    manager_exec "$@"
}

# Calls the function $1 with the manager's options that follow, but for those that name its directories: the scripts must know
# these, too, and relative ones are the caller's, so they become variables.
with_directories() { # FUNCTION OPTIONS...
    directories_left=$(($# - 1))
    directories_function=$1
    directories_given=
    shift
    while [ $directories_left -gt 0 ]; do
        directories_option=$1
        directories_left=$((directories_left - 1))
        shift
        case $directories_option in
        --runtime-directory | --shm-directory)
            [ $directories_left -gt 0 ] || usage manager "$directories_option needs a value: a path"
            name_directory "$directories_option" "$1"
            directories_left=$((directories_left - 1))
            shift
            ;;
        --runtime-directory=* | --shm-directory=*) name_directory "${directories_option%%=*}" "${directories_option#*=}" ;;
        *) set -- "$@" "$directories_option" ;;
        esac
    done
    find_runtime
    answer_options "$@"
    "$directories_function" "$@"
}

name_directory() { # OPTION PATH
    [ -n "$2" ] || usage manager "$1 '': a path is not empty"
    case $2 in /*) named_directory=$2 ;; *) named_directory=$PWD/$2 ;; esac
    case $1 in
    --runtime-directory) export TESSERA_RUNTIME_DIR="$named_directory" ;;
    *) export TESSERA_SHM_DIR="$named_directory" ;;
    esac
    directories_given="$directories_given $1 $2"
}

start_command() {
    start_options "$@"
    shift $own_options
    with_directories start_manager "$@"
}

start_manager() { # MANAGER-OPTIONS
    if manager_in "$runtime"; then
        ! manager_stopped || return $exit_failure
        say "a manager runs already: pid $manager_pid, $runtime"
        [ $# -gt 0 ] || return 0
        say "it goes on with the options that it has; these need a restart: tessera manager restart --$directories_given $*"
        return $exit_failure
    fi
    if [ $foreground = yes ]; then
        need_app
        need_java
        make_runtime || exit $exit_failure
        manager_exec "$@"
    fi
    launch_manager "$@" || exit_start $?
    printf 'manager started: pid %s, %s\n' "$manager_pid" "$runtime"
}

# Ends with what a launch that failed with $1 means.
exit_start() {
    [ "$1" != $exit_usage ] || exit $exit_usage
    exit $exit_no_manager
}

restart_command() {
    start_options "$@"
    shift $own_options
    with_directories restart_manager "$@"
}

# A running manager is not ended for options that the next one would refuse, nor where the next one could not write.
restart_manager() { # MANAGER-OPTIONS
    if [ $# -gt 0 ]; then
        need_app
        need_java
        (manager_exec --check "$@" >/dev/null) || exit $?
    fi
    if manager_in "$runtime"; then
        make_runtime || exit $exit_failure
        stop_command || return
    fi
    start_manager "$@"
}

# Ends the manager alone: relayed programs go on in their executors, the others without turns.
stop_command() {
    if ! manager_runs; then
        # One whose pid file was removed still answers.
        fail_hidden
        [ ! -O "$runtime" ] || rm -f "$runtime/manager.sock" # of one that was killed: its watcher starts no other
        [ ! -S "$runtime/control.sock" ] || stop_by_socket
        say "no manager runs in $runtime"
        return $exit_no_manager
    fi
    ! manager_stopped || return $exit_failure
    stop_pid=$manager_pid
    kill -TERM "$stop_pid" 2>/dev/null || fail $exit_failure "cannot end the manager $stop_pid of $runtime: not yours"
    tries=0
    while process_runs "$stop_pid"; do
        ! manager_stopped || return $exit_failure
        [ $tries -lt $stop_patience ] || fail $exit_failure "the manager $stop_pid still runs after" \
            "$((stop_patience / 20)) s; look at tessera manager logs"
        tries=$((tries + 1))
        sleep 0.05
    done
    printf 'manager stopped: pid %s\n' "$stop_pid"
}

# Ends what answers on the sockets, whatever the pid file says. Becomes that command.
stop_by_socket() { # OPTIONS
    need_app
    need_java
    export TESSERA_RUNTIME_DIR="$runtime"
    java_exec io.tessera.cli.TesseraMain manager-stop "$@"
}

# `stop`, and `stop --programs [--yes]`, which ends programs and executors, too.
stop_options() {
    stop_programs=no
    for stop_argument in "$@"; do
        case $stop_argument in
        --programs) stop_programs=yes ;;
        --yes) ;;
        *) usage manager "manager stop has no option $stop_argument" ;;
        esac
    done
    if [ $stop_programs = no ]; then
        [ $# = 0 ] || usage manager "manager stop --yes answers the question of --programs"
        find_runtime
        stop_command
        return
    fi
    find_runtime
    ! manager_runs || ! manager_stopped || return $exit_failure
    stop_by_socket "$@"
}

status_command() {
    find_runtime
    if manager_runs; then
        ! manager_stopped || return $exit_failure
        printf 'manager runs: pid %s, %s\n' "$manager_pid" "$runtime"
        return 0
    fi
    fail_hidden
    printf 'no manager runs (%s)\n' "$runtime"
    return $exit_no_manager
}

logs_command() {
    case ${1:-} in
    '' | -f | --follow) ;;
    *) usage manager "manager logs has no option $1" ;;
    esac
    find_runtime
    manager_runs || :
    log=$runtime/manager.log
    # The owner of the directory could replace the file, to have anything shown or a pipe waited for.
    if [ -e "$log" ] && [ ! -O "$runtime" ] && { [ -L "$log" ] || [ ! -f "$log" ]; }; then
        fail $exit_failure "$log is a link or no file, in somebody else's directory: not shown"
    fi
    [ -r "$log" ] || fail $exit_failure "there is no log at $log (or it is not yours to read)"
    [ $# -gt 0 ] || exec tail -n 200 "$log"
    # By name, so that it goes on with the next manager's log.
    exec tail -n 200 -F "$log"
}

# Commands without options of their own.
no_options() { # VERB ARGUMENTS...
    [ $# -eq 1 ] || usage manager "manager $1 has no option $2"
}

manager_command() {
    manager_verb=${1:-}
    [ $# -eq 0 ] || shift
    for manager_argument in "$@"; do
        case $manager_argument in
        --) break ;;
        -h | --help) help_command manager; return ;;
        esac
    done
    case $manager_verb in
    start) start_command "$@" ;;
    stop) stop_options "$@" ;;
    restart) restart_command "$@" ;;
    status) no_options status "$@"; status_command ;;
    logs) logs_command "$@" ;;
    watch) watch_command "$@" ;;
    -h | --help) help_command manager ;;
    '') usage manager "manager needs one of start, stop, restart, status, logs" ;;
    *) usage manager "manager has no command $manager_verb; it has start, stop, restart, status, logs" ;;
    esac
}
