# `tessera demo`: three ordinary programs share a device, on a GPU or, where there is none, on the software GPU. Sourced
# by tools/tessera, whose functions it uses.
#
# The demo has a manager of its own in a folder of its own, so it disturbs nobody and leaves nothing behind.

demo_seconds=12
# Longest that the programs may take beyond their seconds: JVM starts, and a first context on a GPU.
demo_grace=120

demo_command() {
    demo_share=space
    while [ $# -gt 0 ]; do
        case $1 in
        --seconds)
            [ $# -ge 2 ] || usage demo "--seconds needs a value"
            demo_seconds=$2
            shift 2
            ;;
        --seconds=*) demo_seconds=${1#*=}; shift ;;
        --software) demo_executors=software; shift ;;
        -h | --help) help_command demo; exit 0 ;;
        *) usage demo "demo has no option $1" ;;
        esac
    done
    case $demo_seconds in
    '' | *[!0-9]* | ????*) usage demo "--seconds $demo_seconds: a whole number of seconds, at most 999" ;;
    esac
    need_native
    need_app
    find_demo_programs
    need_java
    demo_folder=$(mktemp -d "${TMPDIR:-/tmp}/tessera-demo-XXXXXX") || fail $exit_failure "cannot make a folder in ${TMPDIR:-/tmp}"
    export TESSERA_RUNTIME_DIR="$demo_folder/run" TESSERA_SHM_DIR="$demo_folder/segments"
    unset TESSERA_MEMORY TESSERA_NAME TESSERA_PLAN TESSERA_REQUIRE TESSERA_SHARE
    trap 'demo_end; exit 130' INT
    trap 'demo_end; exit 143' TERM HUP
    demo_run
    demo_result=$?
    demo_end
    exit $demo_result
}

find_demo_programs() {
    if [ "$layout" = tree ]; then
        demo_classes=$TESSERA_HOME/tests/demo/target/classes
        demo_jars=$TESSERA_HOME/tests/demo/target/app
        demo_heat=$TESSERA_HOME/tests/demo/target/bin/heat
    else
        demo_classes=$TESSERA_HOME/demo/classes
        demo_jars=$TESSERA_HOME/demo/app
        demo_heat=$TESSERA_HOME/demo/heat
    fi
    [ -x "$demo_heat" ] || need_build "the demo's programs ($demo_heat)"
    [ -x "$demo_heat" ] || fail $exit_failure "the build made no $demo_heat"
    demo_kernel=$demo_classes/io/tessera/demo/heat.ptx
}

# Starts the program in the background as tenant $1; its output goes to a file of that name.
demo_start() { # TENANT PROGRAM ARGUMENTS...
    demo_tenant=$1
    shift
    "$scripts/tessera" run --share $demo_share --name "$demo_tenant" --memory 256MiB -- "$@" \
        >"$demo_folder/$demo_tenant.out" 2>&1 </dev/null &
    eval "demo_pid_$demo_tenant=$!"
    demo_pids="$demo_pids $!"
}

demo_run() {
    printf 'Starting a manager ...\n'
    demo_starting=yes
    "$scripts/tessera" manager start ${demo_executors:+-- --executors "$demo_executors"} >"$demo_folder/start.out" 2>&1 || {
        cat "$demo_folder/start.out" >&2
        return $exit_no_manager
    }
    demo_starting=no
    printf 'Running three programs at once, %s seconds: matrix (Java), histogram (Java), heat (C)\n\n' "$demo_seconds"
    demo_pids=
    demo_java="$java_home/bin/java -XX:+UseSerialGC -Xmx128m --enable-native-access=ALL-UNNAMED"
    # Word splitting of the flags is meant; a JDK in a folder with blanks is the one case that it cannot serve.
    # JCuda unpacks its libraries to a fixed name in the temporary folder: two programs must not share one.
    mkdir "$demo_folder/matrix" "$demo_folder/histogram" "$demo_folder/meeting" || return $exit_failure
    export DEMO_MEETING="$demo_folder/meeting"
    demo_start matrix $demo_java "-Djava.io.tmpdir=$demo_folder/matrix" -cp "$demo_classes:$demo_jars/*" io.tessera.demo.MatrixProduct "$demo_seconds"
    demo_start histogram $demo_java "-Djava.io.tmpdir=$demo_folder/histogram" -cp "$demo_classes:$demo_jars/*" io.tessera.demo.Histogram "$demo_seconds"
    demo_start heat "$demo_heat" "$demo_kernel" "$demo_seconds"
    demo_watch # its failure shows in the summary: a program still runs
    demo_summary
}

