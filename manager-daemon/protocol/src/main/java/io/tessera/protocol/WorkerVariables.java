package io.tessera.protocol;

import java.util.Map;
import java.util.OptionalLong;

/**
 * Environment variables for the processes that read programs' code. A manager checks them; executors, which have the same environment, read them.
 * Stateless.
 */
public final class WorkerVariables {
    /** Longest time of a job, in seconds. */
    public static final String SECONDS = "TESSERA_WORKER_SECONDS";
    /** Memory of a process's Java, in MiB. */
    public static final String MEMORY = "TESSERA_WORKER_MEMORY";
    /** Least memory: a Java that reads a large library needs as much. */
    public static final int LEAST_MIB = 256;
    /** Maximum, a year; more is a mistyped number. */
    private static final int MOST_SECONDS = 31_536_000;

    private WorkerVariables() {
    }

    /**
     * Returns how long a job may take, in seconds.
     *
     * @return the seconds; empty: the variable is not set
     * @throws IllegalArgumentException if it is not a valid number of seconds; the message names the variable
     */
    public static OptionalLong seconds(Map<String, String> environment) {
        return number(environment, SECONDS, "seconds", 1, MOST_SECONDS);
    }

    /**
     * Returns the memory in MiB.
     *
     * @param machineBytes memory of the machine, which is the maximum; 0: not known
     * @return the memory; empty: the variable is not set
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
