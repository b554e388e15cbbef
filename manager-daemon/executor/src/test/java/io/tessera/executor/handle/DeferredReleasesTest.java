package io.tessera.executor.handle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.device.CudaResult;
import io.tessera.device.HandleKind;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What waits for graphs and references, and for how long. */
class DeferredReleasesTest {
    private static final long ARRAY = 0x5000;
    private static final long OTHER = 0x6000;
    private static final int FATAL = 700;

    private final ClientHandles handles = new ClientHandles(0);
    private final DeferredReleases deferredReleases = handles.deferredReleases();
    private final List<Long> ended = new ArrayList<>();
    private boolean capturing;

    DeferredReleasesTest() {
        deferredReleases.capturing(() -> capturing);
    }

    private int end(long key) {
        return deferredReleases.end(Set.of(key), () -> {
            ended.add(key);
            return 0;
        });
    }

    private long graph() {
        return handles.put(HandleKind.GRAPH, 0x100, 0, 1);
    }

    private void gone(HandleKind kind, long clientHandle) {
        handles.remove(kind, clientHandle);
        deferredReleases.ended(kind);
    }

    private void name(long key) {
        deferredReleases.naming(true);
        deferredReleases.names(key);
        deferredReleases.naming(false);
    }

    @Test
    void whatNoGraphNamesEndsAtOnce() {
        graph();
        deferredReleases.names(ARRAY); // by a call that goes into no graph
        assertEquals(0, end(ARRAY));
        assertEquals(List.of(ARRAY), ended);
    }

    @Test
    void whatAGraphNamesEndsWhenNoGraphIsLeft() {
        long graph = graph();
        long executable = handles.put(HandleKind.GRAPH_EXEC, 0x200, 0, 1);
        name(ARRAY);
        assertEquals(0, end(ARRAY));
        gone(HandleKind.GRAPH, graph);
        assertTrue(deferredReleases.isDue());
        assertEquals(0, deferredReleases.release());
        assertEquals(List.of(), ended, "an executable graph is left");
        assertFalse(deferredReleases.isDue(), "nothing has changed since");
        gone(HandleKind.GRAPH_EXEC, executable);
        assertTrue(deferredReleases.isDue());
        deferredReleases.release();
        assertEquals(List.of(ARRAY), ended);
        assertFalse(deferredReleases.isDue());
    }

    @Test
    void whatIsCapturedCountsBeforeThereIsAGraph() {
        capturing = true;
        name(ARRAY);
        end(ARRAY);
        capturing = false;
        deferredReleases.captureEnded();
        deferredReleases.release();
        assertEquals(List.of(ARRAY), ended);
    }

    @Test
    void whatGraphsNamedThatAreGoneEndsAtOnce() {
        long first = graph();
        name(ARRAY);
        gone(HandleKind.GRAPH, first);
        end(OTHER); // sees that there is none
        graph();
        end(ARRAY);
        assertEquals(List.of(OTHER, ARRAY), ended);
    }

    @Test
    void anArrayEndsWhenItsReferenceHasAnotherOne() {
        long module = handles.put(HandleKind.MODULE, 0x300, 0, 1);
        long reference = handles.put(HandleKind.TEXREF, 0x400, module, 1);
        deferredReleases.bind(reference, ARRAY);
        end(ARRAY);
        assertEquals(List.of(), ended);
        deferredReleases.bind(reference, OTHER);
        deferredReleases.release();
        assertEquals(List.of(ARRAY), ended);
        end(OTHER);
        gone(HandleKind.MODULE, module);
        deferredReleases.release();
        assertEquals(List.of(ARRAY, OTHER), ended, "the reference is gone with its module");
    }

    @Test
    void whatAReferenceHadStaysAsLongAsGraphsMayHaveIt() {
        long reference = handles.put(HandleKind.TEXREF, 0x400, 0, 1);
        long graph = graph();
        deferredReleases.bind(reference, ARRAY);
        deferredReleases.bind(reference, 0);
        end(ARRAY);
        assertEquals(List.of(), ended);
        gone(HandleKind.GRAPH, graph);
        deferredReleases.release();
        assertEquals(List.of(ARRAY), ended);
    }

    @Test
    void aModuleStaysForItsKernelsInGraphs() {
        long module = handles.put(HandleKind.MODULE, 0x300, 0, 1);
        long function = handles.put(HandleKind.FUNCTION, 0x310, module, 1);
        graph();
        deferredReleases.naming(true);
        deferredReleases.namesCode(function);
        end(0x300);
        assertEquals(List.of(), ended);
    }

    /** Its kernels read the array in graphs, and it is held over for them: its reference has no handle any more. */
    @Test
    void anArrayOfAReferenceWhoseModuleIsHeldOverStaysForGraphs() {
        long module = handles.put(HandleKind.MODULE, 0x300, 0, 1);
        deferredReleases.bind(handles.put(HandleKind.TEXREF, 0x400, module, 1), ARRAY);
        long graph = graph();
        gone(HandleKind.MODULE, module);
        end(ARRAY);
        assertEquals(List.of(), ended);
        gone(HandleKind.GRAPH, graph);
        deferredReleases.release();
        assertEquals(List.of(ARRAY), ended);
    }

    /** A client that is killed while a stream captures leaves nothing: nobody will end that capture. */
    @Test
    void nothingWaitsForWhoIsGone() {
        capturing = true;
        name(ARRAY);
        name(OTHER);
        end(ARRAY);
        deferredReleases.close();
        end(OTHER);
        deferredReleases.release();
        assertEquals(List.of(OTHER, ARRAY), ended);
    }

    @Test
    void noMoreWaitThanThereMay() {
        graph();
        name(ARRAY);
        for (int i = 0; i < DeferredReleases.MOST; i++) {
            assertEquals(0, end(ARRAY));
        }
        assertEquals(CudaResult.OUT_OF_MEMORY, end(ARRAY));
        assertEquals(0, end(OTHER), "what need not wait ends");
    }

    @Test
    void aFatalErrorOfAnEndIsToldAndTheOthersEnd() {
        long graph = graph();
        name(ARRAY);
        deferredReleases.end(Set.of(ARRAY), () -> FATAL);
        end(ARRAY);
        gone(HandleKind.GRAPH, graph);
        assertEquals(FATAL, deferredReleases.release());
        assertEquals(List.of(ARRAY), ended);
    }
}
