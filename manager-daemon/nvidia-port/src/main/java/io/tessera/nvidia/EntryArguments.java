package io.tessera.nvidia;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Reads arguments that need more than a 64-bit slot; called by the classes that {@link EntryBinder} makes. Stateless. */
final class EntryArguments {
    /** The offset of a structure behind an address need not be aligned for a long. */
    private static final ValueLayout.OfLong EIGHTBYTE = ValueLayout.JAVA_LONG_UNALIGNED;

    private EntryArguments() {
    }

    /** Returns a float whose bits are in a slot's low half. */
    static float floating(MemorySegment slots, long offset) {
        return slots.get(ValueLayout.JAVA_FLOAT, offset);
    }

    /** Returns a structure of one eightbyte that is passed in a general register; the slot holds its address. */
    static long behind(MemorySegment slots, long offset) {
        return bytes(slots, offset, Long.BYTES).get(EIGHTBYTE, 0);
    }

    /** Returns a structure that is passed in memory; the slot holds its address. */
    static MemorySegment bytes(MemorySegment slots, long offset, long size) {
        return MemorySegment.ofAddress(slots.get(ValueLayout.JAVA_LONG, offset)).reinterpret(size);
    }
}
