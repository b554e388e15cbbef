# The manager's life: start, stop, restart, status, logs. Sourced by tools/tessera, whose functions it uses.

# Longest wait for a manager to answer on its socket, and for one to end, in twentieths of a second.
start_patience=600
stop_patience=300
# The manager's exit codes for a wrong option, and where another one has its runtime directory.
manager_exit_usage=2
manager_exit_running=3
# Log files kept beside the current one.
logs_kept=3
# HotSpot suspends threads with SIGUSR2 unless _JAVA_SR_SIGNUM names another signal above SIGSEGV and below NSIG (65);
# the manager wants SIGUSR2 for itself. 32 to 34 are glibc's and musl's own.
suspend_signal=40

# Makes the runtime directory, or refuses one that others could have prepared (SPEC.md, section 1).
make_runtime() {
    [ -n "${uid:-}" ] || find_uid
    if [ ! -e "$runtime" ] && [ ! -L "$runtime" ]; then
        runtime_mode=700
        [ "$uid" != 0 ] || runtime_mode=711
        mkdir_problem=$(mkdir -p -m $runtime_mode "$runtime" 2>&1) || {
            say "the runtime directory cannot be made: ${mkdir_problem#mkdir: }"
            return 1
        }
    fi
    if [ -L "$runtime" ] || [ ! -d "$runtime" ] || [ ! -O "$runtime" ]; then
        say "the runtime directory $runtime is a link, no directory, or somebody else's: not used. Remove it or set" \
            "TESSERA_RUNTIME_DIR"
        return 1
    fi
    runtime_modes=$(ls -ld "$runtime") || return 1
    case $runtime_modes in
    d????w* | d???????w*)
        say "others can write to the runtime directory $runtime: not used. chmod go-w it or set TESSERA_RUNTIME_DIR"
        return 1
        ;;
    esac
}

# Whether the process $1 still runs. kill -0 would take a zombie, which nobody has collected yet, for a live process.
process_runs() {
    [ -r "/proc/$1/stat" ] || return 1
    read -r process_stat 2>/dev/null <"/proc/$1/stat" || return 1
    # The state follows the name in parentheses, which may hold anything.
    case ${process_stat##*") "} in
    Z* | X* | '') return 1 ;;
    esac
}

rotate_logs() {
    log_number=$logs_kept
    while [ "$log_number" -gt 1 ]; do
        [ ! -e "$log.$((log_number - 1))" ] || mv -f "$log.$((log_number - 1))" "$log.$log_number"
        log_number=$((log_number - 1))
    done
    [ ! -e "$log" ] || mv -f "$log" "$log.1"
}

# What a manager and its executors take from the environment of whoever starts it: others' programs meet it, too. Which of ours
# are a program's own stands in the README. LD_LIBRARY_PATH is where a container has its driver.
manager_environment='HOME|USER|LOGNAME|PATH|SHELL|LANG|LANGUAGE|LC_[A-Z]+|TZ|LD_LIBRARY_PATH|JAVA_HOME|_JAVA_SR_SIGNUM|XDG_RUNTIME_DIR|XDG_CACHE_HOME|CUDA_CACHE_(PATH|MAXSIZE)|NVIDIA_[A-Z_]+|TESSERA_[A-Z_]+'
programs_environment='TESSERA_(NAME|MEMORY|MEMORY_[A-Z_]+|PLAN|SWAP_[A-Z_]+|SHARE|FENCE|UNFENCED|FENCE_ALONE|KERNEL_TIMEOUT|MOVE_TRACE|TRACE|REQUIRE|DISABLE|QUIET|MANAGER_TIMEOUT_MS|CALLER_PRELOAD)'

# Puts words before java_prefix that take the rest away. awk knows the names; a shell could be deceived by a value with lines.
clean_environment() {
    foreign_names=$(keep="^($manager_environment)\$" drop="^($programs_environment)\$" awk 'BEGIN {
        for (name in ENVIRON)
            if (name ~ /^[A-Za-z_][A-Za-z0-9_]*$/ && (name !~ ENVIRON["keep"] || name ~ ENVIRON["drop"]))
                printf " -u %s", name
    }' 2>/dev/null) || {
        say "without awk the manager keeps the environment of whoever starts it, but for what is certainly a program's own"
        foreign_names=' -u CUDA_VISIBLE_DEVICES -u TESSERA_NAME -u TESSERA_MEMORY -u TESSERA_PLAN -u TESSERA_REQUIRE -u TESSERA_SHARE'
    }
    java_prefix="${java_prefix:-} env$foreign_names"
}

# Soft limits of a shell, as for time or files, are its own programs'. Hard ones stay, and are said.
raise_limits() {
    for limit_option in t f d v l n; do
        limit_most=$(ulimit -H -$limit_option 2>/dev/null) || continue
        ulimit -S -$limit_option "$limit_most" 2>/dev/null || continue
        case $limit_option$limit_most in
        *unlimited | l* | n*) ;;
        *) say "the hard limit of who starts the manager holds for it and its executors, too: ulimit -$limit_option $limit_most" ;;
        esac
    done
}

