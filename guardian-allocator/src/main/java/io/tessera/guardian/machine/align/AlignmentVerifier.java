package io.tessera.guardian.machine.align;

import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.SectionFlow;
import java.util.List;

/** Looks for accesses whose address is not seen to be a multiple of what they need, so that they may end the context. Stateless. */
public final class AlignmentVerifier {
    private AlignmentVerifier() {
    }

    /**
     * Checks all of a section.
     *
     * @return the first misaligned access, or the reason why it is not known; null if there is none
     */
    public static String misaligned(SectionFlow flow) {
        try {
            return first(flow);
        } catch (MachineCodeException e) {
            return e.getMessage();
        }
    }

    private static String first(SectionFlow flow) throws MachineCodeException {
        AlignmentFlow alignment = new AlignmentFlow(flow, false);
        String[] first = new String[1];
        alignment.each((known, at) -> {
            List<MemoryAddress> addresses = first[0] == null ? alignment.addresses(at) : List.of();
            if (addresses == null) {
                first[0] = "a " + flow.operation(at).name() + ", whose alignment is not known" + place(at);
            }
            for (MemoryAddress address : first[0] == null ? addresses : List.<MemoryAddress>of()) {
                if (!address.isAligned(known, InstructionWord.predicate(flow.low(at)))) {
                    first[0] = "a " + flow.operation(at).name() + " whose address is not seen to be a multiple of " + address.width() + place(at);
                    return;
                }
            }
        });
        return first[0];
    }

    private static String place(int at) {
        return " at offset 0x" + Integer.toHexString(at * InstructionWord.BYTES);
    }
}
