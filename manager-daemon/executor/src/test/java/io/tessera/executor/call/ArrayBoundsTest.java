package io.tessera.executor.call;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.device.DriverPort;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.handle.ClientHandles;
import io.tessera.executor.stream.MoveTime;
import io.tessera.protocol.WireTypes;
import io.tessera.testing.driver.CallInjector;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Boxes of arrays at the borders of their numbers. */
class ArrayBoundsTest {
    private static final long ARRAY = 0x77;
    private static final int FLOAT = 0x20;
    private static final int COMPRESSED = 0x96;

    /** One array that the driver knows. */
    private record Shapes(long width, long height, long depth, int format, int channels) implements CallInjector {
        @Override
        public int call(DriverEntry entry, MemorySegment slots, DriverPort driver) {
            if (entry != DriverEntry.cuArray3DGetDescriptor_v2) {
                return driver.call(entry, slots);
            }
            if (slots.getAtIndex(WireTypes.U64, 1) != ARRAY) {
                return CudaResult.INVALID_HANDLE;
            }
            MemorySegment shape = MemorySegment.ofAddress(slots.get(WireTypes.U64, 0)).reinterpret(40);
            shape.copyFrom(MemorySegment.ofArray(new long[] {width, height, depth, (long) channels << 32 | format, 0}));
            return CudaResult.SUCCESS;
        }
    }

    private static void box(Shapes shapes, long... numbers) throws RejectedException {
        try (Arena arena = Arena.ofConfined()) {
            new ArrayBounds(new DriverCalls(shapes.port(), arena), new ClientHandles(0).deferredReleases(),
                    new MovedBytes(MoveTime.ofSoftware(), _ -> false))
                    .box(ARRAY, numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]);
        }
    }

    private static void refused(Shapes shapes, long... numbers) {
        RejectedException refusal = assertThrows(RejectedException.class, () -> box(shapes, numbers),
                () -> LongStream.of(numbers).boxed().toList().toString());
        assertEquals(CudaResult.INVALID_VALUE, refusal.result());
    }

    @Test
    void whatLiesInsideIsLet() throws RejectedException {
        Shapes shapes = new Shapes(16, 8, 4, FLOAT, 2);
        box(shapes, 0, 0, 0, 128, 8, 4);
        box(shapes, 127, 7, 3, 1, 1, 1);
        box(shapes, 128, 8, 4, 0, 0, 0);
        box(new Shapes(16, 0, 0, FLOAT, 2), 64, 0, 0, 64, 1, 1);
        box(new Shapes(16, 16, 0, COMPRESSED, 4), 0, 0, 0, 64, 4, 1);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 8, 128, 1L << 31, 1L << 32, (1L << 63) - 8, Long.MAX_VALUE, Long.MIN_VALUE, -128, -8, -4, -1})
    void whatBeginsOrReachesBeyondIsRefused(long number) {
        Shapes shapes = new Shapes(16, 8, 4, FLOAT, 2);
        for (int i = 0; i < 6; i++) {
            long[] numbers = {0, 0, 0, 128, 8, 4};
            numbers[i] = number < 0 ? number : numbers[i] + number;
            refused(shapes, numbers);
        }
    }

    @Test
    void anArrayThatTheDriverDoesNotKnowIsRefused() {
        try (Arena arena = Arena.ofConfined()) {
            ArrayBounds bounds = new ArrayBounds(new DriverCalls(new Shapes(1, 1, 1, FLOAT, 1).port(), arena),
                    new ClientHandles(0).deferredReleases(),
                    new MovedBytes(MoveTime.ofSoftware(), _ -> false));
            RejectedException refusal = assertThrows(RejectedException.class, () -> bounds.box(ARRAY + 1, 0, 0, 0, 1, 1, 1));
            assertEquals(CudaResult.INVALID_HANDLE, refusal.result());
        }
    }
}
