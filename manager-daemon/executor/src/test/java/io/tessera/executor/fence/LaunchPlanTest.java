package io.tessera.executor.fence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.executor.ring.RecordHandler;
import io.tessera.executor.ring.RingConsumer;
import io.tessera.executor.warmup.WarmUpClient;
import io.tessera.os.linux.Linux;
import io.tessera.protocol.relay.RelayLayout;
import io.tessera.protocol.relay.RelaySegment;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests that a plan does not change while its record is handled, whatever the client writes meanwhile. */
@Timeout(60)
class LaunchPlanTest {
    private final Arena arena = Arena.ofConfined();
    private final RelaySegment segment = new RelaySegment(arena.allocate(RelaySegment.BYTES, 4096));
    private final WarmUpClient client = new WarmUpClient(segment, Linux.futex(), () -> 0);
    private final RingConsumer ring = new RingConsumer(segment, arena);
    private final MemorySegment parameters = arena.allocate(RelayLayout.RECORD_MAX, 64);
    private final List<String> said = new ArrayList<>();

    @AfterEach
    void close() {
        arena.close();
    }

    private static String all(LaunchPlan plan) {
        return plan.function() + " " + plan.stream() + " " + plan.attributes() + " " + plan.parameterBytes() + " " + plan.parametersAt() + " "
                + plan.blocks()
                + " " + plan.threads() + " " + plan.sharedBytes() + " " + plan.isCooperative();
    }

    /** A client that overwrites its record as soon as it is looked at, and a handler that would write it. */
    private final class Hostile implements RecordHandler {
        private LaunchPlan plan;

        @Override
        public boolean admits(MemorySegment record, int length) {
            plan = plan == null ? new LaunchPlan(record, parameters) : plan;
            assertSame(plan.record(), record, "records come in the same memory");
            assertTrue(plan.isWhole(length));
            said.add(all(plan));
            segment.ring().asSlice(64, 4096).fill((byte) 0x77);
            assertEquals(said.getLast(), all(plan));
            return true;
        }

        @Override
        public boolean record(MemorySegment record, int length) {
            assertSame(plan.record(), record);
            assertEquals(said.getLast(), all(plan));
            assertTrue(record.isReadOnly());
            assertThrows(IllegalArgumentException.class, () -> record.fill((byte) 0));
            assertEquals(said.getLast(), all(plan));
            segment.ring().asSlice(64, 4096).fill((byte) 0); // as the consumer leaves it
            return true;
        }
    }

    @Test
    void aPlanStaysAsItIsWhileItsRecordIsHandled() throws Exception {
        Hostile handler = new Hostile();
        client.launch(11, 12, 13);
        assertEquals(1, ring.poll(handler, 1, 1));
        client.launch(21, 22, 23);
        assertEquals(1, ring.poll(handler, 1, 1));
        assertTrue(said.get(0).startsWith("11 12 "), said.get(0));
        assertTrue(said.get(1).startsWith("21 22 "), "the next record is another launch: " + said.get(1));
    }
}
