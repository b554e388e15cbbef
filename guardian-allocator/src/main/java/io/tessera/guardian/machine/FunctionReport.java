package io.tessera.guardian.machine;

/**
 * What became of a function in a cubin. Immutable.
 *
 * @param name     as the cubin has it, mangled
 * @param kernel   whether it is one, else a function that kernels call
 * @param leaves   whether it calls functions outside of its own code
 * @param refusal  why it is not fenced, for users; null: it is fenced
 * @param accesses instructions that access global memory
 * @param inserted instructions that fences added
 * @param addedRegisters general registers that it has more than before, which its occupancy allows
 * @param reports  whether threads of it may report and end instead of ending the context
 */
public record FunctionReport(String name, boolean kernel, boolean leaves, String refusal, int accesses, int inserted, int addedRegisters,
        boolean reports) {
    /** The same with what another pass added before. */
    public FunctionReport withMore(FunctionReport before) {
        return new FunctionReport(name, kernel, leaves, refusal, accesses, inserted + before.inserted, addedRegisters + before.addedRegisters,
                reports);
    }

    /** Whether it is fenced. */
    public boolean isFenced() {
        return refusal == null;
    }
}
