package io.tessera.manager;

import io.tessera.manager.executors.ExecutorKind;
import io.tessera.manager.executors.FencePolicy;
import io.tessera.manager.executors.SoftwareDevices;
import io.tessera.manager.placement.DevicePlacement;
import io.tessera.manager.residency.ResidencySettings;
import io.tessera.manager.schedule.SchedulerMode;
import io.tessera.manager.schedule.turn.DrainPolicy;
import io.tessera.manager.schedule.turn.ScheduleSettings;
import io.tessera.manager.settings.OptionException;
import io.tessera.manager.settings.Quantities;
import io.tessera.manager.sharing.SharingPreference;
import io.tessera.policy.PolicyName;
import io.tessera.protocol.FenceChoice;
import io.tessera.protocol.RuntimeDirectory;
import io.tessera.protocol.UnfencedPolicy;
import io.tessera.protocol.message.FenceWish;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Configuration of a manager. Immutable; see {@link ManagerOption} for names, units and defaults.
 *
 * @param directory  directories in which clients and manager meet
 * @param mode       how devices are shared until an operator says otherwise
 * @param schedule   quantum, grace, drain policy and capacity
 * @param maxClients maximum number of clients admitted at once
 * @param logLevel   level of the log on standard error
 * @param executors  devices that executors serve
 * @param software   software GPUs
 * @param fences     fences of the tenants of executors
 * @param residency  settings of memory that moves: host memory for it, idle clients, the share of time for moves
 * @param executorUser the account of the executors of root's manager: an account, {@code root}, or empty for the standard one
 * @param policy     rule for the next turn, until an operator sets another one
 * @param settings   file with the settings of devices and tenants; need not exist
 * @param preference way of sharing for programs that leave it to the manager
 * @param placement  rule that chooses the device of a program that names none
 */
