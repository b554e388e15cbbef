# How a program of `tessera run` gets its place among the manager's clients, and its device where the manager chooses it, before it
# starts. Sourced by tools/run.sh, whose functions and variables it uses.

# How long to wait for a place; without a number for ever.
wait_option() { # --wait[=SECONDS]
    case $1 in
    --wait) wait_options=" --seconds=-1"; return 0 ;;
    esac
    seconds=${1#--wait=}
    seconds=${seconds%s}
    case $seconds in
    '' | *[!0-9]* | 0?* | ?????????*) seconds=$((longest_timeout + 1)) ;;
    esac
    [ "$seconds" -le $longest_timeout ] ||
        usage run "$1: how long to wait is a number of seconds from 0 to $longest_timeout, a year; for ever is --wait"
    wait_options=" --seconds=$seconds"
}

# Whether the manager chooses the program's device: it was asked to, or places all programs that name none, which the file placement
# in its directory says (PlacementSign). Where it cannot be told, the program sees all devices.
is_placed() {
    [ "$device_given" != auto ] || return 0
    [ -z "${CUDA_VISIBLE_DEVICES+set}" ] && [ -e "$runtime/placement" ] && manager_runs &&
        { [ -n "$driver" ] || [ "$TESSERA_SHARE" = space ]; }
}

# With --wait the program starts when there is a place for it among the manager's clients; the library never waits for that. A
# program whose device the manager chooses asks for a place, too, and does not start where there is none.
await_place() {
    [ "${TESSERA_DISABLE:-0}" != 1 ] || return 0
    place_options=$wait_options
    place_chosen= place_why=--wait place_what='wait for'
    if is_placed; then
        [ -n "$wait_options" ] || place_why='--device auto' place_what=ask
        place_options="$place_options --choose --limit=${TESSERA_MEMORY:-0}"
        [ -n "$wait_options" ] || place_options="$place_options --no-wait"
        [ "$TESSERA_SHARE" != space ] || place_options="$place_options --space"
        place_chosen=yes
    fi
    [ -n "$place_options" ] || return 0
    manager_runs || fail $exit_no_manager "$place_why: no manager runs, and --no-manager starts none: there is nobody to $place_what"
    [ -z "${TESSERA_MEMORY_GUARANTEE:-}" ] || [ "$TESSERA_SHARE" = space ] ||
        place_options="$place_options --guarantee=$TESSERA_MEMORY_GUARANTEE"
    place_manager=$manager_pid
    ask_place
    # A manager that is killed is started again by its watcher, or by us, and then there is somebody to ask.
    if [ $place_result != 0 ] && [ $place_result != $exit_no_place ] && [ $start_manager = yes ] && [ -O "$runtime" ] &&
        ! { manager_runs && [ "$manager_pid" = "$place_manager" ]; }; then
        . "$scripts/manager.sh"
        launch_manager || exit_start $?
        ask_place
    fi
    take_place
}

# Asks once, with place_options. The exit code is in place_result, the device that was chosen in place_device.
ask_place() {
    place_device=
    if [ -n "$place_chosen" ]; then
        place_answer=$(mktemp) || fail $exit_failure "the manager's choice of a device needs a temporary file (TMPDIR=${TMPDIR:-/tmp})"
        # Without a name it outlives neither this shell nor a signal.
        exec 8>"$place_answer" 9<"$place_answer"
        rm -f "$place_answer"
    fi
    # In the background: a shell handles no signal while it waits for a child in the foreground. A list of words on purpose.
    # shellcheck disable=SC2086
    (
        [ -z "$place_chosen" ] || exec >&8 8>&- 9<&-
        client_command admission "--tenant=$TESSERA_NAME" --process=$$ "--device=${CUDA_VISIBLE_DEVICES:-}" $place_options
    ) &
    waiter=$!
    trap 'stop_waiting 130' INT
    trap 'stop_waiting 143' TERM
    trap 'stop_waiting 129' HUP
    wait $waiter
    place_result=$?
    trap - INT TERM HUP
    [ -n "$place_chosen" ] || return 0
    read -r place_device <&9 || :
    exec 8>&- 9<&-
}

# Takes the device that the manager has chosen, or ends where there is no place. A program that has asked for nothing does not fail because
# nobody answers.
take_place() {
    if [ $place_result != 0 ] && { [ $place_result = $exit_no_place ] || [ -n "$wait_options$device_given" ]; }; then
        exit $place_result
    fi
    [ -z "$place_device" ] || export CUDA_VISIBLE_DEVICES="$place_device"
}

stop_waiting() { # EXIT-CODE
    kill "$waiter" 2>/dev/null
    wait "$waiter" 2>/dev/null
    [ ! -t 2 ] || printf '\r\033[K' >&2
    exit "$1"
}
