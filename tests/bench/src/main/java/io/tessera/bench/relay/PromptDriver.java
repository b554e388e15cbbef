package io.tessera.bench.relay;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.device.DriverPort;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.EnumSet;
import java.util.Set;

/** A driver that does nothing and says at once that it did: what is left is the executor's own cost. One thread. */
final class PromptDriver implements DriverPort {
    /** Their first parameter points to a new object or address. */
    private static final Set<DriverEntry> MAKERS = EnumSet.of(DriverEntry.cuDevicePrimaryCtxRetain,
            DriverEntry.cuStreamCreate, DriverEntry.cuStreamCreateWithPriority, DriverEntry.cuEventCreate,
            DriverEntry.cuModuleLoadDataEx, DriverEntry.cuModuleGetFunction, DriverEntry.cuMemCreate,
            DriverEntry.cuMemHostGetDevicePointer_v2);
    private static final long FIRST = 0x7000_0000_0000L;
    private static final long APART = 1L << 20;
    private static final long GRANULE = 2L << 20;

    private long next = FIRST;

    @Override
    public String name() {
        return "prompt driver";
    }

    @Override
    public boolean software() {
        return true;
    }

    @Override
    public boolean supports(DriverEntry entry) {
        return true;
    }

    @Override
    public int call(DriverEntry entry, MemorySegment slots) {
        if (entry == DriverEntry.cuDeviceGetCount) {
            at(slots, Integer.BYTES).set(ValueLayout.JAVA_INT, 0, 1);
        } else if (entry == DriverEntry.cuMemGetAllocationGranularity) {
            at(slots, Long.BYTES).set(ValueLayout.JAVA_LONG, 0, GRANULE);
        } else if (entry == DriverEntry.cuMemAddressReserve && slots.getAtIndex(ValueLayout.JAVA_LONG, 3) != 0) {
            at(slots, Long.BYTES).set(ValueLayout.JAVA_LONG, 0, slots.getAtIndex(ValueLayout.JAVA_LONG, 3));
        } else if (MAKERS.contains(entry)) {
            next += APART;
            at(slots, Long.BYTES).set(ValueLayout.JAVA_LONG, 0, next);
        }
        return CudaResult.SUCCESS;
    }

    private static MemorySegment at(MemorySegment slots, long bytes) {
        return MemorySegment.ofAddress(slots.get(ValueLayout.JAVA_LONG, 0)).reinterpret(bytes);
    }

    @Override
    public void close() {
        // nothing is held
    }
}
