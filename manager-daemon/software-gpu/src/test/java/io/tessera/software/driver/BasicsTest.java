package io.tessera.software.driver;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.device.DriverEntry;
import io.tessera.device.DriverPortProvider;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ServiceLoader;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Device, context, module, launch. */
@Timeout(180)
class BasicsTest {
    private final Port port = new Port();

    @AfterEach
    void close() {
        port.close();
    }

    @Test
    void theProviderIsFound() {
        assertTrue(ServiceLoader.load(DriverPortProvider.class).stream()
                .anyMatch(provider -> provider.type() == SoftwareDriverProvider.class));
    }

    @Test
    void theDeviceTellsWhatItIs() {
        assertEquals(1, port.number(DriverEntry.cuDeviceGetCount));
        assertEquals(13000, port.number(DriverEntry.cuDriverGetVersion));
        MemorySegment name = port.arena.allocate(64);
        port.ok(DriverEntry.cuDeviceGetName, name, 64, 0);
        assertEquals("Tessera Software GPU", name.getString(0));
        assertEquals(9, port.number(DriverEntry.cuDeviceGetAttribute, 75, 0));
        assertEquals(32, port.number(DriverEntry.cuDeviceGetAttribute, 10, 0));
        assertEquals(227 << 10, port.number(DriverEntry.cuDeviceGetAttribute, 97, 0));
        assertEquals(0, port.number(DriverEntry.cuDeviceGetAttribute, 83, 0), "managed memory");
        assertEquals(Port.MEMORY_BYTES, port.made(DriverEntry.cuDeviceTotalMem_v2, 0));
        port.fails(1, DriverEntry.cuDeviceGetAttribute, name, 9999, 0);
        port.fails(101, DriverEntry.cuDeviceGetAttribute, name, 10, 1);
    }

    @Test
    void theUuidIsTheSameEveryTime() {
        MemorySegment first = port.arena.allocate(16);
        MemorySegment second = port.arena.allocate(16);
        port.ok(DriverEntry.cuDeviceGetUuid_v2, first, 0);
        try (Port other = new Port()) {
            other.ok(DriverEntry.cuDeviceGetUuid_v2, second, 0);
        }
        assertEquals(-1, first.mismatch(second));
    }

    @Test
    void aKernelRuns() {
        long function = port.function(Kernels.ADD, "add");
        long data = port.alloc(4 * 256);
        port.ok(DriverEntry.cuMemsetD32_v2, data, 5, 256L);
        port.launch(function, 4, 64, 0, data, 10);
        port.ok(DriverEntry.cuCtxSynchronize);
        int[] values = port.readInts(data, 256);
        for (int value : values) {
            assertEquals(15, value);
        }
    }

    @Test
    void packedParametersDoTheSame() {
        long function = port.function(Kernels.ADD, "add");
        long data = port.alloc(4 * 32);
        port.ok(DriverEntry.cuMemsetD32_v2, data, 1, 32L);
        MemorySegment buffer = port.arena.allocate(16, 8);
        buffer.set(ValueLayout.JAVA_LONG, 0, data);
        buffer.set(ValueLayout.JAVA_INT, 8, 2);
        MemorySegment size = port.arena.allocateFrom(ValueLayout.JAVA_LONG, 12);
        MemorySegment extra = port.arena.allocateFrom(ValueLayout.JAVA_LONG, 1, buffer.address(), 2, size.address(), 0);
        port.ok(DriverEntry.cuLaunchKernel, function, 1, 1, 1, 32, 1, 1, 0, 0, 0, extra);
        assertEquals(3, port.readInts(data, 32)[31]);
    }

