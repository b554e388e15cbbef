package io.tessera.executor;

import static io.tessera.executor.client.RelayTestClient.outBytes;
import static io.tessera.executor.client.RelayTestClient.value;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.device.DriverEntry;
import io.tessera.executor.client.RelayTestClient;
import io.tessera.protocol.relay.QueryKind;
import io.tessera.protocol.relay.RecordHeader;
import io.tessera.protocol.relay.RelayHandle;
import io.tessera.protocol.relay.RelayLayout;
import io.tessera.testing.driver.HandleWitness;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Records that no honest client writes: they are refused, and neither the executor nor another client suffers.
 * {@code -Dtessera.fuzz.records} sets how many, {@code -Dtessera.seed} repeats a run.
 */
@Timeout(3600)
class FuzzTest {
    private static final int RECORDS = Integer.getInteger("tessera.fuzz.records", 400_000);
    /** Log text for a record that only the executor's safety net refused: then a check is missing. */
    private static final String UNFORESEEN = "was not checked well enough";

    @TempDir
    Path folder;

    @Test
    void malformedRecordsHarmNobody() throws Exception {
        long seed = Long.getLong("tessera.seed", System.nanoTime());
        System.out.println(RECORDS + " malformed records, seed " + seed);
        ByteArrayOutputStream logged = new ByteArrayOutputStream();
        PrintStream errors = System.err;
        System.setErr(new PrintStream(logged, true, StandardCharsets.UTF_8));
        try {
            floodWithRubbish(seed);
        } finally {
            System.setErr(errors);
        }
        String log = logged.toString(StandardCharsets.UTF_8);
        int at = log.indexOf(UNFORESEEN);
        assertTrue(at < 0, () -> "seed " + seed + ": " + log.substring(Math.max(0, at - 100), Math.min(log.length(), at + 2000)));
    }

    private void floodWithRubbish(long seed) throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder)) {
            HandleWitness witness = executor.driver.watched();
            executor.driver.recording = false;
            executor.driver.touchesMemory = false; // the fake's own copies trust their arguments, as a driver does
            floodWithRubbish(executor, seed);
            assertEquals(List.of(), witness.complaints(), "seed " + seed);
        }
    }

    private static void floodWithRubbish(RunningExecutor executor, long seed) throws Exception {
        Random random = new Random(seed);
        try (RelayTestClient bad = executor.client("bad", 1 << 20); RelayTestClient good = executor.client("good", 0)) {
            for (int i = 0; i < RECORDS; i++) {
                send(bad, random);
            }
            assertEquals(0, bad.query(QueryKind.MEMORY, 0), "it still answers, seed " + seed);
            assertEquals(0, bad.segment().contextError(), "seed " + seed);
            assertFalse(bad.segment().ended(), "seed " + seed);
            executor.driver.touchesMemory = true;
            assertEquals(0, good.call(DriverEntry.cuMemAlloc_v2, outBytes(8), value(64)), "seed " + seed);
            bad.disconnect();
            RelayTestClient.await(bad.segment()::ended, "its end, seed " + seed);
            assertEquals(1, executor.windows().bounds().size(), "its window is gone, seed " + seed);
            assertEquals(64, executor.windows().bounds().getFirst().allocatedBytes(), "seed " + seed);
            assertEquals(2, executor.driver.alive("stream"), "those of the window that is left, seed " + seed);
            assertEquals(0, executor.driver.alive("event"), "seed " + seed);
        }
    }

    private static void send(RelayTestClient client, Random random) {
        int body = random.nextInt(20) == 0 ? random.nextInt(4096) : random.nextInt(160);
        long at = client.claim(body);
        MemorySegment ring = client.segment().ring();
        int kind = random.nextInt(20) == 0 ? random.nextInt(65_536) : random.nextInt(10);
        int entry = random.nextInt(10) == 0 ? random.nextInt(65_536)
                : kind == 8 ? random.nextInt(6) : random.nextInt(DriverEntry.values().length);
        ring.set(ValueLayout.JAVA_SHORT, at + 4, (short) kind);
        ring.set(ValueLayout.JAVA_SHORT, at + 6, (short) entry);
        ring.set(ValueLayout.JAVA_INT, at + 8, random.nextInt(20) == 0 ? random.nextInt() : random.nextInt(3) * 7);
        ring.set(ValueLayout.JAVA_SHORT, at + 12, (short) (random.nextInt(5) == 0 ? random.nextInt() : 1));
        ring.set(ValueLayout.JAVA_SHORT, at + 14, (short) (random.nextInt(4) == 0 ? random.nextInt(4) : 0));
        for (int offset = 0; offset + 8 <= body; offset += 8) {
            ring.set(ValueLayout.JAVA_LONG, at + RecordHeader.BYTES + offset, word(random));
        }
        client.commit(at, RecordHeader.BYTES + body);
    }

    private static long word(Random random) {
        return switch (random.nextInt(8)) {
            case 0 -> random.nextLong();
            case 1 -> RelayHandle.of(random.nextInt(23), random.nextInt(2), random.nextInt(8));
            case 2 -> RelayLayout.POINTER_PRESENT | (long) random.nextInt(64) << 32 | random.nextInt(64);
            case 3 -> RelayLayout.POINTER_PRESENT | 8L << 32;
            case 4 -> Long.MIN_VALUE + random.nextInt();
            case 5 -> -random.nextInt(64);
            default -> random.nextInt(64);
        };
    }
}
