# What `tessera --help` and `tessera help run|manager` say. Sourced by tools/tessera; the Java commands describe
# themselves.

help_overview() {
    cat <<'END'
Usage: tessera COMMAND [OPTIONS]

Unmodified CUDA programs share GPUs, by turns or at once; also where there is no GPU.

  demo                         three programs share a device; needs no GPU
  run [OPTIONS] [--] PROGRAM   run a program as a client; starts a manager if none runs
  status                       holder and queue of each GPU, memory, launches, turns
  why TENANT                   why a tenant runs or waits now, and what would change it
  scheduler on|off|auto        turns always, never, or when they pay (the default)
  quantum DURATION             how long a turn lasts, for example 500ms
  policy [NAME]                which tenant has the next turn: fifo, fair, priority, ...
  tenant TENANT [OPTIONS]      a tenant's weight, priority, class or cap, while it runs
  limit TENANT SIZE            device memory that a tenant in space sharing may use from now on
  evict TENANT [--suspend]     have a tenant's memory leave the GPU until its next call (also park)
  restore TENANT               have it come back now (also wake)
  counters [PID|ID]            a client's counters, read from its segment alone
  errors                       distinct errors of the clients
  jvm [PID]                    a JVM's memory on the GPU, by class and call site; its leaks
  doctor                       checks the installation: findings, faults, remedies
  fence FILE...                fence and compile kernels ahead of time; shows the cost of each, and refusals
  simulate TRACE               try a scheduling policy on a recorded or generated trace
  manager COMMAND              start, stop, restart, status, logs
  help [COMMAND]               this text, or a command's
  --version

Examples
  tessera demo
  tessera run -- python train.py
  tessera run --memory 8GiB --name alice -- python train.py
  tessera run --share space -- ./simulate
  tessera status --watch
  tessera scheduler on && tessera quantum 500ms

Exit codes: 0 done, 1 failure, 2 wrong usage, 3 no manager, 4 something cannot be fenced. `run` ends with the program's
own exit code; 126: it could not be executed, 127: it was not found.
END
}

help_run() {
    sed "s/DEFAULT_PLAN/$default_plan/" <<'END'
Usage: tessera run [OPTIONS] [--] PROGRAM [ARGUMENTS]

Runs the program as a client of the manager; starts a manager if none runs. The program replaces this process: its
exit code and its signals are its own.

  --memory SIZE          device memory that the tenant may use on each GPU: 8GiB, 512MiB, 8G
  --plan auto|plain|managed|swap
                         memory as the program asks for it (plain); as unified memory, whose pages the driver moves
                         (managed); at fixed addresses over memory that leaves the GPU in bulk while others have their
                         turn (swap); swap where the GPU can do it, managed for what it could never hold at once, else
                         managed or plain, as `tessera status` says (auto). Default: DEFAULT_PLAN
  --memory-guarantee SIZE
                         of plan swap: memory that never leaves the GPU for others; at most --memory
  --swap-directory DIR   of plan swap: memory that does not fit on the host goes to a file there, on a local disk
  --swap-file SIZE       largest size of that file
  --share auto|time|space
                         by turns with a context of its own (time); at once with others in the context of an executor,
                         which may also be the software GPU (space); or as the manager chooses at the first CUDA call
                         (auto, the default): by time, unless the manager prefers space (manager --prefer)
  --fence mask|modulo|check
                         space sharing: how kernels are kept in the tenant's memory; check reports violations.
                         Default: the manager's (mask)
  --unfenced refuse|time|trusted|own
                         space sharing: what happens to kernels that cannot be fenced because they have no PTX: they are
                         refused; the program starts again in time sharing; images on the list of the user who runs the
                         manager run (tessera fence --trust); all run, as long as one user's programs share the device.
                         Beside other users' programs own runs kernels whose machine code is fenced and seen to stay in
                         the program's memory, or known as a vendor's; their faults still end everybody's work.
                         Default: the manager's (own)
  --fence-alone          kernels are fenced also while nobody else shares the device
  --kernel-timeout SECONDS
                         space sharing: a kernel that runs longer is ended, and the program gets LAUNCH_TIMEOUT.
                         Of a grid that is launched in parts, each part may take that long.
                         Default: the manager's (30), and none while the program is alone on the device
  --runtime auto|tessera|vendor
                         CUDA runtime of programs that are linked with a shared one (libcudart.so.12, .13): Tessera's,
                         the vendor's, or (default) Tessera's in space sharing where no NVIDIA driver is installed
  --name LABEL           tenant that shares and limits attach to; default PROGRAM-PID (children belong to it)
  --weight N, --priority N, --class interactive|batch, --cap SHARE, --soft-cap SHARE
                         the tenant's part of the GPU's time, as with tessera tenant; administrators only
  --replayable[=yes|no]  space sharing: a kernel of the tenant that an interactive tenant waits for may be stopped and run
                         again later from its beginning (only kernels whose threads do not wait for each other and whose
                         writes are known). Set it for batch work whose kernels take long. As with tessera tenant;
                         administrators only
  --device LIST|UUID|auto
                         GPUs that the program sees (CUDA_VISIBLE_DEVICES); auto: one of those that it would see, which the
                         manager chooses by its rule (manager --placement, else spread), where --memory and
                         --memory-guarantee have room. Without this option and without CUDA_VISIBLE_DEVICES the program sees
                         all of them, unless the manager's placement is other than none: then as auto. Where the manager has
                         no place, the program does not start
  --wait[=SECONDS]       where the manager has no place for the program now, wait before it starts: for one of the clients
                         that there may be at once, of its tenant's and its user's (clients in tessera.toml), and until
                         --memory-guarantee can be kept (on the GPU that --device names by UUID, one of those of --device
                         auto, or the only one in use). First come, first served; the place in the queue is
                         shown. The place is kept until the program's first CUDA call, for 120 s at most
  --require              without a manager the program's cuInit fails, instead of running beside the others unmanaged
  --no-manager           start no manager; a running one is used

Examples
  tessera run -- python train.py
  tessera run --memory 8GiB --plan managed --device 0 -- ./simulate --steps 1000
  tessera run --name web --weight 3 -- python serve.py
  tessera run --share space --name train --replayable -- python train.py
  tessera run --wait=600 -- python train.py
  tessera run --device auto --memory 20GiB -- python train.py
  tessera run --plan swap --name alice --memory-guarantee 2GiB -- jupyter lab

Exit codes: the program's; 1 Tessera cannot run it, 2 wrong usage, 3 the manager could not be started, 75 no place
within the SECONDS of --wait, or now for a program that the manager places, 126 not executable, 127 not found.
END
}

