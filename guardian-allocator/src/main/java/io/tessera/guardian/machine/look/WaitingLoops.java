package io.tessera.guardian.machine.look;

import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.code.ImmediateResult;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.Kind;
import io.tessera.guardian.machine.code.MachineOpcode;
import io.tessera.guardian.machine.code.SectionFlow;
import java.util.BitSet;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.function.IntPredicate;

/**
 * Loops in which a thread may wait for a thread of another block: those that load a value that other blocks can change while the loop runs. Such a
 * value comes from
 *
 * <ul>
 * <li>a load of scope GPU or SYS ({@code LDG.STRONG.GPU}, which {@code ld.volatile}, {@code ld.relaxed}, {@code ld.acquire}, {@code .cg} and {@code
 * .cv} become), or {@code LDG.MMIO}: bits 77 to 80 are neither 0 (weak), 4 ({@code .CONSTANT}) nor 5 ({@code .STRONG.SM}, which {@code .ca} and scope
 * {@code .cta} become)
 * <li>an atomic operation that returns a value, other than an addition of an immediate from 1 to 65,535: with such an addition, a thread takes the
 * next piece of work, and each iteration changes the value
 * <li>a weak load, or one of scope SM, in a loop that also has a {@code MEMBAR} beyond the block's, or a {@code CCTL.IVALL}: either makes later loads
 * see the stores of other blocks
 * <li>a copy to shared memory, which may bypass the processor's cache
 * </ul>
 *
 * The dependents of the value matter in two cases. In a counted loop, and in a loop that only copies, a branch or end must depend on a load ({@link
 * DecidingWays}): loops that add up volatile values do not wait, and neither do those of matrix products, which branch by their counters. A false
 * positive costs speed only. Functions of the section that are called in a loop count as part of it. A wait for an mbarrier is a wait for the block
 * or its cluster, whose blocks run together. Bits of {@link MachineOpcode}s were determined from the output of ptxas, with nvdisasm as the reference.
 * Stateless but for its section.
 */
final class WaitingLoops {
    private static final int WEAK = 0;
    private static final int CONSTANT = 4;
    private static final int OF_BLOCK = 5;
    /** The low bits of {@code ATOMG} and {@code ATOM} with integers, without comparison. */
    private static final int GLOBAL_ATOMIC = 0xa8;
    private static final int GENERIC_ATOMIC = 0x8a;
    /** A loop that takes the next piece of work adds less than this. A larger addition may serve to read the bits below. */
    private static final int MOST_PIECES = 1 << 16;

    private final SectionFlow flow;
    /** Instructions that load nothing of the program's. */
    private final IntPredicate aside;
    private final Set<Role> roles = EnumSet.noneOf(Role.class);

    /** Role of an instruction in waiting. */
    private enum Role {
        NONE, OBSERVES, LOADS, COPIES, REFRESHES, CALLS
    }

    WaitingLoops(SectionFlow flow, IntPredicate aside) {
        this.flow = flow;
        this.aside = aside;
        for (int i = 0; i < flow.count(); i++) {
            roles.add(role(i));
        }
    }

    /**
     * Returns whether a load in the section may observe other blocks if a loop elsewhere calls it, or a load of that loop may because the section
     * fences memory.
     */
    boolean loads() {
        return roles.contains(Role.OBSERVES) || roles.contains(Role.LOADS) || roles.contains(Role.COPIES) || roles.contains(Role.REFRESHES);
    }

    /**
     * Returns whether there could be such a loop, or one that calls functions of other sections; if not, the section's loops need not be computed.
     */
    boolean arePossible() {
        return mayObserve() || roles.contains(Role.CALLS);
    }

    private boolean mayObserve() {
        return roles.contains(Role.OBSERVES) || roles.contains(Role.COPIES) || roles.contains(Role.LOADS) && roles.contains(Role.REFRESHES);
    }

