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

/** Texture and surface references, as programs before CUDA 12 have them: variables of a module that the host binds. */
@Timeout(180)
class TextureReferencesTest {
    private static final int SIGNED_32 = 10;
    private static final int OVERRIDE_FORMAT = 1;
    private static final int READ_AS_INTEGER = 1;
    private static final int SURFACE = 2;
    private static final int WRAP = 0;

    private static final String CODE = Kernels.HEADER + """
            .visible .global .texref line;
            .visible .global .surfref plane;
            .visible .global .align 4 .u32 number = 7;
            .visible .entry read(.param .u64 target)
            {
                .reg .b32 %r<8>;
                .reg .b64 %rd<4>;
                ld.param.u64 %rd1, [target];
                mov.u32 %r1, %tid.x;
                tex.1d.v4.s32.s32 {%r2, %r3, %r4, %r5}, [line, {%r1, %r1, %r1, %r1}]; // as text of PTX ISA 2 has it
                mul.wide.u32 %rd2, %r1, 4;
                add.s64 %rd3, %rd1, %rd2;
                st.global.u32 [%rd3], %r2;
                ret;
            }
            .visible .entry invert()
            {
                .reg .b32 %r<4>;
                mov.u32 %r1, %tid.x;
                shl.b32 %r1, %r1, 2;
                suld.b.1d.b32.trap {%r2}, [plane, {%r1}];
                not.b32 %r2, %r2;
                sust.b.1d.b32.trap [plane, {%r1}], {%r2};
                ret;
            }
            """;

    private final Port port = new Port();

    @AfterEach
    void close() {
        port.close();
    }

    private long module() {
        return port.made(DriverEntry.cuModuleLoadData, port.arena.allocateFrom(CODE));
    }

    private MemorySegment name(String name) {
        return port.arena.allocateFrom(name);
    }

    private long array(int width, int flags) {
        MemorySegment descriptor = port.arena.allocate(40, 8);
        descriptor.set(ValueLayout.JAVA_LONG, 0, width);
        descriptor.set(ValueLayout.JAVA_INT, 24, SIGNED_32);
        descriptor.set(ValueLayout.JAVA_INT, 28, 1);
        descriptor.set(ValueLayout.JAVA_INT, 32, flags);
        return port.made(DriverEntry.cuArray3DCreate_v2, descriptor);
    }

    private long filled(int flags, int... values) {
        long array = array(values.length, flags);
        port.ok(DriverEntry.cuMemcpyHtoA_v2, array, 0L, port.ints(values), 4L * values.length);
        return array;
    }

    private int[] read(long module, int count) {
        long data = port.alloc(4L * count);
        port.launch(port.made(DriverEntry.cuModuleGetFunction, module, name("read")), 1, count, 0, data);
        return port.readInts(data, count);
    }

    @Test
    void aKernelReadsWhatItsReferenceStandsFor() {
        long module = module();
        long reference = port.made(DriverEntry.cuModuleGetTexRef, module, name("line"));
        assertEquals(reference, port.made(DriverEntry.cuModuleGetTexRef, module, name("line")), "it is one");
        port.ok(DriverEntry.cuTexRefSetFlags, reference, READ_AS_INTEGER);
        long array = filled(0, 10, -20, 30);
        port.ok(DriverEntry.cuTexRefSetArray, reference, array, OVERRIDE_FORMAT);
        assertArrayEquals(new int[] {10, -20, 30, 0}, read(module, 4));
        assertEquals(array, port.made(DriverEntry.cuTexRefGetArray, reference));

        long memory = port.alloc(16);
        port.ok(DriverEntry.cuMemcpyHtoD_v2, memory, port.ints(5, 6, 7, 8), 16L);
        port.ok(DriverEntry.cuTexRefSetFormat, reference, SIGNED_32, 1);
        port.ok(DriverEntry.cuTexRefSetAddress_v2, port.arena.allocate(8), reference, memory, 16L);
        assertArrayEquals(new int[] {5, 6, 7, 8}, read(module, 4), "linear memory in its place");
        assertEquals(memory, port.made(DriverEntry.cuTexRefGetAddress_v2, reference));
        port.fails(CudaResult.INVALID_VALUE, DriverEntry.cuTexRefGetArray, port.arena.allocate(8), reference);
    }

