package io.tessera.guardian.fence.loop;

import io.tessera.guardian.fence.WindowConstants;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.StateSpace;
import java.util.List;

/**
 * The additional cost of an instruction, in units of ordinary instructions. If all threads of a GPU execute it at once, an access to pinned host
 * memory (50 GB/s, at 32 bytes an access) or an atomic on one address (one in a nanosecond) takes thousands of times as long as an ordinary
 * instruction. An H200 has 270,000 threads: 16,384 accesses of each take 2.9 s, and 8,192 atomics 1.8 s. The verifier allows four times as much
 * ({@code AccessWork}). Stateless.
 */
final class AccessCost {
    /** Cost of an access to global memory, or of a fence with a scope wider than the cluster. */
    static final long ACCESS = 64;
    private static final long ATOMIC = 2 * ACCESS;
    private static final long SHARED_ATOMIC = 16;
    private static final long LOCAL = 2;
    /** Cost of a sleep, which may take a millisecond. */
    private static final long SLEEP = 1 << 10;
    /** Cost of a barrier that is built from accesses and a loop: see {@code NamedBarriers}. */
    private static final long NUMBERED_BARRIER = 512;
    /** A bulk copy counts as accesses of this many bytes; one whose length is a register counts as {@link #BULK_BYTES}. */
    private static final long ACCESS_BYTES = 32;
    private static final long BULK_BYTES = 1 << 16;

    private AccessCost() {
    }

    /** The cost of one instruction; 0: as of any other. */
    static long of(Instruction i) {
        return switch (i.opcode()) {
            case "ld", "ldu", "st" -> isGlobal(i) ? ACCESS : i.has("local") ? LOCAL : 0;
            case "atom", "red" -> isGlobal(i) ? ATOMIC : SHARED_ATOMIC;
            case "cp" -> i.has("bulk") ? bulk(i) : i.has("global") ? ACCESS : 0;
            case "wmma" -> i.has("mma") ? 0 : isGlobal(i) ? 8 * ACCESS : 0;
            case "prefetch", "prefetchu", "applypriority", "discard", "tex", "tld4", "suld", "sust" -> ACCESS;
            case "sured" -> ATOMIC;
            case "membar", "fence" -> i.has("gl") || i.has("gpu") || i.has("sys") ? ACCESS : 0;
            case "bar", "barrier" -> isNumbered(i) ? NUMBERED_BARRIER : 0;
            case "nanosleep" -> LoopText.sleeps(i) ? SLEEP : 0;
            default -> 0;
        };
    }

    /** The cost of all instructions before each of a list. Looks at the stop word cost nothing more. */
    static long[] sums(List<Instruction> instructions) {
        long[] sums = new long[instructions.size() + 1];
        Operand stop = null;
        for (int at = 0; at < instructions.size(); at++) {
            Instruction i = instructions.get(at);
            boolean look = stop != null && i.opcode().equals("ld") && i.has("volatile") && i.operands().getLast().equals(stop);
            sums[at + 1] = sums[at] + (look ? 0 : of(i));
            boolean place = i.mnemonic().equals("ld.const.u64")
                    && i.operands().getLast() instanceof Operand.Address(Operand.Named(String name), long offset)
                    && name.equals(WindowConstants.NAME) && offset == WindowConstants.STOP_WORD;
            stop = place ? new Operand.Address((Operand.Register) i.operands().getFirst(), 0) : null;
        }
        return sums;
    }

    private static boolean isNumbered(Instruction i) {
        int number = i.has("red") ? 1 : 0;
        return !i.has("cluster")
                && !(i.operands().size() > number && i.operands().get(number) instanceof Operand.Immediate(long value, boolean _) && value == 0);
    }

    private static boolean isGlobal(Instruction i) {
        return i.space().map(space -> space == StateSpace.GLOBAL).orElse(true);
    }

    private static long bulk(Instruction i) {
        if (i.has("commit_group") || i.has("wait_group")) {
            return 0;
        }
        long bytes = BULK_BYTES;
        for (Operand operand : i.operands()) {
            bytes = operand instanceof Operand.Immediate(long value, boolean _) ? Math.max(value, 0) : bytes;
        }
        return (bytes + ACCESS_BYTES - 1) / ACCESS_BYTES * ACCESS;
    }
}