# Once all three are ready to compute they begin together; a program that has ended is not waited for.
demo_begin() {
    demo_tries=0
    while [ $demo_tries -lt 600 ] && ! { [ -e "$DEMO_MEETING/matrix" ] && [ -e "$DEMO_MEETING/histogram" ] && [ -e "$DEMO_MEETING/heat" ]; }; do
        for demo_pid in $demo_pids; do
            process_runs "$demo_pid" || break 2
        done
        demo_tries=$((demo_tries + 1))
        sleep 0.1
    done
    : >"$DEMO_MEETING/begin"
}

# Shows the status while the programs run, and waits for them with a bound.
demo_watch() {
    demo_begin
    demo_began=$(date +%s)
    demo_shown=0
    while demo_any_runs; do
        demo_waited=$(($(date +%s) - demo_began))
        demo_show_status
        if [ $demo_waited -ge $((demo_seconds + demo_grace)) ]; then
            say "the programs did not end in time; ending them"
            return 1
        fi
        sleep 0.3
    done
}

# Once when all three have work on the device, and again towards the end where that is later by seconds.
demo_show_status() {
    case $demo_shown in
    0) ;;
    1) [ "$demo_seconds" -ge 8 ] && [ $demo_waited -ge $((demo_seconds - 3)) ] || return 0 ;;
    *) return 0 ;;
    esac
    "$scripts/tessera" status >"$demo_folder/status.out" 2>/dev/null || return 0
    # Rows of the three tenants with launches: sixth column from the end, behind which stands how they are fenced.
    awk '$3 ~ /^(matrix|histogram|heat)$/ && $(NF - 5) > 0 { rows++ } END { exit rows == 3 ? 0 : 1 }' \
        "$demo_folder/status.out" || return 0
    demo_shown=$((demo_shown + 1))
    printf '$ tessera status\n'
    cat "$demo_folder/status.out"
    printf '\n'
}

demo_any_runs() {
    for demo_pid in ${demo_pids:-}; do
        ! process_runs "$demo_pid" || return 0
    done
    return 1
}

demo_summary() {
    demo_failed=0
    printf 'Results\n'
    for demo_tenant in matrix histogram heat; do
        eval "demo_pid=\$demo_pid_$demo_tenant"
        if process_runs "$demo_pid"; then
            printf '  %s: still running\n' "$demo_tenant"
            demo_failed=$((demo_failed + 1))
            continue
        fi
        wait "$demo_pid"
        demo_code=$?
        sed 's/^/  /' "$demo_folder/$demo_tenant.out"
        [ $demo_code = 0 ] || {
            printf '  %s ended with exit code %s\n' "$demo_tenant" "$demo_code"
            demo_failed=$((demo_failed + 1))
        }
    done
    if [ $demo_failed = 0 ]; then
        printf '\nThree programs shared one device; all results are correct.\n'
        return 0
    fi
    printf '\n%s of three programs failed. The end of the manager'"'"'s log:\n' "$demo_failed" >&2
    tail -n 20 "$TESSERA_RUNTIME_DIR/manager.log" >&2
    for demo_log in "$TESSERA_RUNTIME_DIR"/executors/executor*.log; do
        [ ! -s "$demo_log" ] || { printf '%s:\n' "${demo_log##*/}"; tail -n 20 "$demo_log"; } >&2
    done
    return $exit_failure
}

# Ends what still runs and removes what the demo made.
demo_end() {
    trap '' INT TERM HUP
    for demo_signal in TERM KILL; do
        for demo_pid in ${demo_pids:-}; do
            ! process_runs "$demo_pid" || kill -$demo_signal "$demo_pid" 2>/dev/null
        done
        demo_tries=0
        while demo_any_runs && [ $demo_tries -lt 60 ]; do
            demo_tries=$((demo_tries + 1))
            sleep 0.05
        done
    done
    # Interrupted in its start, the manager has a pid file before it has a socket.
    demo_tries=0
    while [ -d "$TESSERA_RUNTIME_DIR" ] && ! manager_in "$TESSERA_RUNTIME_DIR" && [ $demo_tries -lt 100 ] &&
        [ "${demo_starting:-no}" = yes ]; do
        demo_tries=$((demo_tries + 1))
        sleep 0.05
    done
    ! manager_in "$TESSERA_RUNTIME_DIR" || "$scripts/tessera" manager stop --programs --yes >/dev/null 2>&1
    case $demo_folder in */tessera-demo-??????) rm -rf "$demo_folder" ;; esac
}
