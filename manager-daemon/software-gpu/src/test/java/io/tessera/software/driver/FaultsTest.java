package io.tessera.software.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tessera.device.DriverEntry;
import io.tessera.software.driver.abi.StructLayouts.KernelNode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A kernel that does what it may not loses its context, for ever, and no other. */
@Timeout(180)
class FaultsTest {
    private final Port port = new Port();

    @AfterEach
    void close() {
        port.close();
    }

    private void isLost(int code) {
        MemorySegment out = port.arena.allocate(8, 8);
        port.fails(code, DriverEntry.cuCtxSynchronize);
        port.fails(code, DriverEntry.cuMemAlloc_v2, out, 8L);
        port.fails(code, DriverEntry.cuStreamCreate, out, 1);
        port.fails(code, DriverEntry.cuStreamSynchronize, 0);
        port.fails(code, DriverEntry.cuStreamQuery, 0);
        port.ok(DriverEntry.cuDeviceGetCount, out);
    }

    @Test
    void anIllegalAddress() {
        port.launch(port.function(Kernels.STORE, "store"), 1, 1, 0, 0x1000, 1);
        isLost(700);
    }

    @Test
    void memoryThatWasFreed() {
        long function = port.function(Kernels.STORE, "store");
        long data = port.alloc(4 << 20);
        port.ok(DriverEntry.cuMemFree_v2, data);
        // Its beginning may serve the launch itself again.
        port.launch(function, 1, 1, 0, data + (3 << 20), 1);
        isLost(700);
    }

    @Test
    void aMisalignedAddress() {
        port.launch(port.function(Kernels.STORE, "store"), 1, 1, 0, port.alloc(8) + 2, 1);
        isLost(716);
    }

    @Test
    void aTrap() {
        port.launch(port.function(Kernels.TRAP, "stop"), 1, 1, 0);
        isLost(719);
    }

    /** A kernel that cannot run is refused by the launch: an error of a queued kernel would affect every client. */
    @Test
    void aLaunchThatCannotRunIsNoFault() {
        long large = port.function(Kernels.HEADER + """
                .visible .entry large()
                {
                    .shared .align 4 .b8 much[240000];
                    .reg .b32 %r<2>;
                    st.shared.u32 [much], %r1;
                    ret;
                }
                """, "large");
        port.fails(701, DriverEntry.cuLaunchKernel, large, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0);
        port.ok(DriverEntry.cuCtxSynchronize);
    }

    @Test
    void aClusterThatDoesNotFitIsRefusedByTheNode() {
        long graph = port.made(DriverEntry.cuGraphCreate, 0);
        MemorySegment parameters = port.arena.allocate(KernelNode.BYTES, 8);
        parameters.set(ValueLayout.JAVA_LONG, KernelNode.FUNCTION, port.function(Kernels.TRAP, "stop"));
        for (int i = 0; i < 6; i++) {
            parameters.set(ValueLayout.JAVA_INT, KernelNode.GRID + 4L * i, 1);
        }
        long node = port.made(DriverEntry.cuGraphAddKernelNode_v2, graph, 0, 0, parameters);
        MemorySegment three = port.arena.allocate(64, 8);
        for (int i = 0; i < 3; i++) {
            three.setAtIndex(ValueLayout.JAVA_INT, i, 3);
        }
        port.fails(912, DriverEntry.cuGraphKernelNodeSetAttribute, node, 4, three);
    }

    @Test
    void waitersComeBackAndAnotherContextGoesOn() {
        long lost = port.made(DriverEntry.cuCtxCreate_v2, 0, 0);
        long stream = port.stream();
        long event = port.event();
        MemorySegment words = port.pinned(16);
        port.ok(DriverEntry.cuStreamWaitValue64_v2, stream, words, 1L, 0);
        port.ok(DriverEntry.cuStreamWriteValue64_v2, stream, words.address() + 8, 1L, 0);
        port.ok(DriverEntry.cuEventRecord, event, stream);
        port.launch(port.function(Kernels.TRAP, "stop"), 1, 1, 0);
        port.fails(719, DriverEntry.cuEventSynchronize, event);
        assertEquals(0, words.getAtIndex(ValueLayout.JAVA_LONG, 1), "nothing of a lost context runs on");
        port.ok(DriverEntry.cuCtxDestroy_v2, lost);
        long data = port.alloc(4);
        port.launch(port.function(Kernels.STORE, "store"), 1, 1, 0, data, 6);
        assertEquals(6, port.readInts(data, 1)[0]);
    }
}
