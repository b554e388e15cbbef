package io.tessera.guardian.machine.align;

import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.SectionFlow;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The registers that are changed before accesses, so that addresses have the alignment that the accesses need. An address that is already aligned is
 * not changed, so that other readers of the register get the same value. Immutable.
 */
public final class AlignmentPlan {
    /** No change. */
    public static final AlignmentPlan NONE = new AlignmentPlan(Map.of());
    private static final int[] NO_REGISTERS = {};

    private final Map<Integer, List<Change>> changes;

    /**
     * A register that is changed, where the predicate of the access holds.
     *
     * @param cleared bits that become 0
     * @param set     bits that become 1
     */
    public record Change(int register, int cleared, int set) {
    }

    private AlignmentPlan(Map<Integer, List<Change>> changes) {
        this.changes = changes;
    }

    /**
     * The changes that a section needs. Addresses by uniform registers of which nothing is known stay as they are.
     *
     * @throws MachineCodeException if what is known of its registers is not found out in time
     */
    public static AlignmentPlan of(SectionFlow flow) throws MachineCodeException {
        Map<Integer, List<Change>> changes = new HashMap<>();
        AlignmentFlow alignment = new AlignmentFlow(flow, true);
        alignment.each((known, at) -> {
            List<MemoryAddress> addresses = alignment.addresses(at);
            if (addresses == null) {
                return;
            }
            for (MemoryAddress address : addresses) {
                int rest = address.rest(known);
                if (rest >= 0 && !address.isAligned(known, InstructionWord.predicate(flow.low(at)))) {
                    changes.computeIfAbsent(at, _ -> new ArrayList<>())
                            .add(new Change(address.register(), address.width() - 1 & ~rest, rest));
                }
            }
        });
        return changes.isEmpty() ? NONE : new AlignmentPlan(changes);
    }

    /** Returns whether nothing is changed. */
    public boolean isEmpty() {
        return changes.isEmpty();
    }

    /** The changes before an access. */
    public List<Change> before(int at) {
        return changes.getOrDefault(at, List.of());
    }

    /** The registers that are changed before an access. */
    public int[] registers(int at) {
        return changes.isEmpty() || !changes.containsKey(at) ? NO_REGISTERS
                : changes.get(at).stream().mapToInt(Change::register).distinct().toArray();
    }
}