help_demo() {
    cat <<'END'
Usage: tessera demo [--seconds N] [--software]

Builds what is missing, starts a manager of its own, and runs three ordinary CUDA programs at the same time in space
sharing: two in Java (JCuda) and one in C. Checks their results, shows `tessera status` while they run, and ends
everything again. Uses the GPU where there is one, else the software GPU.

  --seconds N   how long the programs compute (default 12)
  --software    the software GPU even where there is a GPU

Exit codes: 0 all results correct, 1 not, 2 wrong usage, 3 the manager could not be started.
END
}

help_manager() {
    cat <<'END'
Usage: tessera manager start [--foreground] [-- MANAGER-OPTIONS]
       tessera manager restart [-- MANAGER-OPTIONS]
       tessera manager stop [--programs [--yes]]
       tessera manager status
       tessera manager logs [-f]

The manager is one per runtime directory ($TESSERA_RUNTIME_DIR, else /run/tessera for root, else
$XDG_RUNTIME_DIR/tessera, else /tmp/tessera-UID); manager.log is there, the three before it beside it. A manager that is
killed or crashes is started again, with its options, by the process that started it; with --foreground that is left to the
caller. Programs go on while it is away, those in space sharing in their executors. The others keep turns for 5 s; then they
run without turns. They register again when it is back.
A manager that starts takes over the executors that live there, with their tenants and limits. Executors without programs
end with `stop`, and a minute after a manager that was killed. `stop --programs` ends all programs and executors, too; it
says which and asks, and --yes answers. SIGUSR1 switches the scheduler on, SIGUSR2 off, SIGTERM ends the manager. Its
options: tessera manager start -- --help.

Exit codes: 0 done, 1 failure, 2 wrong usage, 3 no manager.
END
}

# A command's own help, or the overview.
help_of() { # COMMAND
    case $1 in
    '') help_overview ;;
    run) help_run ;;
    manager) help_manager ;;
    demo) help_demo ;;
    status | why | scheduler | quantum | policy | tenant | limit | evict | park | restore | wake | counters | errors | jvm | doctor | fence | simulate) client_command "$1" --help ;;
    *) usage '' "there is no command $1" ;;
    esac
}
