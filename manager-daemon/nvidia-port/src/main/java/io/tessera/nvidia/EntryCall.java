package io.tessera.nvidia;

import java.lang.foreign.MemorySegment;

/** One entry of a driver, bound. */
@FunctionalInterface
interface EntryCall {
    /** Calls the entry with the arguments in their slots; returns the {@code CUresult}. Thread-safe. */
    int call(MemorySegment slots) throws Throwable;
}