    /** A program that forgets to bind one, or unloads what it bound, loses no context. */
    @Test
    void aReferenceThatStandsForNothingReadsZerosAndTakesNoWrites() {
        long module = module();
        assertArrayEquals(new int[4], read(module, 4));
        port.launch(port.made(DriverEntry.cuModuleGetFunction, module, name("invert")), 1, 3, 0);
        port.ok(DriverEntry.cuCtxSynchronize);
        port.made(DriverEntry.cuModuleGetTexRef, module, name("line"));
        assertArrayEquals(new int[4], read(module, 4), "asked for and not bound");
    }

    @Test
    void settingsAreKept() {
        long reference = port.made(DriverEntry.cuModuleGetTexRef, module(), name("line"));
        port.ok(DriverEntry.cuTexRefSetAddressMode, reference, 0, WRAP);
        port.ok(DriverEntry.cuTexRefSetFilterMode, reference, 1);
        port.ok(DriverEntry.cuTexRefSetFlags, reference, 2);
        assertEquals(WRAP, port.number(DriverEntry.cuTexRefGetAddressMode, reference, 0));
        assertEquals(1, port.number(DriverEntry.cuTexRefGetAddressMode, reference, 1), "clamped unless said otherwise");
        assertEquals(1, port.number(DriverEntry.cuTexRefGetFilterMode, reference));
        assertEquals(2, port.number(DriverEntry.cuTexRefGetFlags, reference));
        port.fails(CudaResult.INVALID_VALUE, DriverEntry.cuTexRefSetAddressMode, reference, 3, WRAP);
        port.fails(CudaResult.INVALID_VALUE, DriverEntry.cuTexRefSetFilterMode, reference, 2);
    }

    @Test
    void aSurfaceReferenceIsReadAndWritten() {
        long module = module();
        long reference = port.made(DriverEntry.cuModuleGetSurfRef, module, name("plane"));
        port.fails(CudaResult.INVALID_VALUE, DriverEntry.cuSurfRefSetArray, reference, filled(0, 1, 2), 0);
        long array = filled(SURFACE, 1, -1, 255);
        port.ok(DriverEntry.cuSurfRefSetArray, reference, array, 0);
        port.launch(port.made(DriverEntry.cuModuleGetFunction, module, name("invert")), 1, 3, 0);
        port.ok(DriverEntry.cuCtxSynchronize);
        MemorySegment told = port.arena.allocate(12, 4);
        port.ok(DriverEntry.cuMemcpyAtoH_v2, told, array, 0L, 12L);
        assertArrayEquals(new int[] {~1, 0, ~255}, told.toArray(ValueLayout.JAVA_INT));
    }

    @Test
    void referencesAreNoVariablesAndOfOneKind() {
        long module = module();
        MemorySegment out = port.arena.allocate(16, 8);
        port.fails(CudaResult.NOT_FOUND, DriverEntry.cuModuleGetTexRef, out, module, name("plane"));
        port.fails(CudaResult.NOT_FOUND, DriverEntry.cuModuleGetSurfRef, out, module, name("line"));
        port.fails(CudaResult.NOT_FOUND, DriverEntry.cuModuleGetTexRef, out, module, name("number"));
        port.fails(CudaResult.NOT_FOUND, DriverEntry.cuModuleGetGlobal_v2, out, out.asSlice(8), module, name("line"));
        long reference = port.made(DriverEntry.cuModuleGetTexRef, module, name("line"));
        port.fails(CudaResult.INVALID_HANDLE, DriverEntry.cuSurfRefSetArray, reference, filled(SURFACE, 1), 0);
        port.ok(DriverEntry.cuModuleUnload, module);
        port.fails(CudaResult.INVALID_HANDLE, DriverEntry.cuTexRefSetFlags, reference, 0);
    }
}
