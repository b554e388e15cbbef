package io.tessera.software.driver;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tensor maps, and kernels that copy boxes by them. */
@Timeout(180)
class TensorMapEntriesTest {
    private static final int INT = 3;
    private static final int FLOAT = 7;
    private static final int WIDTH = 24;
    private static final int HEIGHT = 10;
    private static final int BOX_WIDTH = 8;
    private static final int BOX_HEIGHT = 8;
    private static final int ELEMENTS = BOX_WIDTH * BOX_HEIGHT;

    /** Loads a box, shows it as it lies in shared memory, adds 1000 to it, and stores it at another place. */
    private static final String CODE = """
            .version 8.0
            .target sm_90
            .address_size 64
            .visible .entry box(.param .u64 map, .param .u64 out, .param .u32 x, .param .u32 y, .param .u32 tox)
            {
                .reg .pred %p<3>;
                .reg .b32 %r<12>;
                .reg .b64 %d<12>;
                .shared .align 1024 .b8 tile[256];
                .shared .align 8 .b64 bar;
                ld.param.u64 %d1, [map];
                ld.param.u64 %d2, [out];
                ld.param.u32 %r1, [x];
                ld.param.u32 %r2, [y];
                ld.param.u32 %r3, [tox];
                mbarrier.init.shared.b64 [bar], 1;
                mbarrier.arrive.expect_tx.shared.b64 %d3, [bar], 256;
                cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [tile], [%d1, {%r1, %r2}], [bar];
            WAIT:
                mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0;
                @!%p1 bra WAIT;
                mov.u32 %r4, 0;
                mov.u64 %d4, tile;
            NEXT:
                ld.shared.u32 %r5, [%d4];
                st.global.u32 [%d2], %r5;
                add.u32 %r5, %r5, 1000;
                st.shared.u32 [%d4], %r5;
                add.u64 %d2, %d2, 4;
                add.u64 %d4, %d4, 4;
                add.u32 %r4, %r4, 1;
                setp.lt.u32 %p2, %r4, 64;
                @%p2 bra NEXT;
                cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%d1, {%r3, %r2}], [tile];
                cp.async.bulk.commit_group;
                cp.async.bulk.wait_group 0;
                ret;
            }
            """;

    private final Port port = new Port();

    @AfterEach
    void close() {
        port.close();
    }

    /** Arguments of an encoder that can be changed one at a time. */
    private final class Map {
        int type = INT;
        int rank = 2;
        long[] sizes = {WIDTH, HEIGHT};
        long[] strides = {4 * WIDTH};
        int[] box = {BOX_WIDTH, BOX_HEIGHT};
        int[] steps = {1, 1};
        int interleave;
        int swizzle;
        int fill;

        Object[] arguments(MemorySegment to, long address) {
            return new Object[] {to, type, rank, address, longs(sizes), longs(strides), port.ints(box), port.ints(steps),
                    interleave, swizzle, 0, fill};
        }

        MemorySegment encode(long address) {
            MemorySegment map = port.arena.allocate(128, 64);
            port.ok(DriverEntry.cuTensorMapEncodeTiled, arguments(map, address));
            return map;
        }

        void fails(int code) {
            port.fails(code, DriverEntry.cuTensorMapEncodeTiled, arguments(port.arena.allocate(128, 64), 4096));
        }
    }

    private MemorySegment longs(long... values) {
        return port.arena.allocateFrom(ValueLayout.JAVA_LONG, values);
    }

    /** A tensor whose element in row y and column x is 100 y + x. */
    private long tensor() {
        int[] values = new int[WIDTH * HEIGHT];
        for (int i = 0; i < values.length; i++) {
            values[i] = 100 * (i / WIDTH) + i % WIDTH;
        }
        long memory = port.alloc(4L * values.length);
        port.ok(DriverEntry.cuMemcpyHtoD_v2, memory, port.ints(values), 4L * values.length);
        return memory;
    }

    private int[] box(MemorySegment map, int x, int y, int toX) {
        long known = port.alloc(128);
        port.ok(DriverEntry.cuMemcpyHtoD_v2, known, map, 128L);
        long out = port.alloc(4L * ELEMENTS);
        port.launch(port.function(CODE, "box"), 1, 1, 0, known, out, x, y, toX);
        return port.readInts(out, ELEMENTS);
    }

