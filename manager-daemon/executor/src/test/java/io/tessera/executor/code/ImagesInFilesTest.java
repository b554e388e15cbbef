package io.tessera.executor.code;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.RunningExecutor;
import io.tessera.executor.client.RelayTestClient;
import io.tessera.os.FilePort;
import io.tessera.os.SharedMemoryPort;
import io.tessera.os.linux.Linux;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Images that clients have in files: handed over, read once, shared; and everything that a client may do wrong there. */
@Timeout(180)
class ImagesInFilesTest {
    private static final int HEAD = 16;
    private static final int AT = 4096;

    @TempDir
    Path folder;

    /** A fat binary with code for linking, of one byte over and over: it can be loaded and not fenced. */
    private static byte[] fatBinary(int fill) {
        int content = 1 << 16;
        ByteBuffer image = ByteBuffer.allocate(HEAD + 64 + content).order(ByteOrder.LITTLE_ENDIAN);
        image.putInt(0, 0xBA55ED50).putShort(4, (short) 1).putShort(6, (short) HEAD).putLong(8, 64L + content);
        image.putShort(HEAD, (short) 8).putInt(HEAD + 4, 64).putLong(HEAD + 8, content).putInt(HEAD + 28, 90);
        byte[] bytes = image.array();
        Arrays.fill(bytes, HEAD + 64, bytes.length, (byte) fill);
        return bytes;
    }

    /** A file that holds an image at {@link #AT}; older than the store asks for, which is the kernel's time and not ours. */
    private Path file(byte[] image) throws Exception {
        byte[] content = new byte[AT + image.length + 10];
        System.arraycopy(image, 0, content, AT, image.length);
        Path file = folder.resolve("library.so");
        Files.write(file, content);
        return file;
    }

    private static long offered(RelayTestClient client, Path file, long offset, long bytes) throws Exception {
        FilePort files = Linux.open().files();
        int descriptor = files.open(file, FilePort.Open.READ, 0);
        try {
            var taken = client.offer(descriptor, offset, bytes);
            assertEquals(0, taken.result());
            return taken.number();
        } finally {
            files.close(descriptor);
        }
    }

    private static byte[] loaded(RunningExecutor executor, int bytes) {
        return MemorySegment.ofAddress(executor.driver.library[0]).reinterpret(bytes).toArray(ValueLayout.JAVA_BYTE);
    }

