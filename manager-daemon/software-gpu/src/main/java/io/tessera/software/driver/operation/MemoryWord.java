package io.tessera.software.driver.operation;

import io.tessera.device.CudaEnums.MemoryOperation;
import io.tessera.device.CudaEnums.WaitValueFlag;
import io.tessera.device.CudaError;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.abi.HostMemory;

/**
 * One wait for, or write of, a word in memory (CUstreamBatchMemOpParams).
 *
 * @param kind    wait or write
 * @param address of an aligned word
 * @param value   compared or written; the low half for 32 bits
 * @param flags   CUstreamWaitValue_flags or CUstreamWriteValue_flags
 */
public record MemoryWord(Kind kind, long address, long value, int flags) {
    /** Kinds, with the numbers of CUstreamBatchMemOpType. */
    public enum Kind {
        /** Waits for 32 bits. */
        WAIT_32(MemoryOperation.WAIT_VALUE_32),
        /** Writes 32 bits. */
        WRITE_32(MemoryOperation.WRITE_VALUE_32),
        /** Makes remote writes visible: nothing to do where all memory is coherent. */
        FLUSH_REMOTE_WRITES(MemoryOperation.FLUSH_REMOTE_WRITES),
        /** Waits for 64 bits. */
        WAIT_64(MemoryOperation.WAIT_VALUE_64),
        /** Writes 64 bits. */
        WRITE_64(MemoryOperation.WRITE_VALUE_64),
        /** A barrier of memory: every operation here is one. */
        BARRIER(MemoryOperation.BARRIER);

        private final int number;

        Kind(int number) {
            this.number = number;
        }

        /** Returns its number in the interface. */
        public int number() {
            return number;
        }

        /** Returns the kind with a number. */
        public static Kind of(int number) {
            for (Kind kind : values()) {
                if (kind.number == number) {
                    return kind;
                }
            }
            throw new DriverException(CudaError.INVALID_VALUE);
        }
    }

    private static final int COMPARISON = 3;

    /** Refuses what the driver refuses. */
    public MemoryWord {
        boolean wide = kind == Kind.WAIT_64 || kind == Kind.WRITE_64;
        boolean word = wide || kind == Kind.WAIT_32 || kind == Kind.WRITE_32;
        boolean waits = kind == Kind.WAIT_32 || kind == Kind.WAIT_64;
        int known = waits ? WaitValueFlag.FLUSH | COMPARISON : 1;
        DriverException.require(!word || address != 0 && address % (wide ? 8 : 4) == 0 && (flags & ~known) == 0,
                CudaError.INVALID_VALUE);
    }

    /** Does it; false if it is a wait whose condition does not hold yet. */
    boolean attempt() {
        switch (kind) {
            case WRITE_32 -> HostMemory.storeInt(address, (int) value);
            case WRITE_64 -> HostMemory.storeLong(address, value);
            case WAIT_32 -> {
                return holds(HostMemory.loadInt(address), (int) value, 32);
            }
            case WAIT_64 -> {
                return holds(HostMemory.loadLong(address), value, 64);
            }
            default -> {}
        }
        return true;
    }

    /** GEQ is cyclic: the difference is taken modulo the width and looked at as a signed number (cuda.h). */
    private boolean holds(long word, long expected, int bits) {
        return switch (flags & COMPARISON) {
            case WaitValueFlag.GEQ -> bits == 32 ? (int) (word - expected) >= 0 : word - expected >= 0;
            case WaitValueFlag.EQ -> word == expected;
            case WaitValueFlag.AND -> (word & expected) != 0;
            default -> (bits == 32 ? (int) ~(word | expected) : ~(word | expected)) != 0;
        };
    }
}
