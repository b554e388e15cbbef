package io.tessera.executor.fence;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.device.DriverPort;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.testing.driver.CallInjector;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A program's settings of its kernels hold for the codes that run in their place. */
class KernelAttributesTest {
    private static final int STATIC_BYTES = 1;
    private static final int DYNAMIC_BYTES = 8;
    private static final int CARVE_OUT = 9;
    private static final long KERNEL = 1;
    private static final long OTHER = 2;

    /** Attributes of functions and kernels; an attribute that was not set has its default, except one that cannot be queried. */
    private static final class Attributes implements CallInjector {
        private static final int UNKNOWN = 15;
        private final Map<List<Long>, Integer> values = new HashMap<>();
        private final List<String> set = new ArrayList<>();
        private boolean unloaded;

        private static int initial(long attribute) {
            return attribute == CARVE_OUT ? -1 : 0;
        }

        @Override
        public int call(DriverEntry entry, MemorySegment slots, DriverPort device) {
            long first = slots.getAtIndex(ValueLayout.JAVA_LONG, 0);
            long second = slots.getAtIndex(ValueLayout.JAVA_LONG, 1);
            long third = slots.getAtIndex(ValueLayout.JAVA_LONG, 2);
            if (entry == DriverEntry.cuFuncSetAttribute) {
                values.put(List.of(first, second), (int) third);
                set.add(second + "=" + third);
                return CudaResult.SUCCESS;
            }
            if (entry == DriverEntry.cuKernelSetAttribute) {
                values.put(List.of(third, first), (int) second);
                set.add(first + "=" + second);
                return CudaResult.SUCCESS;
            }
            if (entry == DriverEntry.cuFuncLoad) {
                unloaded = false;
                return CudaResult.SUCCESS;
            }
            if (entry != DriverEntry.cuFuncGetAttribute && entry != DriverEntry.cuKernelGetAttribute) {
                return device.call(entry, slots);
            }
            if (second == UNKNOWN) {
                return 1;
            }
            if (unloaded && second == DYNAMIC_BYTES) {
                return CudaResult.FUNCTION_NOT_LOADED;
            }
            MemorySegment.ofAddress(first).reinterpret(Integer.BYTES).set(ValueLayout.JAVA_INT, 0,
                    values.getOrDefault(List.of(third, second), initial(second)));
            return CudaResult.SUCCESS;
        }
    }

    private final Attributes driver = new Attributes();

    private void copy() {
        try (Arena arena = Arena.ofConfined()) {
            new KernelAttributes(new DriverCalls(driver.port(), arena), 0).copy(KERNEL, true, OTHER);
        }
    }

    private void program(int attribute, int value) {
        driver.values.put(List.of(KERNEL, (long) attribute), value);
        copy();
    }

    private int other(int attribute) {
        return driver.values.getOrDefault(List.of(OTHER, (long) attribute), Attributes.initial(attribute));
    }

    @Test
    void whatIsSetHolds() {
        program(DYNAMIC_BYTES, 52_224);
        program(CARVE_OUT, 100);
        assertEquals(52_224, other(DYNAMIC_BYTES));
        assertEquals(100, other(CARVE_OUT));
    }

    @Test
    void whatIsSetBackHoldsToo() {
        program(DYNAMIC_BYTES, 52_224);
        program(DYNAMIC_BYTES, 0);
        program(CARVE_OUT, 100);
        program(CARVE_OUT, -1);
        assertEquals(0, other(DYNAMIC_BYTES));
        assertEquals(-1, other(CARVE_OUT));
    }

    @Test
    void whatTheDriverTellsOfLoadedFunctionsAloneIsAskedOfALoadedOne() {
        driver.unloaded = true;
        driver.values.put(List.of(OTHER, (long) DYNAMIC_BYTES), 4096);
        try (Arena arena = Arena.ofConfined()) {
            assertEquals(4096, new KernelAttributes(new DriverCalls(driver.port(), arena), 0).get(OTHER, false, DYNAMIC_BYTES));
        }
    }

    @Test
    void whatIsEqualIsNotSet() {
        copy();
        program(CARVE_OUT, 50);
        copy();
        assertEquals(List.of("9=50"), driver.set);
    }

    private void add(boolean kernel) {
        try (Arena arena = Arena.ofConfined()) {
            new KernelAttributes(new DriverCalls(driver.port(), arena), 0).addDynamicShared(OTHER, kernel, 16);
        }
    }

    /** Once, and not where the program has said how much. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void launchesMayHaveSomewhatMore(boolean kernel) {
        driver.values.put(List.of(OTHER, (long) STATIC_BYTES), 1024);
        add(kernel);
        assertEquals(0, other(DYNAMIC_BYTES), "it has not what kernels have by themselves");
        driver.values.put(List.of(OTHER, (long) DYNAMIC_BYTES), 47 << 10);
        add(kernel);
        add(kernel);
        assertEquals((47 << 10) + 16, other(DYNAMIC_BYTES));
        assertEquals(1, driver.set.size());
    }
}
