package io.tessera.executor.code;

import static io.tessera.executor.client.RelayTestClient.in;
import static io.tessera.executor.client.RelayTestClient.outBytes;
import static io.tessera.executor.client.RelayTestClient.text;
import static io.tessera.executor.client.RelayTestClient.value;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.device.DriverEntry;
import io.tessera.executor.RunningExecutor;
import io.tessera.executor.client.RelayTestClient;
import io.tessera.executor.fence.hang.FenceSettings;
import io.tessera.executor.worker.HostileCode;
import io.tessera.protocol.FenceChoice;
import io.tessera.protocol.UnfencedPolicy;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A client's code that takes more than there is, while another client loads and unloads its own. */
@Timeout(300)
class HostileCodeTest {
    private static final int WRAPPER = 0x466243b1;
    private static final FenceSettings SETTINGS = new FenceSettings(FenceChoice.MASK, UnfencedPolicy.REFUSE, true, 0, 0);

    @TempDir
    Path folder;

    private static int load(RelayTestClient client, byte[] image) {
        return client.call(DriverEntry.cuModuleLoadDataEx, outBytes(8), in(image), value(0), value(0), value(0));
    }

    /** A fat binary's contents are read when something of it is asked for. */
    private static int kernel(RelayTestClient client, byte[] image) {
        assertEquals(0, load(client, image));
        return client.call(DriverEntry.cuModuleGetFunction, outBytes(8), value(client.outLong(0)), text("work"));
    }

    /** Loads, looks up the kernel and unloads, until it is told to end. Returns the number of rounds. */
    private static int rounds(RelayTestClient client, AtomicBoolean over) {
        int rounds = 0;
        do {
            assertEquals(0, load(client, HostileCode.ordinary("mine" + rounds % 7)));
            long module = client.outLong(0);
            assertEquals(0, client.call(DriverEntry.cuModuleGetFunction, outBytes(8), value(module), text("mine" + rounds % 7)));
            assertEquals(0, client.call(DriverEntry.cuModuleUnload, value(module)));
            rounds++;
        } while (!over.get());
        return rounds;
    }

    @Test
    void anotherClientGoesOnWithoutAnError() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient hostile = executor.client("hostile", 0, SETTINGS);
                RelayTestClient neighbour = executor.client("neighbour", 0, SETTINGS)) {
            AtomicBoolean over = new AtomicBoolean();
            AtomicInteger rounds = new AtomicInteger();
            Thread other = Thread.ofPlatform().start(() -> rounds.set(rounds(neighbour, over)));
            try {
                load(hostile, HostileCode.largeParameter());
                load(hostile, HostileCode.manyRegisters());
                assertEquals(218, kernel(hostile, HostileCode.packed(HostileCode.nestedBlocks(200_000))));
                assertEquals(200, kernel(hostile, HostileCode.zipBomb(1L << 30)));
                assertEquals(2, kernel(hostile, HostileCode.zipBomb(200L << 20)), "more than a worker has");
                assertTrue(hostile.segment().notices().contains("TESSERA_WORKER_MEMORY"), hostile.segment().notices());
            } finally {
                over.set(true);
                other.join();
            }
            assertTrue(rounds.get() > 0, "the neighbour has failed");
            assertEquals(0, load(hostile, HostileCode.ordinary("work")), "a client that asks for something else gets it");
        }
    }

    @Test
    void aWrapperWhoseImagesAreOneAndTheSameIsNone() throws Exception {
        byte[] image = HostileCode.zipBomb(1 << 20);
        int count = 4_096;
        ByteBuffer wrapper = ByteBuffer.allocate(16 + count * Long.BYTES + (image.length + 7 & -8)).order(ByteOrder.LITTLE_ENDIAN);
        wrapper.putInt(WRAPPER).putInt(2).putLong(count);
        for (int i = 0; i < count; i++) {
            wrapper.putLong(16 + (long) count * Long.BYTES);
        }
        wrapper.put(image);
        try (RunningExecutor executor = new RunningExecutor(folder); RelayTestClient client = executor.client("a", 0, SETTINGS)) {
            assertEquals(200, load(client, wrapper.array()));
        }
    }
}
