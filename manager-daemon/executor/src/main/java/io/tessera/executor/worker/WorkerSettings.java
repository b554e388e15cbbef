package io.tessera.executor.worker;

import io.tessera.device.DriverOptions;
import io.tessera.executor.driver.DriverOpening;
import io.tessera.protocol.WorkerVariables;
import java.util.Map;

/**
 * Settings of workers. Immutable.
 *
 * @param provider    the provider of the driver that compiles, the same as the executor's
 * @param driver      the device of that driver
 * @param most        maximum number of processes
 * @param jobSeconds  maximum time of a job, beside the time for the size of its input
 * @param heapBytes   heap of a worker's JVM
 * @param idleSeconds time after which an idle worker ends
 */
public record WorkerSettings(String provider, DriverOptions driver, int most, int jobSeconds, long heapBytes, int idleSeconds) {
    private static final int MOST_WORKERS = 2;
    private static final int JOB_SECONDS = 60;
    /** Additional time of a job for each MiB. Fencing reads some MiB per second, NVIDIA's assembler some 100 KiB (both on one core of an H200's host). */
    private static final int SECONDS_PER_MIB = 30;
    private static final int IDLE_SECONDS = 60;
    private static final long MIB = 1L << 20;
    private static final long LEAST_HEAP = WorkerVariables.LEAST_MIB * MIB;
    private static final long MOST_HEAP = 8192 * MIB;
    /** Memory in addition to the heap: code and classes of the JVM, the driver and its assembler. */
    private static final long BESIDE_HEAP = 4096 * MIB;
    /** Addresses of a software GPU: it maps them as writable memory, which counts even if it is not used. Its compiled code is in the heap. */
    private static final long SOFTWARE_ADDRESSES = 1L << 42;
    /** Maximum bytes of an answer, which is in the executor's heap that all clients share. */
    private static final long MOST_ANSWER = 256 * MIB;
    /** Maximum bytes of a job: an image's PTX is bounded by 256 MiB, and the rest of a message is small. */
    private static final long MOST_JOB = 512 * MIB;

    /**
     * Returns the settings of an executor.
     *
     * @param environment may contain the time of a job and the memory ({@link WorkerVariables})
     * @param memoryBytes of the machine
     * @throws IllegalArgumentException for an invalid value; managers refuse these earlier
     */
    public static WorkerSettings of(String provider, DriverOptions driver, Map<String, String> environment, long memoryBytes) {
        long heap = WorkerVariables.memoryMib(environment, 0).orElse(Math.clamp(memoryBytes / 8, 2 * LEAST_HEAP, MOST_HEAP) / MIB) * MIB;
        return new WorkerSettings(provider, driver, MOST_WORKERS, (int) WorkerVariables.seconds(environment).orElse(JOB_SECONDS), heap, IDLE_SECONDS);
    }

    /** Returns the longest time of a job that has to read this many bytes. */
    long jobNs(long bytes) {
        return (jobSeconds + SECONDS_PER_MIB * (bytes / MIB)) * 1_000_000_000L;
    }

    /** Returns the private memory that a process may have, in bytes. */
    long dataBytes() {
        return heapBytes + BESIDE_HEAP + (provider.equals(DriverOpening.SOFTWARE) ? SOFTWARE_ADDRESSES : 0);
    }

    long mostJobBytes() {
        return MOST_JOB;
    }

    /** Returns the maximum bytes of an answer. */
    long mostAnswerBytes() {
        return Math.min(MOST_ANSWER, Runtime.getRuntime().maxMemory() / 16);
    }
}
