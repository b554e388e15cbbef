package io.tessera.manager;

import java.util.Arrays;
import java.util.Optional;

/** Every option of the manager: its name, environment variable, default, unit and meaning. */
public enum ManagerOption {
    /** Directory in which clients find the manager. */
    RUNTIME_DIRECTORY("--runtime-directory", "TESSERA_RUNTIME_DIR", "PATH",
            "/run/tessera for root, $XDG_RUNTIME_DIR/tessera or /tmp/tessera-UID for others",
            "sockets and pid file"),
    /** Directory of the segments. */
    SHM_DIRECTORY("--shm-directory", "TESSERA_SHM_DIR", "PATH", "/dev/shm/tessera-UID",
            "segments shared with clients; should be in memory"),
    /** Mode of sharing devices. */
    MODE("--mode", "TESSERA_MODE", "off|on|auto", "auto", "clients run at once, by turns, or whichever does more"),
    /** File with the written settings. */
    SETTINGS("--settings", "TESSERA_SETTINGS", "FILE", "/etc/tessera/tessera.toml for root, else ~/.config/tessera/tessera.toml",
            "modes, policies, weights and limits; read again when it changes; README has its keys"),
    /** The rule that chooses the next holder of a turn. */
    POLICY("--policy", "TESSERA_POLICY", "NAME", "round-robin", "which tenant has the next turn, and for how long: tessera policy lists them"),
    /** Length of a turn. */
    QUANTUM("--quantum", "TESSERA_QUANTUM", "DURATION", "250ms",
            "length of a turn, 1ms to 1h; unless set, less where whole rounds then fill a second"),
    /** Time for a client to drain before it is reported. */
    GRACE("--grace", "TESSERA_GRACE", "DURATION", "10s", "a client told to stop is reported after this long"),
    /** Treatment of a client that does not drain in time. */
    DRAIN_POLICY("--drain-policy", "TESSERA_DRAIN_POLICY", "extend|wait|end", "extend",
            "it gets another turn, is waited for, or is ended by SIGTERM and SIGKILL"),
    /** Capacity of devices, if less than their memory. */
    CAPACITY("--capacity", "TESSERA_CAPACITY", "SIZE", "the device's own memory",
            "memory of a device beyond which it counts as oversubscribed"),
    /** Limit of pinned host memory. */
    HOST_MEMORY("--host-memory", "TESSERA_HOST_MEMORY", "SIZE", "half of the machine's",
            "pinned host memory that clients of plan swap may hold together for what is off the device"),
    /** Limit of pageable host memory. */
    HOST_PAGEABLE("--host-pageable", "TESSERA_HOST_PAGEABLE", "SIZE", "a quarter of the machine's",
            "pageable host memory that they may hold beyond that; slower"),
    /** Idle time after which a client is evicted. */
    IDLE_EVICT("--idle-evict", "TESSERA_IDLE_EVICT", "DURATION|off", "off",
            "a client of plan swap without work for this long leaves the device until its next call"),
    /** Share of a turn that moves of memory may take. */
    MOVE_SHARE("--move-share", "TESSERA_MOVE_SHARE", "PERCENT", "5%",
            "turns are made long enough, up to 30s, for moving memory to take at most this share of them; a set quantum has precedence"),
    /** Maximum number of clients at once. */
    MAX_CLIENTS("--max-clients", "TESSERA_MAX_CLIENTS", "NUMBER", "1024", "clients admitted at once, 1 to 100000"),
    /** Way of sharing for programs that leave it to the manager. */
    PREFER("--prefer", "TESSERA_PREFER", "time|space", "time",
            "how programs of --share auto share; space: unless programs that share by time, or another user's, are there"),
    /** Placement rule for programs that leave their device to the manager. */
    PLACEMENT("--placement", "TESSERA_PLACEMENT", "none|pack|spread|least-loaded", "none",
            "the GPU that tessera run gives a program that names none; none: it sees all, because it may use several, and run --device auto spreads"),
    /** Devices of relayed clients. */
    EXECUTORS("--executors", "TESSERA_EXECUTORS", "auto|nvidia|software|none", "auto",
            "the devices that programs in space sharing use"),
    /** The account of root's executors. */
    EXECUTOR_USER("--executor-user", "TESSERA_EXECUTOR_USER", "ACCOUNT|root", "tessera, else a number without account",
            "the account of the executors of root's manager, and of the processes that read programs' code"),
    /** Memory of a software GPU. */
    SOFTWARE_MEMORY("--software-memory", "TESSERA_SOFTWARE_MEMORY", "SIZE", "a quarter of the machine's",
            "memory of a software GPU"),
    /** Number of software GPUs. */
    SOFTWARE_DEVICES("--software-devices", "TESSERA_SOFTWARE_DEVICES", "NUMBER", "1",
            "software GPUs, 1 to 16, each with a process of its own"),
    /** Fence mode of kernels in executors. */
    FENCE("--fence", "TESSERA_MANAGER_FENCE", "mask|modulo|check", "mask",
            "how kernels that share a device are kept in their tenant's memory, unless the tenant chooses"),
    /** Treatment of kernels that cannot be fenced. */
    UNFENCED("--unfenced", "TESSERA_MANAGER_UNFENCED", "refuse|time|trusted|own", "own",
            "kernels without PTX: refused, run by turns, run if known, or run among one user's tenants, and beside other users' if they are fenced and shown "
                    + "to stay in their memory, or a vendor's; also the most that a tenant may choose"),
    /** Fences for tenants that are alone on a device. */
    FENCE_ALONE("--fence-alone", "TESSERA_MANAGER_FENCE_ALONE", "yes|no", "no",
            "kernels are fenced also while nobody else shares the device"),
    /** Time after which a kernel counts as endless. */
    KERNEL_TIMEOUT("--kernel-timeout", "TESSERA_MANAGER_KERNEL_TIMEOUT", "DURATION|off", "30s",
            "a kernel that runs longer is ended, on a device that is shared"),
    /** Level of the log. */
    LOG_LEVEL("--log-level", "TESSERA_LOG_LEVEL", "error|warn|info|debug|trace", "info", "what goes to stderr");

