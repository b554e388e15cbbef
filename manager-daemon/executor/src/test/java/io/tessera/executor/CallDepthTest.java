package io.tessera.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.device.DriverEntry;
import io.tessera.executor.client.RelayTestClient;
import io.tessera.executor.session.RecordDispatcher;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The number of our functions between a record's receipt and the driver's function: what a reader who follows a call has to read. It counts the
 * functions that are on the stack when the driver is called, from {@code RecordDispatcher.record}, which gets the record. Functions that have
 * returned by then, checks for example, are not counted. For an allocation that has memory made the classes are counted too, each of which is a
 * file. The preload library's side is {@code native-preload/checks/call-path}, which has the same limit.
 */
class CallDepthTest {
    private static final int MOST = 10;
    /** Functions of the executor where memory has to be made too. */
    private static final int MOST_GROWING = 14;
    /** The window's heap, which decides that memory is made: it is the guardian's. */
    private static final String HEAP = "guardian.heap.";
    private static final String DRIVERS = "io.tessera.testing.driver.";

    @TempDir
    Path folder;

    private final Map<DriverEntry, List<String>> paths = new ConcurrentHashMap<>();

    /** The functions that are entered and not left, from the dispatcher to the driver. */
    private void called(DriverEntry entry) {
        List<String> path = StackWalker.getInstance().walk(frames -> {
            List<String> found = new ArrayList<>();
            for (StackWalker.StackFrame frame : frames.toList()) {
                if (!frame.getClassName().startsWith(DRIVERS) && !frame.getClassName().equals(CallDepthTest.class.getName())
                        && frame.getClassName().startsWith("io.tessera.")) {
                    found.addFirst(
                            frame.getClassName().substring("io.tessera.".length()).replaceFirst("^executor\\.", "") + "." + frame.getMethodName());
                }
                if (frame.getClassName().equals(RecordDispatcher.class.getName()) && frame.getMethodName().equals("record")) {
                    return found;
                }
            }
            return null;
        });
        if (path != null) {
            paths.putIfAbsent(entry, path);
        }
    }

    private List<String> path(DriverEntry entry) {
        List<String> path = paths.getOrDefault(entry, List.of());
        System.out.println(entry + ": " + path.size() + " functions: " + String.join(", ", path));
        return path;
    }

    @Test
    void fewFunctionsLieBetweenALaunchAndTheDriver() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder); RelayTestClient client = executor.client("a", 0)) {
            byte[] ptx = "// ptx\0".getBytes(StandardCharsets.US_ASCII);
            assertEquals(0,
                    client.call(DriverEntry.cuModuleLoadDataEx, RelayTestClient.outBytes(8), RelayTestClient.in(ptx), RelayTestClient.value(0),
                            RelayTestClient.value(0), RelayTestClient.value(0)));
            assertEquals(0, client.call(DriverEntry.cuModuleGetFunction, RelayTestClient.outBytes(8), RelayTestClient.value(client.outLong(0)),
                    RelayTestClient.text("empty")));
            executor.driver.listener = this::called;
            client.launch(client.outLong(0), 0, new byte[64]);
            client.synchronise(0, 1, 2);
        }
        List<String> path = path(DriverEntry.cuLaunchKernel);
        assertTrue(!path.isEmpty() && path.size() <= MOST, path.toString());
    }

    @Test
    void fewFunctionsLieBetweenACallAndTheDriver() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder); RelayTestClient client = executor.client("a", 0)) {
            executor.driver.listener = this::called;
            assertEquals(0, client.call(DriverEntry.cuEventCreate, RelayTestClient.outBytes(8), RelayTestClient.value(0)));
        }
        List<String> path = path(DriverEntry.cuEventCreate);
        assertTrue(!path.isEmpty() && path.size() <= MOST, path.toString());
    }

    /** An allocation reaches the driver only where the window's heap has to grow; else it ends in the heap. */
    @Test
    void fewPlacesLieBetweenAnAllocationAndTheDriver() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder); RelayTestClient client = executor.client("a", 0)) {
            executor.driver.listener = this::called;
            assertEquals(0, client.call(DriverEntry.cuMemAlloc_v2, RelayTestClient.outBytes(8), RelayTestClient.value(1 << 20)));
        }
        List<String> growing = path(DriverEntry.cuMemCreate);
        List<String> ours = growing.stream().filter(function -> !function.startsWith(HEAP)).toList();
        List<String> places = ours.stream().map(function -> function.substring(0, function.lastIndexOf('.'))).distinct().toList();
        long toHeap = growing.stream().takeWhile(function -> !function.startsWith(HEAP)).count();
        System.out.println("cuMemAlloc: " + toHeap + " functions to the heap, " + ours.size() + " to the driver, in " + places.size() + " places");
        assertTrue(toHeap > 0 && toHeap <= MOST && growing.size() > ours.size(), growing.toString());
        assertTrue(places.size() <= MOST, places.toString());
        assertTrue(ours.size() <= MOST_GROWING, ours.toString());
    }
}
