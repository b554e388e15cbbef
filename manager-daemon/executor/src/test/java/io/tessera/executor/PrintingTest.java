package io.tessera.executor;

import static io.tessera.executor.client.RelayTestClient.await;
import static io.tessera.executor.client.RelayTestClient.in;
import static io.tessera.executor.client.RelayTestClient.mark;
import static io.tessera.executor.client.RelayTestClient.outBytes;
import static io.tessera.executor.client.RelayTestClient.text;
import static io.tessera.executor.client.RelayTestClient.value;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tessera.device.DriverEntry;
import io.tessera.executor.client.RelayTestClient;
import io.tessera.protocol.relay.QueryKind;
import io.tessera.protocol.relay.RecordKind;
import io.tessera.protocol.relay.RelayLayout;
import io.tessera.protocol.relay.RelaySegment;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Device printf on its way from the driver to the client. */
@Timeout(180)
class PrintingTest {
    private static final int PRINTS = 144;

    @TempDir
    Path folder;

    private static int prints(RelayTestClient client, String image) {
        assertEquals(0, client.call(DriverEntry.cuModuleLoadDataEx, outBytes(8),
                in((image + "\0").getBytes(StandardCharsets.US_ASCII)), value(0), value(0), value(0)));
        long module = client.outLong(0);
        assertEquals(0, client.call(DriverEntry.cuModuleGetFunction, outBytes(8), value(module), text("kernel")));
        assertEquals(0, client.query(QueryKind.FUNCTION, client.outLong(0)));
        return MemorySegment.ofArray(client.out()).get(ValueLayout.JAVA_INT_UNALIGNED, PRINTS);
    }

    private static String read(RelaySegment segment) {
        StringBuilder text = new StringBuilder();
        for (long at = segment.printTaken(); at < segment.printed(); at++) {
            text.append((char) segment.memory().get(ValueLayout.JAVA_BYTE,
                    RelaySegment.PRINT + (at & RelayLayout.PRINT_BYTES - 1)));
        }
        segment.printTaken(segment.printed());
        return text.toString();
    }

    @Test
    void textComesBeforeTheWordIsAdvanced() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0)) {
            AtomicInteger line = new AtomicInteger();
            executor.driver.printing = () -> executor.print("line " + line.incrementAndGet() + "\n");
            assertEquals(0, prints(client, "// nothing of interest"));
            client.synchronise(0, 5, 2);
            assertEquals(2, client.segment().word(5), "a client that does not print is not made to wait");
            assertEquals(1, prints(client, ".extern .func (.param .b32 r) vprintf"));
            for (int i = 1; i <= 3; i++) {
                long next = 2 * i + 3;
                client.send(RecordKind.MARK, 0, false, 1, 0, mark(0, next - 1, 5));
                await(() -> client.segment().word(5) == next, "the text's word");
                assertEquals("line " + i + "\n", read(client.segment()));
            }
        }
    }

    @Test
    void whoWaitsForAnEventReadsTextToo() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0)) {
            executor.driver.printing = () -> executor.print("printed");
            assertEquals(1, prints(client, "vprintf"));
            assertEquals(0, client.call(DriverEntry.cuEventCreate, outBytes(8), value(0)));
            client.send(RecordKind.WATCH_EVENT, 0, false, 1, 0, mark(client.outLong(0), 8, 100));
            await(() -> client.segment().word(100) == 8, "the event's word");
            assertEquals("printed", read(client.segment()));
        }
    }

    @Test
    void whatDoesNotFitIsLostAndNothingElse() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0)) {
            executor.driver.printing = () -> executor.print("0123456789abcdef".repeat(1 << 15));
            assertEquals(1, prints(client, "vprintf"));
            client.send(RecordKind.MARK, 0, false, 1, 0, mark(0, 2, 5));
            await(() -> client.segment().word(5) == 3, "the text's word");
            String text = read(client.segment());
            assertEquals(RelayLayout.PRINT_BYTES, text.length());
            assertEquals("0123456789abcdef".repeat(RelayLayout.PRINT_BYTES / 16), text);
            executor.driver.printing = () -> executor.print("next");
            client.send(RecordKind.MARK, 0, false, 1, 0, mark(0, 4, 5));
            await(() -> client.segment().word(5) == 5, "the text's word");
            assertEquals("next", read(client.segment()));
        }
    }
}
