package io.tessera.software.driver;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Mipmapped arrays: their levels, and textures that choose and blend them. */
@Timeout(180)
class MipmapsTest {
    private static final int FLOAT = 0x20;
    private static final int WIDTH = 8;
    private static final int LEVELS = 4;

    private final Port port = new Port();

    @AfterEach
    void close() {
        port.close();
    }

    private MemorySegment descriptor(long width, long height, long depth) {
        MemorySegment descriptor = port.arena.allocate(40, 8);
        descriptor.set(ValueLayout.JAVA_LONG, 0, width);
        descriptor.set(ValueLayout.JAVA_LONG, 8, height);
        descriptor.set(ValueLayout.JAVA_LONG, 16, depth);
        descriptor.set(ValueLayout.JAVA_INT, 24, FLOAT);
        descriptor.set(ValueLayout.JAVA_INT, 28, 1);
        return descriptor;
    }

    private long level(long mipmap, int number) {
        return port.made(DriverEntry.cuMipmappedArrayGetLevel, mipmap, number);
    }

    /** Fills a level with one number, by CUDA_MEMCPY3D from host memory. */
    private void fill(long array, int width, int height, int depth, float value) {
        float[] values = new float[width * height * depth];
        Arrays.fill(values, value);
        MemorySegment from = port.arena.allocateFrom(ValueLayout.JAVA_FLOAT, values);
        MemorySegment copy = port.arena.allocate(200, 8);
        copy.set(ValueLayout.JAVA_INT, 32, 1);
        copy.set(ValueLayout.JAVA_LONG, 40, from.address());
        copy.set(ValueLayout.JAVA_LONG, 72, 4L * width);
        copy.set(ValueLayout.JAVA_LONG, 80, height);
        copy.set(ValueLayout.JAVA_INT, 88 + 32, 3);
        copy.set(ValueLayout.JAVA_LONG, 88 + 56, array);
        copy.set(ValueLayout.JAVA_LONG, 176, 4L * width);
        copy.set(ValueLayout.JAVA_LONG, 184, height);
        copy.set(ValueLayout.JAVA_LONG, 192, depth);
        port.ok(DriverEntry.cuMemcpy3D_v2, copy);
    }

    /** Level n of an image holds 10 n everywhere. */
    private long filled(int depth) {
        long mipmap = port.made(DriverEntry.cuMipmappedArrayCreate, descriptor(WIDTH, WIDTH, depth), LEVELS);
        for (int i = 0; i < LEVELS; i++) {
            fill(level(mipmap, i), WIDTH >> i, WIDTH >> i, Math.max(1, depth >> i), 10 * i);
        }
        return mipmap;
    }

    private MemorySegment resource(long mipmap) {
        MemorySegment resource = port.arena.allocate(144, 8);
        resource.set(ValueLayout.JAVA_INT, 0, 1);
        resource.set(ValueLayout.JAVA_LONG, 8, mipmap);
        return resource;
    }

    private MemorySegment texture(boolean blended, float bias, float least, float most) {
        MemorySegment texture = port.arena.allocate(104, 8);
        for (int i = 0; i < 3; i++) {
            texture.set(ValueLayout.JAVA_INT, 4L * i, 1);
        }
        texture.set(ValueLayout.JAVA_INT, 16, 2);
        texture.set(ValueLayout.JAVA_INT, 24, blended ? 1 : 0);
        texture.set(ValueLayout.JAVA_FLOAT, 28, bias);
        texture.set(ValueLayout.JAVA_FLOAT, 32, least);
        texture.set(ValueLayout.JAVA_FLOAT, 36, most);
        return texture;
    }

