package io.tessera.software.launch;

import io.tessera.software.memory.RealMemory;

/**
 * The word by which the owner of a kernel's fence has its threads end. Fenced code looks at it in its loops. Threads that wait for others
 * cannot look: a GPU keeps them for ever, this device looks for them. Where the word is stands in a constant of fenced modules that
 * guardian-allocator describes ({@code WindowConstants}; a test compares the two). Stateless.
 *
 * @param constants real address of that constant; 0: the module is not fenced
 */
public record StopWord(long constants) {
    /** Name of the constant. */
    public static final String CONSTANTS = "__tessera_window";
    /** Size of the constant. */
    public static final int CONSTANTS_BYTES = 64;
    /** Offset of the word's address in the constant. */
    public static final int OFFSET = 40;
    /** The word of a module that is not fenced. */
    public static final StopWord NONE = new StopWord(0);

    private long address() {
        return constants == 0 ? 0 : RealMemory.getLongVolatile(constants + OFFSET);
    }

    /** Returns whether there is one. */
    public boolean exists() {
        return address() != 0;
    }

    /** Returns whether threads are to end: the word is 0. */
    public boolean isSet() {
        long address = address();
        return address != 0 && RealMemory.getIntVolatile(address) == 0;
    }
}
