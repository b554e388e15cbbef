package io.tessera.guardian.machine.fence;

import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.machine.CodeWords;
import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.MachineFences;
import io.tessera.guardian.machine.align.AlignmentPlan;
import io.tessera.guardian.machine.align.AlignmentVerifier;
import io.tessera.guardian.machine.code.Architecture;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.SectionFlow;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/**
 * Code with fences computes what it did: instructions that depend on each other stay in their order, with as many cycles between them, and a fence takes its address when it is
 * there. Random blocks without scoreboards, timed as a compiler times them.
 */
class RewrittenOrderTest {
    /** Registers of arithmetic, and behind them those of accesses, which arithmetic writes now and then. */
    private static final int REGISTERS = 12;
    private static final int ADDRESSES = 16;
    /** By then an access has read its registers, so that others may pass it. */
    private static final int READING = 48;
    /** Cycles from arithmetic to what takes its result; to an access, and from a comparison to an access under its predicate. */
    private static final int LATENCY = 4;
    private static final int TO_ACCESS = 5;
    private static final int TO_PREDICATE = 13;
    private static final int NEVER = -1000;

    private static CodeWords random(Random random) {
        CodeWords code = new CodeWords();
        for (int i = random.nextInt(4, 24); i > 0; i--) {
            int register = random.nextInt(REGISTERS);
            int first = random.nextInt(REGISTERS);
            int second = random.nextInt(REGISTERS);
            switch (random.nextInt(8)) {
                case 0 -> code.sum(random.nextInt(REGISTERS + ADDRESSES), first, second);
                case 1 -> code.wideProduct(register & ~1, first, second, second & ~1);
                case 2 -> code.compare(1, first, second);
                case 3, 4 -> code.store(REGISTERS + random.nextInt(ADDRESSES) & ~1, REGISTERS + random.nextInt(ADDRESSES) & ~3);
                default -> code.product(register, first, second, random.nextInt(REGISTERS));
            }
            if (InstructionWord.key(code.words()[2 * code.count() - 2], 0) == 0x986 && random.nextBoolean()) {
                code.under(random.nextBoolean() ? 1 : 9);
            }
            code.stalling(random.nextInt(1, 7)).reusing(random.nextInt(4) == 0 ? random.nextInt(8) : 0);
        }
        CodeWords timed = timed(code);
        for (int i = 0; i < READING; i++) {
            timed.nothing();
        }
        return timed.exit();
    }

    /** As above, with enough cycles for each instruction to find its operands ready. */
    private static CodeWords timed(CodeWords code) {
        long[] words = code.words();
        CodeWords timed = new CodeWords();
        for (int i = 0; i < words.length; i += 2) {
            int needed = 0;
            int cycles = 0;
            for (int j = i - 2; j >= 0; j -= 2) {
                cycles += InstructionWord.stall(words[j + 1]);
                needed = Math.max(needed, needed(words, j, words, i) - cycles);
            }
            for (; needed > 0; needed -= 10) {
                words = inserted(words, i, Math.min(needed, 10));
                i += 2;
            }
        }
        for (int i = 0; i < words.length; i += 2) {
            timed.add(words[i], words[i + 1]);
        }
        return timed;
    }

    private static long[] inserted(long[] words, int at, int cycles) {
        CodeWords code = new CodeWords();
        for (int i = 0; i < words.length; i += 2) {
            if (i == at) {
                code.nothing().stalling(cycles);
            }
            code.add(words[i], words[i + 1]);
        }
        return code.words();
    }

    private static boolean isStore(long[] words, int at) {
        return (words[at] & 0xfff) == 0x986;
    }

    /** General registers that an instruction writes, and its predicate behind them. */
    private static BitSet written(long[] words, int at) {
        BitSet written = new BitSet();
        int destination = InstructionWord.destination(words[at]);
        switch ((int) words[at] & 0xfff) {
            case 0x210, 0x223, 0x812 -> written.set(destination);
            case 0x225 -> written.set(destination, destination + 2);
            case 0x20c -> written.set(256 + 1);
            default -> {}
        }
        return written;
    }

    private static BitSet read(long[] words, int at) {
        BitSet read = new BitSet();
        int first = InstructionWord.source(words[at]);
        int second = (int) (words[at] >>> 32) & 0xff;
        switch ((int) words[at] & 0xfff) {
            case 0x210, 0x20c -> read.set(second);
            case 0x223 -> {
                read.set(second);
                read.set((int) words[at + 1] & 0xff);
            }
            case 0x225 -> {
                int third = (int) words[at + 1] & 0xff;
                read.set(second);
                read.set(third, third + 2);
            }
            case 0x986 -> {
                read.set(first, first + 2);
                read.set(second);
            }
            default -> {}
        }
        boolean takesNone = switch ((int) words[at] & 0xfff) {
            case 0x918, 0x802, 0x94d -> true;
            default -> false;
        };
        if (!takesNone) {
            read.set(first);
            read.set(256 + (InstructionWord.predicate(words[at]) & 7));
        }
        return read;
    }

