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
 * @param reports  whether threads of it may report and end instead of ending the context
 */
public record FunctionReport(String name, boolean kernel, boolean leaves, String refusal, int accesses, int inserted, boolean reports) {
    /** The same with more instructions that were added. */
    public FunctionReport withMore(int instructions) {
        return new FunctionReport(name, kernel, leaves, refusal, accesses, inserted + instructions, reports);
    }

    /** Whether it is fenced. */
    public boolean isFenced() {
        return refusal == null;
    }
}
