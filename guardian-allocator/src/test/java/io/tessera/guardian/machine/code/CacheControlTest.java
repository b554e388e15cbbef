package io.tessera.guardian.machine.code;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.api.Test;

/** {@code CCTL} either has an address of 64 bits, which gets a fence, or none. */
class CacheControlTest {
    private static final long LOW = 0x00000000ff00798fL;
    private static final long CONTROL = 0x000fe20000000000L;
    private static final long WIDE = 1L << 8;
    private static final int OPERATION = 23;
    private static final int ALL_LINES = 4;

    @Test
    void onlyAllLinesHaveNoAddress() {
        for (int operation = 0; operation < 16; operation++) {
            long high = CONTROL | (long) operation << OPERATION;
            MachineOpcode found = MachineOpcodes.find(Architecture.SM_90, LOW, high);
            if (operation == ALL_LINES) {
                assertEquals(Kind.PLAIN, kind(found));
            } else {
                assertNull(found, "by an address of 32 bits: " + operation);
            }
            assertEquals(Kind.GLOBAL_REGISTER, kind(MachineOpcodes.find(Architecture.SM_90, LOW, high | WIDE)));
        }
    }

    private static Kind kind(MachineOpcode operation) {
        assertNotNull(operation);
        return operation.kind();
    }
}
