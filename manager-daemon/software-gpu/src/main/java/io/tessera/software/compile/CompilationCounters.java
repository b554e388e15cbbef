package io.tessera.software.compile;

import java.util.Map;
import java.util.TreeMap;

/** Counters of the compiler: kernels compiled, and kernels left to the interpreter by reason. Thread-safe. */
public final class CompilationCounters {
    private long compiledKernels;
    private long compileNs;
    private long bytes;
    private final Map<String, Long> interpretedByReason = new TreeMap<>();
    private final Map<String, String> reasonByKernel = new TreeMap<>();

    synchronized void compiled(String kernel, long classBytes, long elapsedNs) {
        compiledKernels++;
        bytes += classBytes;
        compileNs += elapsedNs;
        reasonByKernel.remove(kernel);
    }

    synchronized void interpreted(String kernel, String reason) {
        interpretedByReason.merge(reason, 1L, Long::sum);
        reasonByKernel.put(kernel, reason);
    }

    /** Kernels that run as bytecode. */
    public synchronized long compiledKernels() {
        return compiledKernels;
    }

    /** Time that this took, in nanoseconds: from the lowered kernel to the loaded class. */
    public synchronized long compileNs() {
        return compileNs;
    }

    /** Size of their classes in bytes. */
    public synchronized long classBytes() {
        return bytes;
    }

    /** Kernels left to the interpreter, by the instruction or the other reason that stopped the compiler. */
    public synchronized Map<String, Long> interpretedByReason() {
        return Map.copyOf(interpretedByReason);
    }

    /** Returns why each interpreted kernel was not compiled, by its name. */
    public synchronized Map<String, String> reasonByKernel() {
        return Map.copyOf(reasonByKernel);
    }
}
