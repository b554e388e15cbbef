package io.tessera.protocol;

import java.util.Map;
import java.util.OptionalLong;

/**
 * What the environment says of the processes that read programs' code: a manager checks it, and executors, which have the same
 * environment, read it. Stateless.
 */
public final class WorkerVariables {
    /** Seconds of a job. */
    public static final String SECONDS = "TESSERA_WORKER_SECONDS";
    /** Memory of a process's Java, MiB. */
    public static final String MEMORY = "TESSERA_WORKER_MEMORY";
    /** A Java that reads a large library cannot do with less. */
    public static final int LEAST_MIB = 256;
    /** A year; more is a mistyped number. */
    private static final int MOST_SECONDS = 31_536_000;

    private WorkerVariables() {
    }

    /**
     * How long a job may take, in seconds.
     *
     * @return empty: the variable is not set
     * @throws IllegalArgumentException if it is no number of seconds that can be meant; the message names the variable
     */
    public static OptionalLong seconds(Map<String, String> environment) {
        return number(environment, SECONDS, "seconds", 1, MOST_SECONDS);
    }

    /**
     * Memory in MiB.
     *
     * @param machineBytes of the machine, which bounds it; 0: not known
     * @return empty: the variable is not set
     * @throws IllegalArgumentException if it is too little or more than the machine has; the message names the variable
     */
    public static OptionalLong memoryMib(Map<String, String> environment, long machineBytes) {
        return number(environment, MEMORY, "MiB", LEAST_MIB, machineBytes == 0 ? Integer.MAX_VALUE : Math.max(LEAST_MIB, machineBytes >> 20));
    }

    private static OptionalLong number(Map<String, String> environment, String name, String unit, long least, long most) {
        String said = environment.getOrDefault(name, "");
        if (said.isEmpty()) {
            return OptionalLong.empty();
        }
        long number = said.matches("\\d{1,18}") ? Long.parseLong(said) : -1;
        if (number < least || number > most) {
            throw new IllegalArgumentException(name + "=" + said + ": a whole number of " + unit + " from " + least + " to " + most);
        }
        return OptionalLong.of(number);
    }
}
