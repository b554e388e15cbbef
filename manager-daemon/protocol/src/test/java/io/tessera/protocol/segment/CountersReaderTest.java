package io.tessera.protocol.segment;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.protocol.DeviceUuid;
import io.tessera.protocol.MemoryPlan;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A segment file read by mapping it alone. */
class CountersReaderTest {
    private static final DeviceUuid UUID = new DeviceUuid(0x1122334455667788L, 0x99aabbccddeeff00L);

    @TempDir
    Path folder;
    private Path file;
    private Arena arena;
    private MemorySegment segment;

    @BeforeEach
    void createSegment() throws IOException {
        file = folder.resolve("client-7.segment");
        arena = Arena.ofShared();
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.READ,
                StandardOpenOption.WRITE)) {
            segment = channel.map(FileChannel.MapMode.READ_WRITE, 0, SegmentLayout.SEGMENT_BYTES, arena);
        }
        new SegmentHeader(segment).initialise(
                new SegmentHeader.Identity(7, 123, 456, 789, 1000, MemoryPlan.MANAGED, "team", "train"));
    }

    @AfterEach
    void unmap() {
        arena.close();
    }

    @Test
    void notReadyYetIsAValue() throws IOException {
        assertInstanceOf(CountersReader.Awaiting.class, CountersReader.open(folder.resolve("none")));
        assertInstanceOf(CountersReader.Awaiting.class,
                CountersReader.open(Files.createFile(folder.resolve("empty"))));
        assertEquals(new CountersReader.Awaiting("version of " + file), CountersReader.open(file));
    }

    @Test
    void alienFilesAreNamed() throws IOException {
        new SegmentHeader(segment).publishVersion();
        segment.set(ValueLayout.JAVA_INT, 8, 2);
        assertEquals(new CountersReader.BadVersion(2), CountersReader.open(file));
        segment.set(ValueLayout.JAVA_INT, 8, 1);
        segment.set(ValueLayout.JAVA_LONG, 16, 4096);
        assertEquals(new CountersReader.BadSize(4096), CountersReader.open(file));
        segment.set(ValueLayout.JAVA_LONG, 0, 5);
        assertEquals(new CountersReader.BadMagic(5), CountersReader.open(file));
        Path small = Files.write(folder.resolve("small"), new byte[100]);
        assertEquals(new CountersReader.BadSize(100), CountersReader.open(small));
    }

    @Test
    void aLinkIsNotFollowed() throws IOException {
        new SegmentHeader(segment).publishVersion();
        Path link = Files.createSymbolicLink(folder.resolve("link"), file);
        assertThrows(IOException.class, () -> CountersReader.open(link));
    }

    @Test
    void numbersOfALivingClientAreRead() throws IOException {
        SegmentHeader header = new SegmentHeader(segment);
        header.publishVersion();
        DeviceBlock block = header.device(2);
        block.identity(UUID, 1L << 36, 2, "Scripted GPU");
        ThreadSlot.of(segment, 0).add(SubmissionKind.LAUNCH, 2, 11);
        ThreadSlot.of(segment, 255).add(SubmissionKind.COPY, 2, 5);
        segment.set(ValueLayout.JAVA_LONG, SegmentLayout.COUNTERS_OFFSET + 8L * CounterId.FREES.index(), 3);
        writeError(1, 2, 4, "out of memory\n");
        try (CountersReader reader = assertInstanceOf(CountersReader.Ready.class, CountersReader.open(file)).reader()) {
            assertEquals("team", reader.header().tenant());
            assertEquals(7, reader.header().clientId());
            assertEquals(UUID, reader.device(2).uuid());
            assertEquals("GPU-11223344-5566-7788-99aa-bbccddeeff00", reader.device(2).uuid().toString());
            assertEquals(11, reader.submitted(SubmissionKind.LAUNCH));
            assertEquals(16, reader.deviceSubmissions(2));
            assertEquals(0, reader.deviceSubmissions(1));
            assertEquals(3, reader.counter(CounterId.FREES));
            assertEquals(Map.of(CounterId.FREES, 3L), CountersReader.counters(segment));
            assertEquals(List.of(new LoggedError(2, 4, 0, 0, "out of memory?")), reader.errors());
            block.usedBytes(100);
            block.usedBytes(60);
            assertEquals(60, reader.device(2).usedBytes());
            assertEquals(100, reader.device(2).peakBytes());
            block.ack(AckWord.of(9, AckWord.RELEASED));
            assertEquals(9, AckWord.epoch(reader.device(2).ack()));
            assertThrows(IllegalArgumentException.class, () -> reader.device(2).ack(0));
        }
    }

    @Test
    void entriesThatAreClaimedButNotReadyAreLeftOut() {
        writeError(0, 1, 1, "half wri");
        assertTrue(ErrorLogReader.read(segment).isEmpty());
    }

    private void writeError(int ready, int code, long count, String text) {
        long at = SegmentLayout.ERRORS_OFFSET;
        segment.set(ValueLayout.JAVA_INT, at + SegmentLayout.offset(SegmentLayout.ERROR, "code"), code);
        segment.set(ValueLayout.JAVA_LONG, at + SegmentLayout.offset(SegmentLayout.ERROR, "count"), count);
        segment.setString(at + SegmentLayout.offset(SegmentLayout.ERROR, "text"), text);
        segment.set(ValueLayout.JAVA_INT, at, ready);
    }

    @Test
    void uuidsAreParsedOnlyWhole() {
        assertEquals(UUID, DeviceUuid.parse(UUID.toString()).orElseThrow());
        for (String wrong : List.of("", "GPU-", "GPU-1-2-3-4-5", UUID.toString().substring(4), UUID + "0")) {
            assertTrue(DeviceUuid.parse(wrong).isEmpty(), wrong);
        }
    }
}