    private float[] read(long mipmap, MemorySegment texture, String kernel, float... details) throws Exception {
        long object = port.made(DriverEntry.cuTexObjectCreate, resource(mipmap), texture, 0);
        long from = port.alloc(4L * details.length);
        long to = port.alloc(4L * details.length);
        port.ok(DriverEntry.cuMemcpyHtoD_v2, from, port.arena.allocateFrom(ValueLayout.JAVA_FLOAT, details),
                4L * details.length);
        String text;
        try (InputStream ptx = MipmapsTest.class.getResourceAsStream("/kernels/textures.ptx")) {
            text = new String(ptx.readAllBytes(), StandardCharsets.UTF_8);
        }
        port.launch(port.function(text, kernel), 1, details.length, 0, object, from, to);
        int[] bits = port.readInts(to, details.length);
        float[] read = new float[bits.length];
        for (int i = 0; i < bits.length; i++) {
            read[i] = Float.intBitsToFloat(bits[i]);
        }
        port.ok(DriverEntry.cuTexObjectDestroy, object);
        return read;
    }

    @Test
    void levelsHalveAndGoWithTheirArray() {
        long mipmap = port.made(DriverEntry.cuMipmappedArrayCreate, descriptor(20, 5, 0), 100);
        MemorySegment told = port.arena.allocate(40, 8);
        long[][] extents = {{20, 5}, {10, 2}, {5, 1}, {2, 1}, {1, 1}};
        for (int i = 0; i < extents.length; i++) {
            port.ok(DriverEntry.cuArray3DGetDescriptor_v2, told, level(mipmap, i));
            assertArrayEquals(extents[i], new long[] {told.get(ValueLayout.JAVA_LONG, 0), told.get(ValueLayout.JAVA_LONG, 8)});
        }
        long finest = level(mipmap, 0);
        assertEquals(finest, level(mipmap, 0), "asked again it is the same");
        port.fails(CudaResult.INVALID_VALUE, DriverEntry.cuMipmappedArrayGetLevel, told, mipmap, extents.length);
        port.fails(CudaResult.INVALID_HANDLE, DriverEntry.cuArrayDestroy, finest);
        port.ok(DriverEntry.cuMipmappedArrayDestroy, mipmap);
        port.fails(CudaResult.INVALID_HANDLE, DriverEntry.cuMipmappedArrayDestroy, mipmap);
        port.fails(CudaResult.INVALID_HANDLE, DriverEntry.cuArray3DGetDescriptor_v2, told, finest);
        port.fails(CudaResult.INVALID_VALUE, DriverEntry.cuMipmappedArrayCreate, told, descriptor(0, 0, 0), 1);
    }

    @Test
    void theNearestLevelIsTakenOrTwoAreBlended() throws Exception {
        long mipmap = filled(0);
        float[] details = {-3, 0, 0.4f, 0.6f, 1.5f, 2.75f, 9};
        assertArrayEquals(new float[] {0, 0, 0, 10, 20, 30, 30}, read(mipmap, texture(false, 0, 0, 9), "levels", details));
        assertArrayEquals(new float[] {0, 0, 4, 6, 15, 27.5f, 30}, read(mipmap, texture(true, 0, 0, 9), "levels", details),
                0.03f, "weights have 8 bits");
        assertArrayEquals(new float[] {10, 10, 14, 16, 20, 20, 20},
                read(mipmap, texture(true, 1, 1, 2), "levels", details), 0.03f, "with a bias and bounds");
    }

    /** Steps of 0.25 of 8 texels are two texels: level 1. */
    @Test
    void stepsOfTheCoordinatesChooseALevel() throws Exception {
        assertArrayEquals(new float[] {0, 0, 10, 20, 15}, read(filled(0), texture(true, 0, 0, 9), "gradients",
                0, 0.125f, 0.25f, 0.5f, 0.3535534f), 0.05f);
    }

    @Test
    void volumesShrinkInAllDimensions() throws Exception {
        assertArrayEquals(new float[] {0, 10, 20, 30}, read(filled(8), texture(false, 0, 0, 9), "volumes", 0, 1, 2, 3));
    }

    @Test
    void onlyNormalizedCoordinatesMeanTheSameAtAllLevels() {
        MemorySegment texture = texture(false, 0, 0, 9);
        texture.set(ValueLayout.JAVA_INT, 16, 0);
        port.fails(CudaResult.INVALID_VALUE, DriverEntry.cuTexObjectCreate, port.arena.allocate(8), resource(filled(0)), texture, 0);
    }
}
