package io.tessera.software.kernels;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.tessera.software.fault.FaultKind;
import io.tessera.software.fault.KernelFault;
import io.tessera.software.kernels.TestDevice.Kind;
import io.tessera.software.launch.Dim3;
import io.tessera.software.texture.TextureView.AddressMode;
import io.tessera.software.texture.TextureView.ChannelKind;
import io.tessera.software.texture.TextureView.Sampling;
import io.tessera.software.texture.TextureView;
import java.util.Arrays;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Textures and surfaces through their handles. */
@Timeout(180)
class TextureTest {
    private static final long HANDLE = 77;

    /** First channel of what sampling gives at places of a 4 x 2 image that holds 0, 1, 2, ... */
    private static float[] sampled(Kind kind, Sampling sampling, float... places) {
        try (TestDevice device = new TestDevice(kind, "textures")) {
            float[] image = new float[8];
            for (int i = 0; i < image.length; i++) {
                image[i] = i;
            }
            TextureView view = new TextureView(device.floats(image), 4, 2, 1, 16, 32, 1, 32, ChannelKind.FLOAT,
                    sampling);
            device.processor.useTextures(handle -> handle == HANDLE ? view : null);
            int count = places.length / 2;
            long out = device.zeros(4 * count);
            device.launch("sample", 1, count, HANDLE, device.floats(places), out);
            float[] all = device.floats(out, 4 * count);
            float[] first = new float[count];
            for (int i = 0; i < count; i++) {
                first[i] = all[4 * i];
            }
            return first;
        }
    }

    @ParameterizedTest
    @EnumSource
    void nearestClampsToTheEdge(Kind kind) {
        assertArrayEquals(new float[] {0, 6, 3, 7, 4}, sampled(kind,
                new Sampling(AddressMode.CLAMP, false, false, false), 0.9f, 0.9f, 2, 1, 100, 0, 4, 5, -3, 1.5f));
    }

    @ParameterizedTest
    @EnumSource
    void borderIsZero(Kind kind) {
        assertArrayEquals(new float[] {3, 0, 0}, sampled(kind,
                new Sampling(AddressMode.BORDER, false, false, false), 3.5f, 0.5f, 4, 0, 1, -0.1f));
    }

    @ParameterizedTest
    @EnumSource
    void normalizedCoordinatesWrapAndMirror(Kind kind) {
        assertArrayEquals(new float[] {1, 1, 7}, sampled(kind, new Sampling(AddressMode.WRAP, false, true, false),
                0.3f, 0.1f, 5.3f, -1.9f, -0.1f, 0.9f));
        assertArrayEquals(new float[] {2, 0}, sampled(kind, new Sampling(AddressMode.MIRROR, false, true, false),
                1.3f, 0.1f, -0.1f, -0.1f));
    }

    @ParameterizedTest
    @EnumSource
    void linearFilterBlends(Kind kind) {
        assertArrayEquals(new float[] {0.5f, 2, 4.25f, 0}, sampled(kind,
                new Sampling(AddressMode.CLAMP, true, false, false), 1, 0.5f, 0.5f, 1, 2.75f, 1, 0, 0));
    }

    @ParameterizedTest
    @EnumSource
    void integerFetchOutsideIsZero(Kind kind) {
        try (TestDevice device = new TestDevice(kind, "textures")) {
            TextureView view = new TextureView(device.ints(0x80FF7F01, 0, 0), 4, 1, 1, 4, 4, 1, 8, ChannelKind.SIGNED,
                    new Sampling(AddressMode.CLAMP, false, false, false));
            device.processor.useTextures(handle -> view);
            long out = device.zeros(7);
            device.launch("fetch", 1, 7, HANDLE, out);
            assertArrayEquals(new int[] {0, 0, 1, 127, -1, -128, 0}, device.ints(out, 7));
        }
    }

    @ParameterizedTest
    @EnumSource
    void surfacesAreReadAndWritten(Kind kind) {
        try (TestDevice device = new TestDevice(kind, "textures")) {
            int[] image = new int[20];
            Arrays.setAll(image, i -> i * 1000);
            long address = device.ints(image);
            TextureView view = new TextureView(address, 3, 4, 1, 20, 80, 1, 32, ChannelKind.SIGNED, null);
            device.processor.useTextures(handle -> view);
            device.launch("invert", new Dim3(1, 1, 1), new Dim3(3, 4, 1), 0, HANDLE);
            Arrays.setAll(image, i -> i % 5 < 3 ? ~(i * 1000) : i * 1000);
            assertArrayEquals(image, device.ints(address, 20));
            KernelFault fault = assertThrows(KernelFault.class,
                    () -> device.launch("invert", new Dim3(1, 1, 1), new Dim3(4, 4, 1), 0, HANDLE));
            assertEquals(FaultKind.ILLEGAL_ADDRESS, fault.kind());
        }
    }
}