    /** Cycles that have to lie between two instructions; 0: none, not even an order. */
    private static int needed(long[] words, int before, long[] others, int behind) {
        BitSet results = written(words, before);
        results.and(read(others, behind));
        if (results.get(256 + 1)) {
            return TO_PREDICATE;
        }
        if (!results.isEmpty()) {
            return isStore(others, behind) ? TO_ACCESS : LATENCY;
        }
        BitSet again = written(words, before);
        again.and(written(others, behind));
        BitSet changed = read(words, before);
        changed.and(written(others, behind));
        return again.isEmpty() && changed.isEmpty() && !(isStore(words, before) && isStore(others, behind)) ? 0 : 1;
    }

    private static RewrittenSection rewrite(CodeWords code, boolean register) throws MachineCodeException {
        FencePlan plan = new FencePlan(InstructionWord.ZERO_UNIFORM, BoundPairs.NONE, register ? 40 : InstructionWord.ZERO_REGISTER);
        return new SectionRewriter(code.flow(), MachineFences.MASK, plan, Map.of()).rewrite();
    }

    private static RewrittenSection align(CodeWords code) throws MachineCodeException {
        return SectionRewriter.aligning(code.flow(), AlignmentPlan.of(code.flow()), true).rewrite();
    }

    private static String code(long[] words) {
        StringBuilder code = new StringBuilder();
        for (int i = 0; i < words.length; i += 2) {
            code.append(String.format("%n%d: %016x %016x, %d cycles", i / 2, words[i], words[i + 1], InstructionWord.stall(words[i + 1])));
        }
        return code.toString();
    }

    @Property(tries = 500)
    void whatDependsOnEachOtherStaysApart(@ForAll long seed, @ForAll boolean register) throws MachineCodeException {
        CodeWords code = random(new Random(seed));
        assertApart(code, rewrite(code, register));
    }

    /** The rounding of an address comes in time before the access, and after the instructions that compute the address: no other code checks that. */
    @Property(tries = 500)
    void addressesAreRoundedInTime(@ForAll long seed) throws MachineCodeException {
        CodeWords code = random(new Random(seed));
        RewrittenSection section = align(code);
        assertApart(code, section);
        long[] now = section.code();
        int time = 0;
        int[] first = new int[InstructionWord.ZERO_REGISTER + 1];
        int[] computed = new int[InstructionWord.ZERO_REGISTER + 1];
        Arrays.fill(first, NEVER);
        Arrays.fill(computed, -TO_ACCESS);
        for (int i = 0; i < now.length; time += InstructionWord.stall(now[i + 1]), i += 2) {
            int register = InstructionWord.destination(now[i]);
            if (isStore(now, i)) {
                int address = InstructionWord.source(now[i]); // another one's step may come between, for it changes nothing any more
                assertTrue(time - first[address] >= TO_ACCESS, () -> code(now));
            } else if (section.origins()[i / 2] < 0 && !written(now, i).isEmpty()) {
                assertTrue(time - computed[register] >= LATENCY, () -> code(now));
                first[register] = first[register] < 0 ? time : first[register];
            } else {
                int at = time;
                written(now, i).stream().filter(r -> r < computed.length).forEach(r -> {
                    computed[r] = at;
                    first[r] = NEVER;
                });
            }
        }
        assertNull(AlignmentVerifier.misaligned(SectionFlow.of(Architecture.SM_90, now, new BitSet())), () -> code(now));
    }

    private static void assertApart(CodeWords code, RewrittenSection section) {
        long[] before = code.words();
        long[] now = section.code();
        int[] time = new int[now.length / 2 + 1];
        for (int i = 0; i < time.length - 1; i++) {
            time[i + 1] = time[i] + InstructionWord.stall(now[2 * i + 1]);
        }
        for (int i = 0; i < time.length - 1; i++) {
            for (int j = 0; j < i; j++) {
                // A step of a fence changes no address in the window, so that others may read what was there before; the verifier counts cycles to its access.
                int needed = section.origins()[j] < 0 ? 0 : needed(now, 2 * j, now, 2 * i);
                int at = i;
                int other = j;
                assertTrue(time[i] - time[j] >= needed, () -> at + " comes " + (time[at] - time[other]) + " cycles behind " + other + code(now));
            }
        }
        for (int i = 0; i < code.count(); i++) {
            for (int j = 0; j < i; j++) {
                boolean ordered = needed(before, 2 * j, before, 2 * i) > 0;
                int at = i;
                int other = j;
                assertTrue(!ordered || section.place(j) < section.place(i), () -> at + " comes before " + other);
            }
        }
    }
}