    @Test
    void launchesAreChecked() {
        long function = port.function(Kernels.STORE, "store");
        MemorySegment parameters = port.parameters(port.alloc(4), 1);
        port.fails(1, DriverEntry.cuLaunchKernel, function, 0, 1, 1, 1, 1, 1, 0, 0, parameters, 0);
        port.fails(1, DriverEntry.cuLaunchKernel, function, 1, 1, 1, 2048, 1, 1, 0, 0, parameters, 0);
        port.fails(1, DriverEntry.cuLaunchKernel, function, 1, 1, 1, 1, 1, 1, 64 << 10, 0, parameters, 0);
        port.fails(1, DriverEntry.cuLaunchKernel, function, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0);
        port.fails(400, DriverEntry.cuLaunchKernel, 1234, 1, 1, 1, 1, 1, 1, 0, 0, parameters, 0);
        port.fails(720, DriverEntry.cuLaunchCooperativeKernel, function, 1 << 20, 1, 1, 1024, 1, 1, 0, 0, parameters);
        port.ok(DriverEntry.cuFuncSetAttribute, function, 8, 100 << 10);
        port.ok(DriverEntry.cuLaunchKernel, function, 1, 1, 1, 1, 1, 1, 64 << 10, 0, parameters, 0);
        port.ok(DriverEntry.cuCtxSynchronize);
    }

    @Test
    void parametersAreTold() {
        long function = port.function(Kernels.ADD, "add");
        MemorySegment offset = port.arena.allocate(8, 8);
        MemorySegment size = port.arena.allocate(8, 8);
        port.ok(DriverEntry.cuFuncGetParamInfo, function, 1L, offset, size);
        assertEquals(8, offset.get(ValueLayout.JAVA_LONG, 0));
        assertEquals(4, size.get(ValueLayout.JAVA_LONG, 0));
        port.fails(1, DriverEntry.cuFuncGetParamInfo, function, 2L, offset, size);
    }

    @Test
    void variablesHaveAddresses() {
        long module = port.made(DriverEntry.cuModuleLoadData, Kernels.VARIABLE);
        MemorySegment size = port.arena.allocate(8, 8);
        long address = port.made(DriverEntry.cuModuleGetGlobal_v2, size, module, "counter");
        assertEquals(12, size.get(ValueLayout.JAVA_LONG, 0));
        port.launch(port.made(DriverEntry.cuModuleGetFunction, module, "bump"), 1, 1, 0);
        assertArrayEquals(new int[] {8, 8, 9}, port.readInts(address, 3));
        port.fails(500, DriverEntry.cuModuleGetGlobal_v2, size, size, module, "other");
        port.fails(500, DriverEntry.cuModuleGetFunction, size, module, "other");
        port.ok(DriverEntry.cuModuleUnload, module);
        port.fails(400, DriverEntry.cuModuleGetFunction, size, module, "bump");
    }

    @Test
    void librariesHaveKernels() {
        long library = port.made(DriverEntry.cuLibraryLoadData, Kernels.STORE, 0, 0, 0, 0, 0, 0);
        assertEquals(1, port.number(DriverEntry.cuLibraryGetKernelCount, library));
        long kernel = port.made(DriverEntry.cuLibraryGetKernel, library, "store");
        long data = port.alloc(4);
        port.launch(kernel, 1, 1, 0, data, 42);
        assertEquals(42, port.readInts(data, 1)[0]);
        long function = port.made(DriverEntry.cuKernelGetFunction, kernel);
        port.launch(function, 1, 1, 0, data, 43);
        assertEquals(43, port.readInts(data, 1)[0]);
        port.ok(DriverEntry.cuLibraryUnload, library);
        port.fails(400, DriverEntry.cuKernelGetFunction, port.arena.allocate(8), kernel);
    }

    @Test
    void whatIsNoImageIsRefusedWithALog() {
        MemorySegment log = port.arena.allocate(256);
        MemorySegment options = port.ints(5, 6);
        MemorySegment values = port.arena.allocateFrom(ValueLayout.JAVA_LONG, log.address(), 256);
        String wrong = Kernels.STORE.replace("st.global", "stx.global");
        port.fails(218, DriverEntry.cuModuleLoadDataEx, port.arena.allocate(8), wrong, 2, options, values);
        assertTrue(log.getString(0).contains("stx"), log.getString(0));
        assertTrue(values.getAtIndex(ValueLayout.JAVA_LONG, 1) > 3);
        port.fails(200, DriverEntry.cuModuleLoadData, port.arena.allocate(8), "nothing of the kind");
    }

    @Test
    void anEntryThatIsLackingSaysSo() {
        port.fails(801, DriverEntry.cuMemAllocManaged, port.arena.allocate(8), 8L, 1);
        assertEquals(1L, ((SoftwareDriver) port.driver()).refusals().get(DriverEntry.cuMemAllocManaged));
    }
}
