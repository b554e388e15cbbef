# How the manager's process is started, with which environment and limits, and how another one is started where it was killed. Sourced by
# tools/manager.sh, whose functions it uses.

# Seconds; a manager that lived for less is started again after a pause, which grows to a minute.
watch_soon=2
# Log files kept beside the current one.
logs_kept=3
# HotSpot suspends threads with SIGUSR2 unless _JAVA_SR_SIGNUM names another signal above SIGSEGV and below NSIG (65);
# the manager wants SIGUSR2 for itself. 32 to 34 are glibc's and musl's own.
suspend_signal=40

rotate_logs() {
    log_number=$logs_kept
    while [ "$log_number" -gt 1 ]; do
        [ ! -e "$log.$((log_number - 1))" ] || mv -f "$log.$((log_number - 1))" "$log.$log_number"
        log_number=$((log_number - 1))
    done
    [ ! -e "$log" ] || mv -f "$log" "$log.1"
}

# The variables that a manager and its executors take from the environment of the process that starts the manager: programs of others meet
# them, too. Which of ours are a program's own stands in the README. LD_LIBRARY_PATH is where a container has its driver.
manager_environment='HOME|USER|LOGNAME|PATH|SHELL|LANG|LANGUAGE|LC_[A-Z]+|TZ|LD_LIBRARY_PATH|JAVA_HOME|_JAVA_SR_SIGNUM|XDG_RUNTIME_DIR|XDG_CACHE_HOME|CUDA_CACHE_(PATH|MAXSIZE)|NVIDIA_[A-Z_]+|TESSERA_[A-Z_]+'
programs_environment='TESSERA_(NAME|MEMORY|MEMORY_[A-Z_]+|PLAN|SWAP_[A-Z_]+|SHARE|FENCE|UNFENCED|FENCE_ALONE|KERNEL_TIMEOUT|MOVE_TRACE|TRACE|REQUIRE|DISABLE|QUIET|MANAGER_TIMEOUT_MS|CALLER_PRELOAD)'

# Puts words before java_prefix that take the rest away. awk knows the names; a shell could be deceived by a value with lines.
clean_environment() {
    foreign_names=$(keep="^($manager_environment)\$" drop="^($programs_environment)\$" awk 'BEGIN {
        for (name in ENVIRON)
            if (name ~ /^[A-Za-z_][A-Za-z0-9_]*$/ && (name !~ ENVIRON["keep"] || name ~ ENVIRON["drop"]))
                printf " -u %s", name
    }' 2>/dev/null) || {
        say "without awk the manager keeps the environment of the process that starts it, except variables that only programs use"
        foreign_names=' -u CUDA_VISIBLE_DEVICES -u TESSERA_NAME -u TESSERA_MEMORY -u TESSERA_PLAN -u TESSERA_REQUIRE -u TESSERA_SHARE'
    }
    java_prefix="${java_prefix:-} env$foreign_names"
}

# Soft limits of a shell, as for time or files, are its own programs'. Hard ones stay, and are reported.
raise_limits() {
    for limit_option in t f d v l n; do
        limit_most=$(ulimit -H -$limit_option 2>/dev/null) || continue
        ulimit -S -$limit_option "$limit_most" 2>/dev/null || continue
        case $limit_option$limit_most in
        *unlimited | l* | n*) ;;
        *) say "the manager and its executors have the hard limit of the process that starts the manager: ulimit -$limit_option $limit_most" ;;
        esac
    done
}

# Becomes the manager.
manager_exec() {
    export TESSERA_RUNTIME_DIR="$runtime" _JAVA_SR_SIGNUM="$suspend_signal"
    umask 022
    raise_limits
    clean_environment
    java_size=$java_daemon
    java_exec io.tessera.manager.ManagerMain "$@"
}

# Runs a manager as a child, and another one with the same options and environment where it was killed or crashed. This is the
# process that a start in the background leaves: no program has to start anything in its own process for all the others, with
# its own descriptors, signals and limits, or with less rights. A manager that a user ends in order stays ended.
watch_command() { # MANAGER-OPTIONS
    find_runtime
    need_app
    need_java
    watch_pause=0
    hold_watch
    java_prefix=
    ! command -v setsid >/dev/null || java_prefix=setsid # what ends the watcher's group does not end the manager
    while :; do
        read -r watch_begin watch_rest </proc/uptime
        (manager_exec "$@") 8>&-
        watch_code=$?
        # 128 and the signal. The others are ends in order, or say themselves what is wrong.
        case $watch_code in
        132 | 134 | 135 | 136 | 137 | 139) ;; # ILL, ABRT, BUS, FPE, KILL, SEGV
        *) exit $watch_code ;;
        esac
        read -r watch_end watch_rest </proc/uptime
        if [ $((${watch_end%.*} - ${watch_begin%.*})) -ge $watch_soon ]; then
            watch_pause=0
        else
            sleep $watch_pause 8>&-
            watch_pause=$((watch_pause < 30 ? watch_pause * 2 + 1 : 60))
        fi
        # One that was killed leaves its socket. Where that is gone, somebody has removed the directory, or wants no manager.
        [ -S "$runtime/manager.sock" ] || exit $watch_code
        say "the manager was ended by signal $((watch_code - 128)): another one is started"
    done
}

# Lets others see that this process lives, by a lock. Nothing that it starts has that.
hold_watch() {
    command -v flock >/dev/null || return 0
    (umask 077 && : >>"$runtime/watch.lock")
    exec 8>"$runtime/watch.lock"
    flock -n 8 || :
}

# Whether somebody starts another manager with the options of the last one, if that was killed.
is_watched() {
    [ -e "$runtime/watch.lock" ] && command -v flock >/dev/null && ! flock -n "$runtime/watch.lock" true
}

# Waits for that one, for two minutes at most: the pause before it can be one. Whether it runs.
await_watched() {
    watched_tries=0
    while is_watched && [ $watched_tries -lt 1200 ]; do
        ! manager_in "$runtime" || return 0
        [ $watched_tries != 20 ] || say "the manager was ended by a signal, and another one is started with its options: waiting for it"
        watched_tries=$((watched_tries + 1))
        sleep 0.1
    done
    manager_in "$runtime"
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
    if manager_in "$runtime" || await_watched; then
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
            export TESSERA_RUNTIME_DIR="$runtime"
            unset LD_PRELOAD # the watcher is no client
            watcher_prefix=
            ! command -v setsid >/dev/null || watcher_prefix=setsid
            exec $watcher_prefix "$scripts/tessera" manager watch "$@"
        ) &
        launched=$!
        await_manager || exit $?
        if ! is_child "$manager_pid" "$launched"; then
            # Another one came first. Ours ends when it sees that, and the log stays the log of the one that runs.
            rm -f "$starting_log"
            exit 0
        fi
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
                say_end "ended at once with exit code $launched_code"
                say "tessera doctor looks for the reason; tessera run --no-manager runs a program without a manager"
                return 1
            fi
        fi
        if [ $tries -ge $start_patience ]; then
            say_end "(pid $launched) does not answer after $((start_patience / 20)) s"
            return 1
        fi
        tries=$((tries + 1))
        sleep 0.05
    done
}

# Says what became of a manager that was started, with the end of what it said.
say_end() { # PREDICATE
    if [ -s "$starting_log" ]; then
        say "the manager $1; the end of $starting_log:"
        tail -n 20 "$starting_log" >&2
    else
        say "the manager $1 and wrote nothing to $starting_log"
    fi
}