# Becomes the manager.
manager_exec() {
    export TESSERA_RUNTIME_DIR="$runtime" _JAVA_SR_SIGNUM="$suspend_signal"
    umask 022
    raise_limits
    clean_environment
    java_exec io.tessera.manager.Main "$@"
}

# Starts a manager in the background with the given options and waits until it can be reached. Two callers at once
# end up with one manager: the lock lets the second see the first one's.
launch_manager() {
    need_app
    need_java
    make_runtime || return 1
    log=$runtime/manager.log
    if command -v flock >/dev/null; then
        # Nobody else can hold it. A lock of an earlier version could be read by everybody.
        (umask 077 && : >>"$runtime/start.lock" && chmod 600 "$runtime/start.lock")
        exec 9>"$runtime/start.lock"
        flock -w 2 9 || {
            say "another start of a manager is under way ($runtime/start.lock): waiting for it, a minute at most"
            flock -w 58 9 || say "another start holds $runtime/start.lock for a minute; going on without it"
        }
    fi
    if manager_in "$runtime"; then
        exec 9>&-
        return 0
    fi
    # A start that fails leaves the last manager's log where it is.
    starting_log=$runtime/manager.failed.log
    # In a shell of its own, which ends when the manager answers: the manager is nobody's child, also not the program's that
    # this process becomes.
    (
        (
            rm -f "$starting_log"
            umask 077 # it names everybody's programs
            exec </dev/null >"$starting_log" 2>&1 9>&-
            trap '' HUP
            cd / || exit 1
            java_prefix=
            ! command -v setsid >/dev/null || java_prefix=setsid
            manager_exec "$@"
        ) &
        launched=$!
        await_manager || exit $?
        process_runs "$launched" || exit 0
        rotate_logs
        mv -f "$starting_log" "$log"
    )
    launch_result=$?
    [ $launch_result != 0 ] || manager_in "$runtime" || launch_result=1
    exec 9>&-
    return $launch_result
}

# Waits until the manager can be reached; says why where it cannot. Exit code 2: a wrong option.
await_manager() {
    tries=0
    launched_runs=yes
    while ! manager_in "$runtime"; do
        if [ $launched_runs = yes ] && ! process_runs "$launched"; then
            launched_runs=no
            wait "$launched"
            launched_code=$?
            # Another manager came first and is not ready yet: its socket is as good.
            if [ $launched_code -ne $manager_exit_running ]; then
                if [ $launched_code = $manager_exit_usage ]; then
                    cat "$starting_log" >&2
                    return $exit_usage
                fi
                say "the manager ended at once with exit code $launched_code; the end of $starting_log:"
                tail -n 20 "$starting_log" >&2
                say "tessera doctor looks for the reason; tessera run --no-manager runs a program without a manager"
                return 1
            fi
        fi
        if [ $tries -ge $start_patience ]; then
            say "the manager (pid $launched) does not answer after $((start_patience / 20)) s; the end of $starting_log:"
            tail -n 20 "$starting_log" >&2
            return 1
        fi
        tries=$((tries + 1))
        sleep 0.05
    done
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

start_command() {
    start_options "$@"
    shift $own_options
    find_runtime
    case " $* " in *" --help "*) need_app; need_java; manager_exec --help ;; esac
    if manager_in "$runtime"; then
        say "a manager runs already: pid $manager_pid, $runtime"
        [ $# -gt 0 ] || return 0
        say "it goes on with the options that it has; these need a restart: tessera manager restart -- $*"
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

# A running manager is not ended for options that the next one would refuse.
restart_command() {
    start_options "$@"
    shift $own_options
    find_runtime
    case " $* " in *" --help "*) need_app; need_java; manager_exec --help ;; esac
    if [ $# -gt 0 ]; then
        need_app
        need_java
        (manager_exec --check "$@") || exit $?
    fi
    ! manager_in "$runtime" || stop_command
    [ $foreground = no ] || set -- --foreground -- "$@"
    [ $foreground = yes ] || set -- -- "$@"
    start_command "$@"
}

# Ends the manager alone: relayed programs go on in their executors, the others without turns.
stop_command() {
    find_runtime
    if ! manager_runs; then
        # One whose pid file was removed still answers.
        [ ! -S "$runtime/control.sock" ] || stop_by_socket
        say "no manager runs in $runtime"
        return $exit_no_manager
    fi
    stop_pid=$manager_pid
    kill -TERM "$stop_pid" 2>/dev/null || fail $exit_failure "cannot end the manager $stop_pid of $runtime: not yours"
    tries=0
    while process_runs "$stop_pid"; do
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
    java_exec io.tessera.cli.Main manager-stop "$@"
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
        stop_command
        return
    fi
    find_runtime
    manager_runs || :
    stop_by_socket "$@"
}

status_command() {
    find_runtime
    if manager_runs; then
        printf 'manager runs: pid %s, %s\n' "$manager_pid" "$runtime"
        return 0
    fi
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
    -h | --help) help_command manager ;;
    '') usage manager "manager needs one of start, stop, restart, status, logs" ;;
    *) usage manager "manager has no command $manager_verb; it has start, stop, restart, status, logs" ;;
    esac
}
