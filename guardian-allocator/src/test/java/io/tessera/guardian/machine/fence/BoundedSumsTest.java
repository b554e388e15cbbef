package io.tessera.guardian.machine.fence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.machine.CodeWords;
import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.MachineFence;
import io.tessera.guardian.machine.MachineFences;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.SectionFlow;
import java.util.Map;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** The instructions before {@code [R.64+UR.64]}: addresses in the window do not change, and all others end at most in the guard bands. */
class BoundedSumsTest {
    private static final MachineFence FENCE = MachineFences.MASK;
    private static final int ADDED = 20;
    private static final long BASE = (long) FENCE.baseHigh() << 32;
    private static final long SIZE = FENCE.mask() + 1L << 32;
    private static final long FOUR_GIB = 1L << 32;

    /** The address that is accessed, by the instructions that the rewriter puts in. */
    private static long accessed(long register, long added) throws MachineCodeException {
        SectionFlow flow = new CodeWords().loadBySum(0, 2, ADDED).exit().flow();
        FencePlan plan = new FencePlan(InstructionWord.ZERO_UNIFORM, BoundPairs.of(flow, 0), InstructionWord.ZERO_REGISTER);
        long[] code = new SectionRewriter(flow, FENCE, plan, Map.of()).rewrite().code();
        int[] uniform = new int[64];
        uniform[ADDED] = (int) added;
        uniform[ADDED + 1] = (int) (added >>> 32);
        int high = (int) (register >>> 32);
        int limits = 0;
        for (int i = 0; InstructionWord.key(code[i], code[i + 1]) != 0x1981; i += 2) {
            switch (InstructionWord.key(code[i], code[i + 1])) {
                case 0x1890 -> uniform[InstructionWord.uniformDestination(code[i])] = InstructionWord.immediate(code[i])
                        - uniform[InstructionWord.source(code[i])];
                case 0x1c48 -> {
                    assertEquals(3, InstructionWord.destination(code[i]));
                    assertEquals(3, InstructionWord.source(code[i]));
                    int limit = uniform[InstructionWord.immediate(code[i])];
                    high = (code[i + 1] >>> 26 & 1) != 0 ? Math.max(high, limit) : Math.min(high, limit);
                    limits++;
                }
                default -> throw new AssertionError("not known here: 0x" + Long.toHexString(code[i]));
            }
        }
        assertEquals(2, limits);
        return ((long) high << 32 | register & 0xffffffffL) + added;
    }

    @Property(tries = 20_000)
    void anAddressInTheWindowStaysWhatItIs(@ForAll long offset, @ForAll int top, @ForAll int low) throws MachineCodeException {
        long address = BASE + (offset & SIZE - 1);
        long added = (long) (top >> 14) << 32 | low & 0xffffffffL; // a pointer, or an offset of either sign
        assertEquals(address, accessed(address - added, added));
    }

    @Property(tries = 50_000)
    void anyOtherComesToLieInAGuardBandAtMost(@ForAll long register, @ForAll long added) throws MachineCodeException {
        long address = accessed(register, added);
        assertTrue(address >= BASE - FOUR_GIB && address < BASE + SIZE + FOUR_GIB, Long.toHexString(register) + " + " + Long.toHexString(added));
    }

    /** Bounds of which one is beyond the numbers with a sign. */
    @Property(tries = 20_000)
    void boundsThatWrapAround(@ForAll @IntRange(min = -70, max = 70) int distance, @ForAll int high, @ForAll int low) throws MachineCodeException {
        for (int edge : new int[] {Integer.MIN_VALUE, Integer.MAX_VALUE, 0, FENCE.baseHigh(), FENCE.baseHigh() - Integer.MIN_VALUE}) {
            anyOtherComesToLieInAGuardBandAtMost((long) high << 32 | low & 0xffffffffL, (long) (edge + distance) << 32 | ~low & 0xffffffffL);
        }
    }

    @Example
    void theFirstAndLastAddressesOfTheWindow() throws MachineCodeException {
        for (long address : new long[] {BASE, BASE + 1, BASE + FOUR_GIB - 1, BASE + SIZE - 1, BASE + SIZE - FOUR_GIB}) {
            for (long added : new long[] {0, 1, -1, 0xffffffffL, -FOUR_GIB, BASE, BASE - 1, address, -address}) {
                assertEquals(address, accessed(address - added, added), Long.toHexString(added));
            }
        }
    }
}
