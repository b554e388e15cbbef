package io.tessera.guardian.machine.look;

import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.code.ImmediateResult;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.Kind;
import io.tessera.guardian.machine.code.MachineOpcode;
import io.tessera.guardian.machine.code.SectionFlow;
import java.util.BitSet;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.IntPredicate;

/**
 * Loops in which a thread may wait for a thread of another block: those that are not counted and load a value that other blocks can change while the loop runs. Such a value comes from
 *
 * <ul>
 * <li>a load of scope GPU or SYS ({@code LDG.STRONG.GPU}, which {@code ld.volatile}, {@code ld.relaxed}, {@code ld.acquire}, {@code .cg} and {@code .cv} become), or
 * {@code LDG.MMIO}: bits 77 to 80 are neither 0 (weak), 4 ({@code .CONSTANT}) nor 5 ({@code .STRONG.SM}, which {@code .ca} and scope {@code .cta} become)
 * <li>an atomic operation that returns something, other than an addition of an immediate that is not zero: by that a thread takes the next piece of work, and each round changes what
 * it reads
 * <li>a weak load, or one of scope SM, or a copy to shared memory, in a loop that also has a {@code MEMBAR} beyond the block's, or a {@code CCTL.IVALL}: either makes later loads see
 * what other blocks have stored
 * </ul>
 *
 * What depends on the value is not looked at: saying yes costs speed alone. Functions of the section that are called in a loop count with it. Waits for an mbarrier are waits for the
 * block or its cluster, whose blocks run together. Bits of {@link MachineOpcode}s were learned from ptxas, with nvdisasm as the judge. Stateless but for its section.
 */
final class WaitingLoops {
    private static final int WEAK = 0;
    private static final int CONSTANT = 4;
    private static final int OF_BLOCK = 5;
    /** The low bits of {@code ATOMG} and {@code ATOM} with integers, without comparison. */
    private static final int GLOBAL_ATOMIC = 0xa8;
    private static final int GENERIC_ATOMIC = 0x8a;

    private final SectionFlow flow;
    /** Instructions that load nothing of the program's. */
    private final IntPredicate aside;
    private final Set<Role> roles = EnumSet.noneOf(Role.class);

    /** What an instruction has to do with waiting. */
    private enum Role {
        NONE, OBSERVES, LOADS, REFRESHES, CALLS
    }

    WaitingLoops(SectionFlow flow, IntPredicate aside) {
        this.flow = flow;
        this.aside = aside;
        for (int i = 0; i < flow.count(); i++) {
            roles.add(role(i));
        }
    }

    /** Whether a load in the section may tell of other blocks, if a loop elsewhere calls it. */
    boolean loads() {
        return roles.contains(Role.OBSERVES) || roles.contains(Role.LOADS);
    }

    /** Whether there could be such a loop, or one that calls functions of other sections; if not, nobody needs to find the section's loops. */
    boolean arePossible() {
        return mayObserve() || roles.contains(Role.CALLS);
    }

    private boolean mayObserve() {
        return roles.contains(Role.OBSERVES) || roles.contains(Role.LOADS) && roles.contains(Role.REFRESHES);
    }

    /** Looks at the loops. Whether one is counted takes longest to find, and is asked last. */
    SectionWaits find(LoopGraph graph, CountedLoop counted) throws MachineCodeException {
        boolean mayCall = roles.contains(Role.CALLS);
        String waits = null;
        boolean calls = false;
        for (BitSet loop : graph.cycles(graph.reached())) {
            BitSet blocks = graph.withCalled(loop);
            int at = mayObserve() && waits == null ? observer(graph, blocks) : SectionFlow.NONE;
            boolean leaves = mayCall && !calls && calls(graph, blocks);
            if ((at != SectionFlow.NONE || leaves) && !counted.isCounted(loop)) {
                waits = at == SectionFlow.NONE ? waits : text(at);
                calls |= leaves;
            }
        }
        return new SectionWaits(waits, loads(), calls);
    }

    /** The instruction by which threads may wait in some blocks; {@link SectionFlow#NONE}: there is none. */
    private int observer(LoopGraph graph, BitSet blocks) {
        int loads = SectionFlow.NONE;
        boolean refreshes = false;
        for (int block = blocks.nextSetBit(0); block >= 0; block = blocks.nextSetBit(block + 1)) {
            for (int i = graph.start(block); i <= graph.last(block); i++) {
                Role role = role(i);
                if (role == Role.OBSERVES) {
                    return i;
                }
                loads = loads == SectionFlow.NONE && role == Role.LOADS ? i : loads;
                refreshes |= role == Role.REFRESHES;
            }
        }
        return refreshes ? loads : SectionFlow.NONE;
    }

    /** Whether functions of other sections are called in some blocks. */
    private boolean calls(LoopGraph graph, BitSet blocks) {
        return blocks.stream().anyMatch(block -> flow.operation(graph.last(block)).kind() == Kind.CALL_SYMBOL);
    }

    /** What a loop waits by, for users. */
    private String text(int at) {
        return "a loop with " + flow.operation(at).name() + " at offset 0x" + Integer.toHexString(at * InstructionWord.BYTES);
    }

    private Role role(int at) {
        MachineOpcode operation = flow.operation(at);
        return switch (operation.kind()) {
            case GLOBAL, GLOBAL_REGISTER -> access(at, operation.name());
            case TENSOR -> "UTMALDG".equals(operation.name()) ? Role.LOADS : Role.NONE;
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
            case "LDGSTS" -> Role.LOADS;
            default -> Role.NONE;
        };
    }

    /** Whether an atomic operation adds an immediate that is not zero to a number of 32 or 64 bits; the operation is in bits 87 to 90, 0 for a sum. */
    private boolean counts(int at) {
        int form = (int) flow.low(at) & 0xff;
        if (form != GLOBAL_ATOMIC && form != GENERIC_ATOMIC || (flow.high(at) >>> 23 & 0xf) != 0) {
            return false;
        }
        int added = (int) (flow.low(at) >>> 32) & 0xff;
        for (int i = at - 1; i >= 0 && flow.isOnlyFollowing(i + 1); i--) {
            if (flow.operation(i).writes(flow.low(i), added)) {
                return InstructionWord.predicate(flow.low(i)) == InstructionWord.ALWAYS && InstructionWord.destination(flow.low(i)) == added
                        && ImmediateResult.of(flow.low(i), flow.high(i)) > 0;
            }
        }
        return false;
    }

    /** {@code MEMBAR} has its scope in bits 76 to 78, 0 for the block; the only {@code CCTL} without an address is {@code .IVALL}. */
    private static boolean refreshes(String name, long high) {
        return "CCTL".equals(name) || "MEMBAR".equals(name) && (high >>> 12 & 7) != 0;
    }
}