    @Test
    void theDriverGetsWhatTheFileHoldsAndMayKeepIt() throws Exception {
        byte[] image = fatBinary(7);
        Path file = file(image);
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0)) {
            assertEquals(0, client.loadOffered(offered(client, file, AT, image.length)));
            long library = client.outLong(0);
            assertArrayEquals(image, loaded(executor, image.length));
            assertEquals(1, executor.driver.library[1], "the driver is told that it stays");
            byte[] other = fatBinary(8);
            Files.write(file, other); // what was loaded is a copy
            assertArrayEquals(image, loaded(executor, image.length));
            assertEquals(0, client.call(DriverEntry.cuLibraryUnload, RelayTestClient.value(library)));
            assertEquals(0, executor.driver.alive("library"));
        }
    }

    @Test
    void twoClientsShareOneCopyAndAChangedFileIsAnotherImage() throws Exception {
        byte[] image = fatBinary(1);
        Path file = file(image);
        // The store trusts times of files that have settled: two seconds.
        Instant written = ((FileTime) Files.getAttribute(file, "unix:ctime")).toInstant();
        while (Instant.now().isBefore(written.plusMillis(2100))) {
            Thread.sleep(20);
        }
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient one = executor.client("a", 0);
                RelayTestClient two = executor.client("b", 0)) {
            assertEquals(0, one.loadOffered(offered(one, file, AT, image.length)));
            long address = executor.driver.library[0];
            assertEquals(0, two.loadOffered(offered(two, file, AT, image.length)));
            assertEquals(address, executor.driver.library[0]);
            byte[] changed = fatBinary(2);
            file(changed);
            assertEquals(0, two.loadOffered(offered(two, file, AT, changed.length)));
            assertNotEquals(address, executor.driver.library[0]);
            assertArrayEquals(changed, loaded(executor, changed.length));
            file(fatBinary(3)); // written again before the clock moved, so that only its content tells
            assertEquals(0, two.loadOffered(offered(two, file, AT, changed.length)));
            assertArrayEquals(fatBinary(3), loaded(executor, changed.length));
        }
    }

    @Test
    void whatIsNoImageIsRefusedAndHarmsNobody() throws Exception {
        byte[] image = fatBinary(1);
        Path file = file(image);
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0)) {
            assertEquals(CudaResult.FILE_NOT_FOUND, client.loadOffered(offered(client, file, AT, 1 << 30)), "beyond the file");
            assertEquals(CudaResult.FILE_NOT_FOUND, client.loadOffered(offered(client, file, -1, 10)));
            assertEquals(CudaResult.FILE_NOT_FOUND, client.loadOffered(offered(client, file, AT, Long.MAX_VALUE)));
            assertEquals(CudaResult.FILE_NOT_FOUND, client.loadOffered(offered(client, file, AT, 0)));
            assertEquals(CudaResult.INVALID_IMAGE, client.loadOffered(offered(client, file, AT, image.length - 1)), "not whole");
            assertEquals(CudaResult.INVALID_IMAGE, client.loadOffered(offered(client, file, 0, AT)), "none");
            assertEquals(CudaResult.INVALID_VALUE, client.loadOffered(12345), "never offered");
            long once = offered(client, file, AT, image.length);
            assertEquals(0, client.loadOffered(once));
            assertEquals(CudaResult.INVALID_VALUE, client.loadOffered(once), "good for one call");
            SharedMemoryPort.Pipe pipe = Linux.sharedMemory().pipe();
            assertEquals(CudaResult.FILE_NOT_FOUND, client.loadOffered(client.offer(pipe.readEnd(), 0, 10).number()));
            Linux.sharedMemory().close(pipe.readEnd());
            Linux.sharedMemory().close(pipe.writeEnd());
            assertEquals(CudaResult.OUT_OF_MEMORY, client.offer(-1, 0, 10).result(), "without a file");
            assertEquals(1, executor.driver.alive("library"));
        }
    }

    /** A sparse file costs its owner nothing, and must not cost the executor its memory. */
    @Test
    void whatIsLongerThanAnImageCanBeIsNotRead() throws Exception {
        Path file = folder.resolve("sparse");
        try (var channel = java.nio.channels.FileChannel.open(file, java.nio.file.StandardOpenOption.CREATE,
                java.nio.file.StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.wrap(new byte[1]), 1L << 40);
        }
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0)) {
            assertEquals(CudaResult.FILE_NOT_FOUND, client.loadOffered(offered(client, file, 0, 1L << 40)));
            assertEquals(CudaResult.FILE_NOT_FOUND, client.loadOffered(offered(client, file, 0, 1L << 31)));
            client.synchronise(0, 5, 2);
        }
    }

    @Test
    void aClientThatOffersWithoutEndIsStopped() throws Exception {
        Path file = file(fatBinary(1));
        FilePort files = Linux.open().files();
        int descriptor = files.open(file, FilePort.Open.READ, 0);
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0)) {
            int taken = 0;
            while (client.offer(descriptor, AT, 10).result() == 0) {
                taken++;
            }
            assertEquals(32, taken);
            int open = Files.list(Path.of("/proc/self/fd")).toList().size();
            client.disconnect();
            RelayTestClient.await(() -> {
                try (var now = Files.list(Path.of("/proc/self/fd"))) {
                    return now.count() <= open - 25; // others may open some meanwhile
                } catch (java.io.IOException e) {
                    throw new java.io.UncheckedIOException(e);
                }
            }, "its files are closed");
        } finally {
            files.close(descriptor);
        }
    }
}
