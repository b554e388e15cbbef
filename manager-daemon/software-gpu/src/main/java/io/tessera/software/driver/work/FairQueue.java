package io.tessera.software.driver.work;

import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Tasks that wait for a worker, by the stream that they are of: streams take turns, so a graph of a hundred thousand kernels that are
 * all ready keeps nobody else waiting. Thread-safe.
 */
final class FairQueue {
    private final Map<Output, ArrayDeque<Task>> waiting = new LinkedHashMap<>();

    synchronized void add(Task task) {
        waiting.computeIfAbsent(task.output(), _ -> new ArrayDeque<>()).add(task);
    }

    /** The next one; there is one for each that was added. */
    synchronized Task next() {
        Iterator<Map.Entry<Output, ArrayDeque<Task>>> each = waiting.entrySet().iterator();
        Map.Entry<Output, ArrayDeque<Task>> first = each.next();
        each.remove();
        ArrayDeque<Task> tasks = first.getValue();
        Task task = tasks.poll();
        if (!tasks.isEmpty()) {
            waiting.put(first.getKey(), tasks);
        }
        return task;
    }
}