    private final String flag;
    private final String variable;
    private final String value;
    private final String standard;
    private final String meaning;

    ManagerOption(String flag, String variable, String value, String standard, String meaning) {
        this.flag = flag;
        this.variable = variable;
        this.value = value;
        this.standard = standard;
        this.meaning = meaning;
    }

    /** Returns the name on the command line, such as {@code --mode}. */
    public String flag() {
        return flag;
    }

    /** Returns the environment variable that applies if the command line does not name the option. */
    public String variable() {
        return variable;
    }

    /** Returns the default in words; if it is a plain value, the value itself. */
    public String standard() {
        return standard;
    }

    /** Returns the option with a name on the command line. */
    public static Optional<ManagerOption> ofFlag(String flag) {
        return Arrays.stream(values()).filter(option -> option.flag.equals(flag)).findFirst();
    }

    /** Returns the help text. */
    public static String help() {
        StringBuilder text = new StringBuilder("Usage: tessera-manager [OPTION...]\n\n");
        for (ManagerOption option : values()) {
            text.append(String.format("  %-34s %s%n      default: %s; environment: %s%n",
                    option.flag + " " + option.value, option.meaning, option.standard, option.variable));
        }
        return text.append("""
                  --help                             this text
                  --check                            look at the other options and end

                DURATION is a number with ns, us, ms, s or min; SIZE a number with B, KiB, MiB, GiB or TiB.
                Signals: SIGUSR1 switches turns on, SIGUSR2 off (start with _JAVA_SR_SIGNUM=40), SIGTERM and SIGINT end.
                Exit codes: 0 ended in order, 1 failed while running, 2 wrong option, 3 another manager runs,
                4 a directory or socket cannot be used.
                """).toString();
    }
}
