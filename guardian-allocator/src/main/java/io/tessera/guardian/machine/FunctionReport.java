package io.tessera.guardian.machine;

/**
 * Result of fencing a function in a cubin. Immutable.
 *
 * @param name     mangled name in the cubin
 * @param kernel   whether it is a kernel; otherwise, kernels call it
 * @param leaves   whether it calls functions outside of its own code
 * @param refusal  reason why it is not fenced, for users; null if it is fenced
 * @param accesses instructions that access global memory
 * @param inserted instructions that fences added
 * @param addedRegisters number of added general registers, which its occupancy allows
 * @param reports  whether its threads may report and end instead of ending the context
 */
public record FunctionReport(String name, boolean kernel, boolean leaves, String refusal, int accesses, int inserted, int addedRegisters,
        boolean reports) {
    /** Returns this report including the additions of an earlier pass. */
    public FunctionReport withMore(FunctionReport before) {
        return new FunctionReport(name, kernel, leaves, refusal, accesses, inserted + before.inserted, addedRegisters + before.addedRegisters,
                reports);
    }

    /** Returns whether it is fenced. */
    public boolean isFenced() {
        return refusal == null;
    }
}
