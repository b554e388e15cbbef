package io.tessera.executor;

import io.tessera.executor.driver.DriverOpening;
import io.tessera.protocol.segment.SegmentLayout;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/**
 * Configuration of an executor.
 *
 * @param ordinal     the device's number in the driver's order
 * @param devices     number of software devices, with one executor each
 * @param provider    the driver to use: {@code nvidia}, {@code software} or {@code auto}
 * @param place       the socket for clients, and the user of the manager that it serves
 * @param memoryBytes memory of a software device; 0: its own default
 */
public record ExecutorOptions(int ordinal, int devices, String provider, ExecutorPlace place, long memoryBytes) {
    /** The usage text. */
    public static final String HELP = """
            Usage: tessera-executor --socket PATH [--device N|software] [--provider nvidia|software|auto]
                                       [--devices COUNT] [--memory BYTES]
                                       [--manager-uid UID]

            Started by the manager, which it hears and tells on a socket beside its own (.mgr), and which it outlives.
            Without a manager and without clients it ends after 60 s.
            Exit codes: 0 ended in order, 1 failed while running, 2 wrong option, 3 another one serves this socket, 4 no device.
            """;
    private static final Set<String> PROVIDERS = Set.of(DriverOpening.NVIDIA, DriverOpening.SOFTWARE, DriverOpening.AUTO);

    /**
     * Reads the options.
     *
     * @throws IllegalArgumentException with a sentence, if one is unknown, lacks its value or has a wrong one
     */
    public static ExecutorOptions parse(List<String> arguments) {
        int ordinal = 0;
        int devices = 1;
        String provider = DriverOpening.AUTO;
        Path socket = null;
        long memoryBytes = 0;
        Integer managerUid = null;
        for (int i = 0; i < arguments.size(); i += 2) {
            String option = arguments.get(i);
            if (i + 1 == arguments.size()) {
                throw new IllegalArgumentException(option + " needs a value");
            }
            String value = arguments.get(i + 1);
            switch (option) {
                case "--device" -> {
                    if (value.equals(DriverOpening.SOFTWARE)) {
                        provider = DriverOpening.SOFTWARE;
                    } else {
                        ordinal = (int) number(option, value, 0, 1 << 16);
                    }
                }
                case "--devices" -> devices = (int) number(option, value, 1, SegmentLayout.MAX_DEVICES);
                case "--provider" -> provider = value;
                case "--socket" -> socket = Path.of(value);
                case "--manager-uid" -> managerUid = (int) number(option, value, 0, 0xffff_ffffL);
                case "--memory" -> memoryBytes = number(option, value, 0, Long.MAX_VALUE);
                default -> throw new IllegalArgumentException("there is no option " + option);
            }
        }
        if (socket == null) {
            throw new IllegalArgumentException("--socket is missing");
        }
        if (!PROVIDERS.contains(provider)) {
            throw new IllegalArgumentException("--provider " + provider + ": it is nvidia, software or auto");
        }
        ExecutorPlace place = managerUid == null ? ExecutorPlace.own(socket) : new ExecutorPlace(socket, managerUid);
        return new ExecutorOptions(ordinal, devices, provider, place, memoryBytes);
    }

    private static long number(String option, String value, long least, long most) {
        try {
            long number = Long.parseLong(value);
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(option + " " + value + ": a whole number is asked", e);
        }
        throw new IllegalArgumentException(option + " " + value + ": " + least + " to " + most);
    }
}
