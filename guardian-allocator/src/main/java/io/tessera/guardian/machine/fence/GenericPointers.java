package io.tessera.guardian.machine.fence;

import io.tessera.guardian.machine.code.ConstantOperand;
import io.tessera.guardian.machine.code.SectionFlow;

/**
 * Detects code that makes generic pointers to shared and local memory from the start addresses of these spaces. A fence would send accesses through
 * such pointers to the window. Stateless.
 */
final class GenericPointers {
    private GenericPointers() {
    }

    /** Returns whether code makes such pointers. */
    static boolean areMade(SectionFlow flow) {
        for (int i = 0; i < flow.count(); i++) {
            if (makes(flow.low(i), flow.high(i))) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns whether an instruction reads the start of the shared or local space: special registers 45 to 48, or words 0x18 to 0x27 of constant bank
     * 0.
     */
    static boolean makes(long low, long high) {
        int opcode = (int) low & 0xfff;
        if (opcode == 0x919 || opcode == 0x9c3) {
            long register = high >>> 8 & 0xff;
            return register >= 45 && register <= 48;
        }
        if (ConstantOperand.bank(low, high) == 0) {
            int offset = ConstantOperand.offset(low);
            return offset >= 0x18 && offset <= 0x24;
        }
        return false;
    }
}
