package io.tessera.executor.launch;

import io.tessera.executor.fence.LaunchPlan;
import io.tessera.executor.memory.ClientMemory;
import io.tessera.executor.memory.MemoryRange;
import io.tessera.guardian.fence.KernelWrites;
import java.lang.foreign.ValueLayout;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The memory that a launch writes, by the pointers among its parameters, in whole allocations. Immutable.
 *
 * @param changed allocations that the launch both writes and reads: they are copied before it, so that it can be run again
 * @param unknown why the launch cannot be run again; null: it can
 */
record WrittenRanges(List<MemoryRange> changed, String unknown) {
    /** Smaller values are numbers, not addresses: no driver gives out the first 4 GiB. */
    private static final long LEAST_ADDRESS = 1L << 32;

    WrittenRanges {
        changed = List.copyOf(changed);
    }

    /** Returns the ranges of a launch of a kernel, in the memory of its client. */
    static WrittenRanges of(KernelWrites writes, LaunchPlan launch, ClientMemory memory) {
        if (writes.unknown() != null) {
            return none(writes.unknown());
        }
        if (memory.isExported()) {
            return none("other programs may use memory of the program");
        }
        Set<MemoryRange> written = new LinkedHashSet<>();
        Set<MemoryRange> read = new LinkedHashSet<>();
        String refusal = find(writes.written(), launch, memory, written);
        refusal = refusal == null ? find(writes.read(), launch, memory, read) : refusal;
        if (refusal != null) {
            return none(refusal);
        }
        if (written.isEmpty() && !writes.written().isEmpty()) {
            return none("no parameter that it writes through is an address of its memory");
        }
        return new WrittenRanges(written.stream().filter(read::contains).toList(), null);
    }

    private static WrittenRanges none(String why) {
        return new WrittenRanges(List.of(), why);
    }

    /** Adds the allocations that parameters point to. Returns why one of them is not known; null: all are. */
    private static String find(List<Integer> parameters, LaunchPlan launch, ClientMemory memory, Set<MemoryRange> into) {
        for (int at : parameters) {
            if (at + Long.BYTES > launch.parameterBytes()) {
                return "it has fewer parameters than its code";
            }
            long value = launch.record().get(ValueLayout.JAVA_LONG_UNALIGNED, launch.parametersAt() + at);
            if (value >= 0 && value < LEAST_ADDRESS) {
                continue;
            }
            Set<MemoryRange> ranges = pointedTo(value, memory);
            if (ranges.isEmpty() || !ranges.stream().allMatch(range -> isPlain(range.origin()))) {
                return "the parameter at byte " + at + " does not point to plain device memory of the program";
            }
            into.addAll(ranges);
        }
        return null;
    }

    /** Returns the allocations that an address may mean: the one that holds it, and one that ends there, of which it is the end. */
    private static Set<MemoryRange> pointedTo(long address, ClientMemory memory) {
        Set<MemoryRange> ranges = new LinkedHashSet<>();
        memory.containing(address).ifPresent(ranges::add);
        memory.containing(address - 1).ifPresent(ranges::add);
        return ranges;
    }

    /** Returns whether an allocation is the client's alone, and whole: mappings may continue in the next one, and the host sees pinned memory. */
    private static boolean isPlain(MemoryRange.Origin origin) {
        return origin == MemoryRange.Origin.ALLOCATED || origin == MemoryRange.Origin.POOLED;
    }

    /** Returns the bytes to copy before the launch. */
    long changedBytes() {
        return changed.stream().mapToLong(MemoryRange::bytes).sum();
    }
}