    private static int[] expected(int x, int y) {
        int[] values = new int[ELEMENTS];
        for (int i = 0; i < ELEMENTS; i++) {
            int column = x + i % BOX_WIDTH;
            int row = y + i / BOX_WIDTH;
            boolean inside = column >= 0 && column < WIDTH && row >= 0 && row < HEIGHT;
            values[i] = inside ? 100 * row + column : 0;
        }
        return values;
    }

    @Test
    void boxesAreLoadedAndStored() {
        long tensor = tensor();
        MemorySegment map = new Map().encode(tensor);
        assertArrayEquals(expected(4, 1), box(map, 4, 1, 12));
        int[] after = port.readInts(tensor, WIDTH * HEIGHT);
        assertEquals(100 + 4 + 1000, after[WIDTH + 12]);
        assertEquals(400 + 11 + 1000, after[4 * WIDTH + 19]);
        assertEquals(20 + 100, after[WIDTH + 20], "beside the box nothing changes");
    }

    @Test
    void whatLiesOutsideIsZeroAndStaysAsItIs() {
        long tensor = tensor();
        MemorySegment map = new Map().encode(tensor);
        assertArrayEquals(expected(-3, 4), box(map, -3, 4, 20));
        int[] after = port.readInts(tensor, WIDTH * HEIGHT);
        assertEquals(400 + 1000, after[4 * WIDTH + 20 + 3], "of the first column inside");
        assertEquals(1000, after[4 * WIDTH + 20], "of one outside");
        assertArrayEquals(expected(WIDTH, 0), box(map, WIDTH, 0, WIDTH), "wholly outside");
    }

    /** By CU_TENSOR_MAP_SWIZZLE_32B every other 128 bytes have their halves of 32 bytes exchanged; a store undoes it. */
    @Test
    void swizzledBoxesLieElsewhereInSharedMemoryAlone() {
        Map map = new Map();
        map.swizzle = 1;
        int[] plain = expected(4, 1);
        int[] swizzled = new int[ELEMENTS];
        for (int i = 0; i < ELEMENTS; i++) {
            swizzled[i] = plain[i < ELEMENTS / 2 ? i : i ^ 4];
        }
        long tensor = tensor();
        assertArrayEquals(swizzled, box(map.encode(tensor), 4, 1, 12));
        int[] after = port.readInts(tensor, WIDTH * HEIGHT);
        assertEquals(600 + 4 + 1000, after[6 * WIDTH + 12]);
    }

    @Test
    void aMapMayLeadElsewhere() {
        long first = tensor();
        long second = port.alloc(4L * WIDTH * HEIGHT);
        port.ok(DriverEntry.cuMemsetD32_v2, second, 7, (long) WIDTH * HEIGHT);
        MemorySegment map = new Map().encode(first);
        port.ok(DriverEntry.cuTensorMapReplaceAddress, map, second);
        assertEquals(7, box(map, 0, 0, 8)[5]);
        port.fails(CudaResult.INVALID_VALUE, DriverEntry.cuTensorMapReplaceAddress, port.arena.allocate(128, 64), second);
    }

    @Test
    void argumentsAreCheckedAsCudaSays() {
        Map map = new Map();
        map.rank = 6;
        map.fails(CudaResult.INVALID_VALUE);
        map = new Map();
        map.box = new int[] {BOX_WIDTH, 257};
        map.fails(CudaResult.INVALID_VALUE);
        map.box = new int[] {3, 1};
        map.fails(CudaResult.INVALID_VALUE);
        map = new Map();
        map.strides = new long[] {100};
        map.fails(CudaResult.INVALID_VALUE);
        map = new Map();
        map.steps = new int[] {0, 1};
        map.fails(CudaResult.INVALID_VALUE);
        map = new Map();
        map.fill = 1;
        map.fails(CudaResult.INVALID_VALUE);
        map.type = FLOAT;
        map.encode(4096);
        map.interleave = 1;
        map.fails(CudaResult.NOT_SUPPORTED);
        map = new Map();
        map.type = 13;
        map.fails(CudaResult.NOT_SUPPORTED);
        map = new Map();
        map.swizzle = 1;
        map.box = new int[] {16, 1};
        map.fails(CudaResult.INVALID_VALUE);
    }
}
