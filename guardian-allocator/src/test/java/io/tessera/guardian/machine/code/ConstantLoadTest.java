package io.tessera.guardian.machine.code;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/** {@code LDC} and {@code ULDC} write two registers at most; those with more bits than that are not known. */
class ConstantLoadTest {
    private static final long LDC = 0x00008400ff087b82L;
    private static final long ULDC = 0x0000820000047ab9L;
    private static final long ULDC_BY_REGISTER = 0x0000820006047abbL;
    private static final long CONTROL = 0x000e220000000800L & ~(7L << 9);
    private static final int SIZE = 9;
    private static final int SIZE_OF_64_BITS = 5;

    @Test
    void loadsOfMoreThan64BitsAreNotKnown() {
        for (Architecture architecture : Architecture.values()) {
            for (int size = 0; size < 8; size++) {
                long high = CONTROL | (long) size << SIZE;
                boolean known = size <= SIZE_OF_64_BITS;
                assertEquals(known, MachineOpcodes.find(architecture, LDC, high) != null, "LDC " + size);
                assertEquals(known, MachineOpcodes.find(architecture, ULDC, high) != null, "ULDC " + size);
                assertEquals(known, MachineOpcodes.find(architecture, ULDC_BY_REGISTER, high) != null, "ULDC by a register " + size);
                assertEquals(known, MachineOpcodes.find(architecture, ULDC_BY_REGISTER, high | 1L << 27) != null,
                        "ULDC by a uniform register " + size);
            }
        }
    }
}