    /** Looks at the loops. Whether one is counted, and what its branches depend on, takes longest to find, and is asked last. */
    SectionWaits find(LoopGraph graph, CountedLoop counted) throws MachineCodeException {
        String waits = null;
        boolean calls = false;
        for (BitSet loop : graph.cycles(graph.reached())) {
            BitSet blocks = graph.withCalled(loop);
            Map<Role, Integer> first = firsts(graph, blocks);
            Integer at = waits == null ? observer(first) : null;
            boolean copiesOnly = at != null && !first.containsKey(Role.OBSERVES) && !first.containsKey(Role.REFRESHES);
            boolean leaves = first.containsKey(Role.CALLS) && !calls;
            if (at == null && !leaves) {
                continue;
            }
            boolean endless = (leaves || !copiesOnly) && !counted.isCounted(loop);
            boolean decides = (!endless || copiesOnly) && new DecidingWays(flow, graph, blocks, aside).dependOnLoads();
            if (at != null && (decides || endless && !copiesOnly)) {
                waits = text(at);
            }
            calls |= leaves && (endless || decides);
        }
        return new SectionWaits(waits, loads(), calls);
    }

    /** The first instruction of each role in some blocks. */
    private Map<Role, Integer> firsts(LoopGraph graph, BitSet blocks) {
        Map<Role, Integer> first = new EnumMap<>(Role.class);
        for (int block = blocks.nextSetBit(0); block >= 0; block = blocks.nextSetBit(block + 1)) {
            for (int i = graph.start(block); i <= graph.last(block); i++) {
                first.putIfAbsent(role(i), i);
            }
        }
        return first;
    }

    /** The instruction by which threads may wait in a loop; null: there is none. */
    private static Integer observer(Map<Role, Integer> first) {
        boolean refreshes = first.containsKey(Role.REFRESHES);
        return first.getOrDefault(Role.OBSERVES, first.getOrDefault(Role.COPIES, refreshes ? first.get(Role.LOADS) : null));
    }

    /** Returns a description for users of the instruction with which a loop waits. */
    private String text(int at) {
        return "a loop with " + flow.operation(at).name() + " at offset 0x" + Integer.toHexString(at * InstructionWord.BYTES);
    }

    private Role role(int at) {
        MachineOpcode operation = flow.operation(at);
        return switch (operation.kind()) {
            case GLOBAL, GLOBAL_REGISTER -> access(at, operation.name());
            case TENSOR -> "UTMALDG".equals(operation.name()) ? Role.COPIES : Role.NONE;
            case CALL_SYMBOL -> Role.CALLS;
            case PLAIN -> refreshes(operation.name(), flow.high(at)) ? Role.REFRESHES : Role.NONE;
            default -> Role.NONE;
        };
    }

    private Role access(int at, String name) {
        long high = flow.high(at);
        return switch (name) {
            case "LDG", "LD" -> aside.test(at) ? Role.NONE : switch ((int) (high >>> 13) & 0xf) {
                case WEAK, OF_BLOCK -> Role.LOADS;
                case CONSTANT -> Role.NONE;
                default -> Role.OBSERVES;
            };
            case "ATOM", "ATOMG" ->
                InstructionWord.destination(flow.low(at)) == InstructionWord.ZERO_REGISTER && (high >>> 17 & 7) == InstructionWord.ALWAYS
                        || counts(at)
                                ? Role.NONE
                                : Role.OBSERVES;
            case "LDGSTS" -> Role.COPIES;
            default -> Role.NONE;
        };
    }

    /** Returns whether an atomic operation adds a non-zero immediate to a number of 32 or 64 bits; the operation is in bits 87 to 90, 0 for a sum. */
    private boolean counts(int at) {
        int form = (int) flow.low(at) & 0xff;
        if (form != GLOBAL_ATOMIC && form != GENERIC_ATOMIC || (flow.high(at) >>> 23 & 0xf) != 0) {
            return false;
        }
        int added = (int) (flow.low(at) >>> 32) & 0xff;
        for (int i = at - 1; i >= 0 && flow.isOnlyFollowing(i + 1); i--) {
            if (flow.operation(i).writes(flow.low(i), added)) {
                long pieces = ImmediateResult.of(flow.low(i), flow.high(i));
                return InstructionWord.predicate(flow.low(i)) == InstructionWord.ALWAYS && InstructionWord.destination(flow.low(i)) == added
                        && pieces > 0 && pieces < MOST_PIECES;
            }
        }
        return false;
    }

    /** {@code MEMBAR} has its scope in bits 76 to 78, 0 for the block; the only {@code CCTL} without an address is {@code .IVALL}. */
    private static boolean refreshes(String name, long high) {
        return "CCTL".equals(name) || "MEMBAR".equals(name) && (high >>> 12 & 7) != 0;
    }
}
