package io.tessera.software.driver.entry.memory;

/** Kinds of memory that a side of a copy can be (CUmemorytype). */
public final class MemoryType {
    /** CU_MEMORYTYPE_HOST. */
    public static final int HOST = 1;
    /** CU_MEMORYTYPE_DEVICE. */
    public static final int DEVICE = 2;
    /** CU_MEMORYTYPE_ARRAY. */
    public static final int ARRAY = 3;
    /** CU_MEMORYTYPE_UNIFIED. */
    public static final int UNIFIED = 4;

    private MemoryType() {
    }
}
