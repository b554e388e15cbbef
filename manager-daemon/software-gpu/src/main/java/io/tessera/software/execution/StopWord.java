package io.tessera.software.execution;

import io.tessera.guardian.fence.WindowConstants;
import io.tessera.software.memory.RealMemory;

/**
 * The word by which whoever fenced a kernel has its threads end. Fenced code looks at it in its loops. Threads that wait for
 * others cannot look: a GPU keeps them for ever, this device looks for them. Stateless.
 *
 * @param constants real address of the module's {@link WindowConstants}; 0: it is not fenced
 */
public record StopWord(long constants) {
    /** Of a module that is not fenced. */
    public static final StopWord NONE = new StopWord(0);

    private long address() {
        return constants == 0 ? 0 : RealMemory.getLongVolatile(constants + WindowConstants.STOP_WORD);
    }

    /** Whether there is one. */
    boolean exists() {
        return address() != 0;
    }

    /** Whether threads are to end. */
    boolean isSet() {
        long address = address();
        return address != 0 && RealMemory.getIntVolatile(address) != 0;
    }
}