public record ManagerContext(RuntimeDirectory directory, SchedulerMode mode, ScheduleSettings schedule,
        int maxClients, String logLevel, ExecutorKind executors, SoftwareDevices software,
        FencePolicy fences, ResidencySettings residency, String executorUser, PolicyName policy, Path settings, SharingPreference preference,
        DevicePlacement placement) {
    private static final List<String> LOG_LEVELS = List.of("error", "warn", "info", "debug", "trace");
    private static final int MOST_CLIENTS = 100_000;
    private static final String SIZE_BOUND = "a size is above 0, for example 8GiB";

    /**
     * Returns all defaults in the given directories.
     *
     * @param directory directories in which clients and manager meet
     */
    public static ManagerContext in(RuntimeDirectory directory) {
        return new ManagerContext(directory, SchedulerMode.AUTO, ScheduleSettings.defaults(), 1024, "info",
                ExecutorKind.AUTO, SoftwareDevices.STANDARD, FencePolicy.standard(), ResidencySettings.defaults(), "", PolicyName.ROUND_ROBIN,
                directory.path().resolve("tessera.toml"), SharingPreference.TIME, DevicePlacement.NONE);
    }

    /**
     * Reads the options. The command line has precedence over the environment, and the environment over the defaults.
     *
     * @param uid the manager's user, for the default directories
     * @throws OptionException if an option is unknown, lacks its value or has an invalid one, or the path in a variable is not absolute
     */
    public static ManagerContext parse(List<String> arguments, Map<String, String> environment, int uid)
            throws OptionException {
        Map<ManagerOption, String> values = new EnumMap<>(ManagerOption.class);
        for (ManagerOption option : ManagerOption.values()) {
            String value = environment.getOrDefault(option.variable(), "");
            if (isPath(option) && !value.isEmpty() && !value.startsWith("/")) {
                throw new OptionException(option.variable() + "=" + value + ": an absolute path, for programs work in other directories");
            }
            if (!value.isEmpty()) {
                values.put(option, value);
            }
        }
        readArguments(arguments, values);
        ManagerContext context = in(directory(values, environment, uid)).withSettings(absolute(standardSettings(environment, uid)));
        for (Map.Entry<ManagerOption, String> entry : values.entrySet()) {
            try {
                context = context.with(entry.getKey(), entry.getValue());
            } catch (OptionException | IllegalArgumentException e) {
                throw new OptionException(entry.getKey().flag() + " (" + entry.getKey().variable() + "): "
                        + e.getMessage());
            }
        }
        return context;
    }

    /** Returns the file in which administrators expect a daemon's settings: in {@code /etc}, or in the user's own configuration. */
    private static Path standardSettings(Map<String, String> environment, int uid) {
        if (uid == 0) {
            return Path.of("/etc/tessera/tessera.toml");
        }
        String configuration = environment.getOrDefault("XDG_CONFIG_HOME", "");
        String home = environment.getOrDefault("HOME", "");
        Path folder = configuration.startsWith("/") ? Path.of(configuration)
                : Path.of(home.isEmpty() ? System.getProperty("user.home") : home).resolve(".config");
        return folder.resolve("tessera").resolve("tessera.toml");
    }

    private static boolean isPath(ManagerOption option) {
        return option == ManagerOption.RUNTIME_DIRECTORY || option == ManagerOption.SHM_DIRECTORY || option == ManagerOption.SETTINGS;
    }

    private static void readArguments(List<String> arguments, Map<ManagerOption, String> values)
            throws OptionException {
        for (int i = 0; i < arguments.size(); i++) {
            String argument = arguments.get(i);
            int equals = argument.indexOf('=');
            String flag = equals < 0 ? argument : argument.substring(0, equals);
            ManagerOption option = ManagerOption.ofFlag(flag).orElseThrow(
                    () -> new OptionException("there is no option " + flag + "; --help lists them"));
            if (equals < 0 && i + 1 == arguments.size()) {
                throw new OptionException(flag + " needs a value; --help says which");
            }
            values.put(option, equals < 0 ? arguments.get(++i) : argument.substring(equals + 1));
        }
    }

    /** The directories' options are the environment variables of SPEC.md under another name. */
    private static RuntimeDirectory directory(Map<ManagerOption, String> values, Map<String, String> environment,
            int uid) {
        Map<String, String> rules = new HashMap<>(environment);
        for (ManagerOption option : List.of(ManagerOption.RUNTIME_DIRECTORY, ManagerOption.SHM_DIRECTORY)) {
            if (values.containsKey(option)) {
                rules.put(option.variable(), values.get(option));
            }
        }
        RuntimeDirectory named = RuntimeDirectory.of(rules, uid);
        return new RuntimeDirectory(absolute(named.path()), absolute(named.shmDirectory()));
    }

    private static Path absolute(Path path) {
        return path.toAbsolutePath().normalize();
    }

    private ManagerContext with(ManagerOption option, String value) throws OptionException {
        return switch (option) {
            case RUNTIME_DIRECTORY, SHM_DIRECTORY -> this;
            case MODE -> withMode(choice(SchedulerMode.class, value));
            case QUANTUM -> withSchedule(schedule.withQuantumNs(Quantities.durationNs(value)));
            case GRACE -> withSchedule(schedule.withGraceNs(aboveZero(Quantities.durationNs(value), "a grace is above 0, for example 10s")));
            case DRAIN_POLICY -> withSchedule(schedule.withDrainPolicy(choice(DrainPolicy.class, value)));
            case CAPACITY -> withCapacityBytes(aboveZero(Quantities.sizeBytes(value), SIZE_BOUND));
            case HOST_MEMORY -> withResidency(residency.withPinnedBytes(Quantities.sizeBytes(value)));
            case HOST_PAGEABLE -> withResidency(residency.withPageableBytes(Quantities.sizeBytes(value)));
            case IDLE_EVICT -> withResidency(residency.withIdleEvictNs(offOr(value)));
            case MOVE_SHARE -> withResidency(residency.withMoveShare(Quantities.share(value)));
            case MAX_CLIENTS -> withMaxClients(count(value));
            case LOG_LEVEL -> withLogLevel(value);
            case EXECUTOR_USER ->
                new ManagerContext(directory, mode, schedule, maxClients, logLevel, executors, software, fences, residency, value, policy, settings,
                        preference, placement);
            case SETTINGS -> withSettings(absolute(Path.of(value)));
            case POLICY ->
                withPolicy(PolicyName.of(value).orElseThrow(() -> new OptionException("\"" + value + "\" is none of " + PolicyName.all())));
            case PREFER ->
                new ManagerContext(directory, mode, schedule, maxClients, logLevel, executors, software, fences, residency, executorUser, policy,
                        settings, choice(SharingPreference.class, value), placement);
            case PLACEMENT ->
                withPlacement(
                        DevicePlacement.of(value).orElseThrow(() -> new OptionException("\"" + value + "\" is none of " + DevicePlacement.all())));
            case EXECUTORS -> withExecutors(choice(ExecutorKind.class, value), software);
            case FENCE -> withFences(new FencePolicy(choice(FenceChoice.class, value), fences.unfenced(),
                    fences.fenceAlone(), fences.timeoutS()));
            case UNFENCED -> withFences(new FencePolicy(fences.fence(), choice(UnfencedPolicy.class, value),
                    fences.fenceAlone(), fences.timeoutS()));
            case FENCE_ALONE -> withFences(new FencePolicy(fences.fence(), fences.unfenced(), yes(value),
                    fences.timeoutS()));
            case KERNEL_TIMEOUT -> withFences(new FencePolicy(fences.fence(), fences.unfenced(), fences.fenceAlone(),
                    timeoutS(value)));
            case SOFTWARE_MEMORY -> withExecutors(executors,
                    new SoftwareDevices(software.count(), aboveZero(Quantities.sizeBytes(value), SIZE_BOUND)));
            case SOFTWARE_DEVICES -> withExecutors(executors,
                    new SoftwareDevices(count(value), software.memoryBytes()));
        };
    }

    private static <E extends Enum<E>> E choice(Class<E> type, String value) throws OptionException {
        List<String> names = Arrays.stream(type.getEnumConstants()).map(c -> c.name().toLowerCase(Locale.ROOT)).toList();
        int index = names.indexOf(value);
        if (index < 0) {
            throw new OptionException("\"" + value + "\" is none of " + String.join(", ", names));
        }
        return type.getEnumConstants()[index];
    }

    private static long aboveZero(long number, String bound) throws OptionException {
        if (number <= 0) {
            throw new OptionException(bound);
        }
        return number;
    }

    private static boolean yes(String value) throws OptionException {
        if (!value.equals("yes") && !value.equals("no")) {
            throw new OptionException("\"" + value + "\" is neither yes nor no");
        }
        return value.equals("yes");
    }

    private static long offOr(String value) throws OptionException {
        return value.equals("off") ? 0 : aboveZero(Quantities.durationNs(value), "an idle time is off, or above 0, for example 10min");
    }

    private static int timeoutS(String value) throws OptionException {
        if (value.equals("off")) {
            return 0;
        }
        long seconds = Quantities.durationNs(value) / 1_000_000_000L;
        if (seconds < 1 || seconds > FenceWish.LONGEST_TIMEOUT_S) {
            throw new OptionException("a timeout is off, or from 1s to a year");
        }
        return (int) seconds;
    }

    private static int count(String value) throws OptionException {
        try {
            return Integer.parseInt(value);
        } catch (NumberFormatException e) {
            throw new OptionException("\"" + value + "\" is not a number");
        }
    }

    /** Returns a copy with another mode. */
    public ManagerContext withMode(SchedulerMode newMode) {
        return new ManagerContext(directory, newMode, schedule, maxClients, logLevel, executors,
                software, fences, residency, executorUser, policy, settings, preference, placement);
    }

    /** Returns a copy with another file of settings. */
    public ManagerContext withSettings(Path file) {
        return new ManagerContext(directory, mode, schedule, maxClients, logLevel, executors,
                software, fences, residency, executorUser, policy, file, preference, placement);
    }

    /** Returns a copy with another policy for turns. */
    public ManagerContext withPolicy(PolicyName newPolicy) {
        return new ManagerContext(directory, mode, schedule, maxClients, logLevel, executors,
                software, fences, residency, executorUser, newPolicy, settings, preference, placement);
    }

    /** Returns a copy with another placement rule. */
    public ManagerContext withPlacement(DevicePlacement rule) {
        return new ManagerContext(directory, mode, schedule, maxClients, logLevel, executors,
                software, fences, residency, executorUser, policy, settings, preference, rule);
    }

    /** Returns a copy with other settings of the schedulers. */
    public ManagerContext withSchedule(ScheduleSettings turns) {
        return new ManagerContext(directory, mode, turns, maxClients, logLevel, executors,
                software, fences, residency, executorUser, policy, settings, preference, placement);
    }

    /**
     * Returns a copy with another maximum number of clients.
     *
     * @throws IllegalArgumentException if the number is out of range
     */
    public ManagerContext withMaxClients(int clients) {
        if (clients < 1 || clients > MOST_CLIENTS) {
            throw new IllegalArgumentException(clients + " is not from 1 to " + MOST_CLIENTS);
        }
        return new ManagerContext(directory, mode, schedule, clients, logLevel, executors,
                software, fences, residency, executorUser, policy, settings, preference, placement);
    }

    /** Returns a copy with other executors. */
    public ManagerContext withExecutors(ExecutorKind kind, SoftwareDevices devices) {
        return new ManagerContext(directory, mode, schedule, maxClients, logLevel, kind, devices,
                fences, residency, executorUser, policy, settings, preference, placement);
    }

    /** Returns a copy with other settings of memory that moves. */
    public ManagerContext withResidency(ResidencySettings moving) {
        return new ManagerContext(directory, mode, schedule, maxClients, logLevel, executors, software,
                fences, moving, executorUser, policy, settings, preference, placement);
    }

    /** Returns a copy in which devices count as smaller than they are, for turns and for memory that moves. */
    public ManagerContext withCapacityBytes(long bytes) {
        return withSchedule(schedule.withCapacityBytes(bytes)).withResidency(residency.withCapacityBytes(bytes));
    }

    /** Returns a copy with other rules for fences. */
    public ManagerContext withFences(FencePolicy rules) {
        return new ManagerContext(directory, mode, schedule, maxClients, logLevel, executors, software,
                rules, residency, executorUser, policy, settings, preference, placement);
    }

    private ManagerContext withLogLevel(String level) throws OptionException {
        if (!LOG_LEVELS.contains(level)) {
            throw new OptionException("\"" + level + "\" is none of " + String.join(", ", LOG_LEVELS));
        }
        return new ManagerContext(directory, mode, schedule, maxClients, level, executors,
                software, fences, residency, executorUser, policy, settings, preference, placement);
    }
}
