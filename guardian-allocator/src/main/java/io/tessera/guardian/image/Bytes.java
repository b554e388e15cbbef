package io.tessera.guardian.image;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Little-endian numbers in memory. The caller has checked that they lie inside; the memory checks it again.
 *
 * @param memory the bytes, not copied
 */
record Bytes(MemorySegment memory) {
    private static final ValueLayout.OfShort U16 = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt U32 = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong U64 = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    int u16(long at) {
        return memory.get(U16, at) & 0xFFFF;
    }

    /** 32 bits; the caller decides whether they are signed. */
    int u32(long at) {
        return memory.get(U32, at);
    }

    /** 64 bits; a size that comes out negative is too large for anything. */
    long u64(long at) {
        return memory.get(U64, at);
    }

    byte u8(long at) {
        return memory.get(ValueLayout.JAVA_BYTE, at);
    }

    long size() {
        return memory.byteSize();
    }
}
