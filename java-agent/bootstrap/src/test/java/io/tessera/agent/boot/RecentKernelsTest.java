package io.tessera.agent.boot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Kernels' objects that were launched lately: found by identity, never for another kernel, and not held. */
@Timeout(180)
class RecentKernelsTest {
    /** As JCuda's objects of kernels: the driver writes the handle. */
    static final class Kernel {
        private long nativePointer;

        Kernel(long nativePointer) {
            this.nativePointer = nativePointer;
        }
    }

    private final RecentKernels recent = new RecentKernels();

    @Test
    void anObjectIsFoundUntilSomethingIsNamed() {
        Kernel kernel = new Kernel(1);
        Launches launches = new Launches(1, "one");
        assertNull(recent.of(kernel));
        recent.keep(kernel, launches, recent.namings());
        assertSame(launches, recent.of(kernel));
        assertNull(recent.of(new Kernel(1)), "an equal one is another");
        recent.named();
        assertNull(recent.of(kernel));
    }

    @Test
    void whatWasLookedUpBeforeANamingIsNotKept() {
        Kernel kernel = new Kernel(1);
        int before = recent.namings();
        recent.named();
        recent.keep(kernel, new Launches(1, "old"), before);
        assertNull(recent.of(kernel));
        Launches fresh = new Launches(1, "new");
        recent.keep(kernel, fresh, recent.namings());
        assertSame(fresh, recent.of(kernel), "what is out of date makes room");
    }

    @Test
    void aSlotInUseStaysAsItIs() {
        List<Kernel> kernels = new ArrayList<>();
        for (int i = 0; i < 2000; i++) {
            Kernel kernel = new Kernel(i);
            kernels.add(kernel);
            recent.keep(kernel, new Launches(i, "kernel " + i), recent.namings());
        }
        int kept = 0;
        for (Kernel kernel : kernels) {
            Launches found = recent.of(kernel);
            assertTrue(found == null || found.handle == kernel.nativePointer);
            kept += found == null ? 0 : 1;
        }
        assertTrue(kept > 100 && kept <= 256, kept + " of 2000 kept");
    }

    @Test
    void objectsAreNotHeld() throws InterruptedException {
        Kernel kernel = new Kernel(1);
        recent.keep(kernel, new Launches(1, "one"), recent.namings());
        WeakReference<Kernel> held = new WeakReference<>(kernel);
        kernel = null;
        while (held.get() != null) {
            System.gc();
            Thread.sleep(1);
        }
    }

    @Test
    void countsGoToTheKernelThatTheObjectStandsFor() {
        Addresses.define(Kernel.class.getName(), "nativePointer", null, true);
        Recorder.mode("on");
        Kernel kernel = new Kernel(0x71000);
        Recorder.named(kernel, "first", 0);
        launch(kernel, 3);
        kernel.nativePointer = 0x72000;
        Recorder.named(kernel, "second", 0);
        launch(kernel, 5);
        Recorder.named(new Kernel(0x72000), "third", 0); // another module took the place
        launch(kernel, 7);
        long[] cell = {0x71000};
        launch(cell, 1);
        cell[0] = 0x72000;
        launch(cell, 1);
        assertEquals(List.of(4L, 5L, 8L), List.of(count("first"), count("second"), count("third")));
    }

    private static void launch(Object kernel, int times) {
        for (int i = 0; i < times; i++) {
            Recorder.launched(kernel, 0);
        }
    }

    private static long count(String name) {
        return Recorder.LAUNCHES.all().stream().filter(launches -> launches.name.equals(name))
                .mapToLong(launches -> launches.count.sum()).sum();
    }
}
