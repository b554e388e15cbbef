package io.tessera.cli.segments;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonParser;
import io.tessera.cli.CommandRun;
import io.tessera.protocol.DeviceUuid;
import io.tessera.protocol.MemoryPlan;
import io.tessera.protocol.segment.DeviceBlock;
import io.tessera.protocol.segment.SegmentHeader;
import io.tessera.protocol.segment.SegmentLayout;
import io.tessera.protocol.segment.SubmissionKind;
import io.tessera.protocol.segment.ThreadSlot;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class SegmentCommandsTest {
    /** Of struct tessera_error in tessera_abi.h. */
    private static final long ERROR_COUNT = 8;
    private static final long ERROR_FIRST_NS = 16;
    private static final long ERROR_LAST_NS = 24;
    private static final long ERROR_TEXT = 40;

    @TempDir
    private Path folder;

    @BeforeEach
    void segments() throws IOException {
        Files.createDirectory(folder.resolve("segments"));
    }

    private static final int LIVING = (int) ProcessHandle.current().pid();
    /** Linux has none of that number. */
    private static final int DEAD = 1 << 22 | 1;

    /** What a test does with a segment before the command sees it. */
    private interface Filling {
        void fill(MemorySegment segment);
    }

    private void segment(long id, int pid, String tenant, Filling filling) throws IOException {
        Path file = folder.resolve("segments/client-" + id + ".segment");
        try (Arena arena = Arena.ofConfined();
                FileChannel channel = FileChannel.open(file,
                        StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            MemorySegment segment = channel.map(FileChannel.MapMode.READ_WRITE, 0, SegmentLayout.SEGMENT_BYTES, arena);
            SegmentHeader header = new SegmentHeader(segment);
            header.initialise(new SegmentHeader.Identity(id, pid, 1, 2, 3, MemoryPlan.PLAIN, tenant, "python"));
            filling.fill(segment);
            header.publishVersion();
        }
    }

    private static void device(MemorySegment segment) {
        DeviceBlock device = DeviceBlock.of(segment, 0);
        device.identity(new DeviceUuid(1, 2), 1L << 30, 0, "GPU A");
        device.usedBytes(3L << 20);
        device.registered(true);
        ThreadSlot.of(segment, 0).add(SubmissionKind.LAUNCH, 0, 41);
        ThreadSlot.of(segment, 5).add(SubmissionKind.LAUNCH, 0, 1);
    }

    private static void error(MemorySegment segment, int entry, int code, long count, String text) {
        long at = SegmentLayout.ERRORS_OFFSET + 256L * entry;
        segment.set(ValueLayout.JAVA_INT, at + 4, code);
        segment.set(ValueLayout.JAVA_LONG, at + ERROR_COUNT, count);
        segment.set(ValueLayout.JAVA_LONG, at + ERROR_FIRST_NS, 1_000_000_000L);
        segment.set(ValueLayout.JAVA_LONG, at + ERROR_LAST_NS, 2_500_000_000L);
        segment.setString(at + ERROR_TEXT, text, StandardCharsets.UTF_8);
        segment.set(ValueLayout.JAVA_INT, at, 1);
    }

    @Test
    void countersOfOneClientByNumberOrPid() throws IOException {
        segment(7, 1001, "alice", SegmentCommandsTest::device);
        segment(9, 1002, "bob", _ -> {});
        for (String wanted : new String[] {"7", "1001"}) {
            CommandRun run = CommandRun.of(folder, "counters", wanted);
            assertEquals(0, run.code(), run.err());
            assertTrue(run.out().startsWith("client 7, pid 1001, alice, python\n"), run.out());
            assertTrue(run.out().matches("(?s).*submitted\\.launch +42\\n.*"), run.out());
            assertTrue(run.out().matches("(?s).* used +3\\.0 MiB\\n.*"), run.out());
            assertTrue(run.out().contains("GPU-00000000-0000-0001-0000-000000000002, GPU A"), run.out());
            assertFalse(run.out().contains("bob"), run.out());
        }
    }

    @Test
    void countersAndErrorsAsJson() throws IOException {
        segment(7, LIVING, "alice", memory -> {
            device(memory);
            error(memory, 0, 2, 3, "said \"no\"");
        });
        var client = JsonParser.parseString(CommandRun.of(folder, "counters", "--json").out()).getAsJsonArray().get(0)
                .getAsJsonObject();
        assertEquals("alice", client.get("tenant").getAsString());
        assertEquals(42, client.getAsJsonObject("submitted").get("launch").getAsLong());
        assertEquals(3L << 20, client.getAsJsonArray("devices").get(0).getAsJsonObject().get("usedBytes").getAsLong());
        var error = JsonParser.parseString(CommandRun.of(folder, "errors", "--json").out()).getAsJsonArray().get(0)
                .getAsJsonObject().getAsJsonArray("errors").get(0).getAsJsonObject();
        assertEquals("said \"no\"", error.get("text").getAsString());
        assertEquals(3, error.get("count").getAsLong());
    }

    @Test
    void noClientsAreAnEmptyArray() throws IOException {
        assertEquals("[]", CommandRun.of(folder, "counters", "--json").out().strip());
        assertEquals("[]", CommandRun.of(folder, "errors", "--json").out().strip());
    }

    @Test
    void countersOfAll() throws IOException {
        segment(9, LIVING, "bob", _ -> {});
        segment(7, LIVING, "alice", _ -> {});
        CommandRun run = CommandRun.of(folder, "counters");
        assertEquals(0, run.code());
        assertTrue(run.out().indexOf("client 7") < run.out().indexOf("client 9"), run.out());
        assertEquals("", run.err());
    }

    /** Its manager was killed when it ended, so that nobody has removed it. */
    @Test
    void aSegmentWithoutItsProgramIsNamedAndShownToWhoeverAsksForIt() throws IOException {
        segment(7, LIVING, "alice", _ -> {});
        segment(9, DEAD, "bob", _ -> {});
        CommandRun run = CommandRun.of(folder, "counters");
        assertTrue(run.out().contains("alice") && !run.out().contains("bob"), run.out());
        assertEquals("tessera: client 9, pid " + DEAD + ", has ended and left its segment, which the next manager removes (tessera counters 9 "
                + "shows it)\n", run.err());
        assertTrue(CommandRun.of(folder, "counters", "9").out().contains("bob"));
    }

    @Test
    void aClientThatIsNotThereIsAFailureAndNoClientsAreNot() throws IOException {
        assertEquals(1, CommandRun.of(folder, "counters", "5").code());
        CommandRun none = CommandRun.of(folder, "counters");
        assertEquals(0, none.code());
        assertTrue(none.err().contains("no program that runs has a segment"), none.err());
    }

    @Test
    void whatIsNoSegmentIsNamedAndTheRestShown() throws IOException {
        segment(7, LIVING, "alice", _ -> {});
        Files.write(folder.resolve("segments/client-8.segment"), new byte[4096]);
        segment(9, 1002, "bob", segment -> segment.set(ValueLayout.JAVA_LONG, 0, 42L));
        CommandRun run = CommandRun.of(folder, "counters");
        assertEquals(0, run.code());
        assertTrue(run.out().contains("alice") && !run.out().contains("bob"), run.out());
        assertTrue(run.err().contains("client-8.segment: its size"), run.err());
        assertTrue(run.err().contains("client-9.segment: no segment"), run.err());
    }

    @Test
    void errorsOfAllClients() throws IOException {
        segment(7, 1001, "alice", segment -> {
            error(segment, 0, 2, 3, "cuMemAlloc of 4 GiB");
            error(segment, 1, -28, 1, "no space");
        });
        segment(9, 1002, "bob", _ -> {});
        assertEquals(new CommandRun(0, """
                client 7, pid 1001, alice
                  3x  code 2  1970-01-01T00:00:01Z to 1970-01-01T00:00:02.500Z  cuMemAlloc of 4 GiB
                  1x  code -28  1970-01-01T00:00:01Z to 1970-01-01T00:00:02.500Z  no space
                """, ""), CommandRun.of(folder, "errors"));
    }

    @Test
    void noErrors() throws IOException {
        segment(7, 1001, "alice", _ -> {});
        assertEquals(new CommandRun(0, "no errors in 1 segment\n", ""), CommandRun.of(folder, "errors"));
    }
}
