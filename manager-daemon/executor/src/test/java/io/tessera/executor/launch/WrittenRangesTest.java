package io.tessera.executor.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.executor.fence.LaunchPlan;
import io.tessera.executor.memory.ClientMemory;
import io.tessera.executor.memory.MemoryRange;
import io.tessera.executor.memory.MemoryRange.Origin;
import io.tessera.guardian.fence.KernelWrites;
import io.tessera.protocol.WireTypes;
import io.tessera.protocol.relay.RecordHeader;
import io.tessera.protocol.relay.RelayLayout;
import io.tessera.protocol.segment.SegmentLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Which allocations a launch changes that it also reads, by its parameters. */
class WrittenRangesTest {
    private static final long BASE = 0x7000_0000_0000L;
    private static final KernelWrites FIRST_FROM_SECOND = new KernelWrites(List.of(0), List.of(8), null);

    private final ClientMemory memory = new ClientMemory();

    private MemoryRange range(long at, long bytes, Origin origin) {
        MemoryRange range = new MemoryRange(BASE + at, bytes, origin, 0, bytes, 0);
        memory.add(range);
        return range;
    }

    private WrittenRanges of(KernelWrites writes, long... parameters) {
        MemorySegment record = Arena.ofAuto().allocate(RelayLayout.RECORD_MAX, 64);
        record.set(WireTypes.U32, RecordHeader.BYTES + SegmentLayout.offset(RelayLayout.LAUNCH, "parameter_bytes"), parameters.length * Long.BYTES);
        LaunchPlan plan = new LaunchPlan(record, record);
        for (int i = 0; i < parameters.length; i++) {
            record.set(ValueLayout.JAVA_LONG_UNALIGNED, plan.parametersAt() + (long) i * Long.BYTES, parameters[i]);
        }
        return WrittenRanges.of(writes, plan, memory);
    }

    private void changes(List<MemoryRange> expected, WrittenRanges found) {
        assertNull(found.unknown());
        assertEquals(expected, found.changed());
        assertEquals(expected.stream().mapToLong(MemoryRange::bytes).sum(), found.changedBytes());
    }

    @Test
    void whatIsOnlyWrittenNeedsNoCopy() {
        range(0, 4096, Origin.ALLOCATED);
        range(8192, 4096, Origin.POOLED);
        changes(List.of(), of(FIRST_FROM_SECOND, BASE + 16, BASE + 8192 + 400));
        changes(List.of(), of(new KernelWrites(List.of(), List.of(), null), 1, 2));
    }

    @Test
    void whatIsWrittenAndReadIsCopiedWhole() {
        MemoryRange both = range(0, 4096, Origin.ALLOCATED);
        changes(List.of(both), of(FIRST_FROM_SECOND, BASE + 16, BASE + 2048));
        changes(List.of(both), of(new KernelWrites(List.of(0, 8), List.of(0, 8), null), BASE + 16, BASE));
    }

    /** The address may be the end of the allocation in front of it, from which a kernel counts down. */
    @Test
    void anAddressBetweenAllocationsMeansBoth() {
        MemoryRange first = range(0, 4096, Origin.ALLOCATED);
        MemoryRange second = range(4096, 4096, Origin.ALLOCATED);
        changes(List.of(second, first), of(new KernelWrites(List.of(0), List.of(0), null), BASE + 4096));
        changes(List.of(second), of(new KernelWrites(List.of(0), List.of(0), null), BASE + 8192));
    }

    @Test
    void numbersAreNoAddresses() {
        MemoryRange both = range(0, 4096, Origin.ALLOCATED);
        changes(List.of(both), of(new KernelWrites(List.of(0, 8), List.of(0), null), BASE, 1000));
        assertNotNull(of(new KernelWrites(List.of(0, 8), List.of(0), null), 1000, 0).unknown());
    }

    @ParameterizedTest
    @EnumSource(value = Origin.class, names = {"ALLOCATED", "POOLED"}, mode = EnumSource.Mode.EXCLUDE)
    void otherMemoryIsNotTaken(Origin origin) {
        range(0, 4096, Origin.ALLOCATED);
        range(8192, 4096, origin);
        assertNotNull(of(FIRST_FROM_SECOND, BASE + 8192, BASE).unknown());
        assertNotNull(of(FIRST_FROM_SECOND, BASE, BASE + 8192).unknown());
    }

    @Test
    void addressesThatAreNoMemoryOfTheProgramAreNotTaken() {
        range(0, 4096, Origin.ALLOCATED);
        assertNotNull(of(FIRST_FROM_SECOND, BASE + 4097, BASE).unknown());
        assertNotNull(of(FIRST_FROM_SECOND, BASE, -1).unknown());
        assertNotNull(of(FIRST_FROM_SECOND, BASE).unknown());
        assertEquals("It calls malloc.", of(KernelWrites.unknown("It calls malloc."), BASE, BASE).unknown());
    }

    @Test
    void memoryThatOthersMayUseIsNotTaken() {
        range(0, 4096, Origin.ALLOCATED);
        memory.exported();
        assertTrue(of(FIRST_FROM_SECOND, BASE, BASE).unknown().startsWith("other programs"));
    }
}
