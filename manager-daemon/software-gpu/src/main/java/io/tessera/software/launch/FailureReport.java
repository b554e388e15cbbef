package io.tessera.software.launch;

import io.tessera.software.memory.MemoryFault;
import io.tessera.software.memory.MemoryMap;
import io.tessera.software.memory.RealMemory;

/**
 * Reports to the owner of a kernel's fence that the device failed in the kernel, so that one program ends and not the context of all. The report goes to the
 * report area that guardian-allocator describes ({@code ReportArea}; a test compares the two). Stateless.
 *
 * @param constants real address of the constant that {@link StopWord#CONSTANTS} names; 0: the module is not fenced
 */
public record FailureReport(long constants) {
    /** Offset of the area's address in the constant. */
    public static final int OFFSET = 32;
    /** The kind of record. */
    public static final int KIND = 9;
    private static final int RECORDS = 32;
    private static final int RECORD_BYTES = 64;
    private static final int NO_FUNCTION = -1;

    /** Writes a record; false if there is no area that a kernel could write. */
    public boolean write(MemoryMap map) {
        long area = constants == 0 ? 0 : RealMemory.getLongVolatile(constants + OFFSET);
        try {
            for (int i = 0; i <= RECORDS; i++) {
                map.checked(area + (long) i * RECORD_BYTES, Long.BYTES);
            }
        } catch (MemoryFault nowhere) {
            return false;
        }
        long number = Integer.toUnsignedLong(RealMemory.getAndAddInt(area, 1));
        if (number < RECORDS) {
            long record = area + (number + 1) * RECORD_BYTES;
            RealMemory.fill(record, RECORD_BYTES, (byte) 0);
            RealMemory.putInt(record + Integer.BYTES, NO_FUNCTION);
            RealMemory.putIntVolatile(record, KIND);
        }
        return true;
    }
}
