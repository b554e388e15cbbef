package io.tessera.executor;

import static io.tessera.executor.client.RelayTestClient.in;
import static io.tessera.executor.client.RelayTestClient.outBytes;
import static io.tessera.executor.client.RelayTestClient.value;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.client.RelayTestClient;
import io.tessera.executor.handle.TensorMaps;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tensor maps by relay: made over memory of the client alone, over all that their sizes and strides reach. */
@Timeout(180)
class TensorMapsOfClientsTest {
    private static final int FLOAT = 7;
    private static final long BYTES = 1 << 20;
    /** 64 by 32 floats in rows of 1 KiB. */
    private static final long[] SIZES = {64, 32};
    private static final long[] STRIDES = {1024};
    private static final long SPAN = 31 * 1024 + 64 * 4;

    @TempDir
    Path folder;
    private RunningExecutor executor;
    private RelayTestClient client;
    private RelayTestClient other;
    private long memory;
    private long others;

    @BeforeEach
    void twoClientsWithMemory() throws Exception {
        executor = new RunningExecutor(folder);
        client = executor.client("a", 0);
        other = executor.client("b", 0);
        memory = allocate(client);
        others = allocate(other);
    }

    @AfterEach
    void end() {
        other.close();
        client.close();
        executor.close();
    }

    private static long allocate(RelayTestClient of) {
        assertEquals(0, of.call(DriverEntry.cuMemAlloc_v2, outBytes(8), value(BYTES)));
        return of.outLong(0);
    }

    private static RelayTestClient.Argument longs(long... values) {
        return in(MemorySegment.ofArray(values).toArray(ValueLayout.JAVA_BYTE));
    }

    private static RelayTestClient.Argument ints(int... values) {
        return in(MemorySegment.ofArray(values).toArray(ValueLayout.JAVA_BYTE));
    }

    /** Encodes a tiled map; the map is in {@link RelayTestClient#out}. */
    private int encode(long address, long rank, long[] sizes, long[] strides) {
        return encode(address, rank, sizes, strides, 0);
    }

    private int encode(long address, long rank, long[] sizes, long[] strides, long interleave) {
        return client.call(DriverEntry.cuTensorMapEncodeTiled, outBytes(TensorMaps.BYTES), value(FLOAT), value(rank),
                value(address), longs(sizes), longs(strides), ints(8, 8, 1), ints(1, 1, 1), value(interleave), value(0), value(0), value(0));
    }

    @Test
    void aMapOverOwnMemoryIsTheDrivers() {
        assertEquals(0, encode(memory, 2, SIZES, STRIDES));
        assertEquals(TensorMaps.BYTES, client.out().length);
        assertEquals(memory, client.outLong(0));
        assertEquals(0, encode(memory + BYTES - SPAN, 2, SIZES, STRIDES), "to the last byte");
    }

    @Test
    void whatReachesBeyondOwnMemoryIsRefused() {
        assertNotEquals(0, encode(others, 2, SIZES, STRIDES), "somebody else's");
        assertNotEquals(0, encode(memory + BYTES - SPAN + 1, 2, SIZES, STRIDES), "over the end");
        assertNotEquals(0, encode(memory - 16, 2, SIZES, STRIDES));
        assertEquals(CudaResult.INVALID_VALUE, encode(memory, 2, new long[] {64, 1L << 40}, STRIDES));
        assertEquals(CudaResult.INVALID_VALUE, encode(memory, 2, SIZES, new long[] {Long.MAX_VALUE}));
        assertEquals(CudaResult.INVALID_VALUE, encode(memory, 6, SIZES, STRIDES));
        assertEquals(CudaResult.INVALID_VALUE, encode(memory, 0, SIZES, STRIDES));
        assertEquals(CudaResult.INVALID_VALUE, encode(memory, 3, SIZES, STRIDES), "fewer sizes than dimensions");
    }

    /** A copy by such a map reads elements behind the sizes: the first size counts slices of 16 or 32 bytes. */
    @Test
    void interleavedMapsAreRefused() {
        long[] sizes = {16, 8, 4};
        long[] strides = {256, 2048};
        assertEquals(0, encode(memory, 3, sizes, strides, 0));
        assertEquals(CudaResult.NOT_SUPPORTED, encode(memory, 3, sizes, strides, 1));
        assertEquals(CudaResult.NOT_SUPPORTED, encode(memory, 3, sizes, strides, 2));
        assertEquals(CudaResult.NOT_SUPPORTED,
                client.call(DriverEntry.cuTensorMapEncodeIm2col, outBytes(TensorMaps.BYTES), value(FLOAT), value(3), value(memory),
                        longs(sizes), longs(strides), ints(0, 0), ints(0, 0), value(4), value(8), ints(1, 1, 1), value(1), value(0), value(0),
                        value(0)));
    }

    private int replace(RelayTestClient of, byte[] map, long address) {
        return of.call(DriverEntry.cuTensorMapReplaceAddress, new RelayTestClient.Data(map, TensorMaps.BYTES), value(address));
    }

    @Test
    void onlyAMapOfOnesOwnGetsAnotherAddressOfOnesOwn() {
        assertEquals(0, encode(memory, 2, SIZES, STRIDES));
        byte[] map = client.out();
        assertEquals(0, replace(client, map, memory + 4096));
        byte[] moved = client.out();
        assertEquals(memory + 4096, client.outLong(0));
        assertEquals(0, replace(client, moved, memory), "what was moved is known, too");
        assertArrayEquals(map, client.out());
        assertNotEquals(0, replace(client, map, others));
        assertNotEquals(0, replace(client, map, memory + BYTES - SPAN + 1), "it reaches as far as before");
        byte[] forged = map.clone();
        forged[100] ^= 1;
        assertEquals(CudaResult.INVALID_VALUE, replace(client, forged, memory));
        assertEquals(CudaResult.INVALID_VALUE, replace(other, map, others), "made for somebody else");
    }
}
