package io.tessera.software.driver.graph;

import io.tessera.device.CudaEnums.GraphExecUpdate;
import io.tessera.device.CudaEnums.InstantiateFlag;
import io.tessera.device.CudaError;
import io.tessera.software.clock.DeviceClock;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.graph.CudaGraph.ChildGraph;
import io.tessera.software.driver.operation.EventRecord;
import io.tessera.software.driver.operation.EventWait;
import io.tessera.software.driver.operation.KernelLaunch;
import io.tessera.software.driver.operation.Nothing;
import io.tessera.software.driver.work.Event;
import io.tessera.software.driver.work.FaultState;
import io.tessera.software.driver.work.Operation;
import io.tessera.software.driver.work.Output;
import io.tessera.software.driver.work.Task;
import io.tessera.software.driver.work.Workers;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * An executable graph: a copy of a graph's nodes in an order in which they can run, whose parameters can be changed
 * and whose shape cannot. One launch at a time runs; a later one waits for it. Not thread-safe, as the driver
 * documents.
 */
public final class GraphExec {
    private final CudaGraph graph;
    private final long flags;
    private final List<GraphNode> order;
    private final Map<GraphNode, GraphExec> children = new HashMap<>();
    private final Set<GraphNode> disabled = new HashSet<>();
    private Task lastLaunch;

    /** Makes an executable graph of a graph as it is now. */
    public GraphExec(CudaGraph source, long flags) {
        this.flags = flags;
        graph = source.copy();
        order = graph.inOrder();
        for (GraphNode node : order) {
            if (node.operation() instanceof ChildGraph child) {
                children.put(node, new GraphExec(child.graph(), flags));
            }
        }
    }

    /** The flags it was made with. */
    public long flags() {
        return flags;
    }

    /** This graph's twin of a node of the graph it was made from. */
    public GraphNode twin(GraphNode node) {
        GraphNode twin = graph.copyOf(node);
        DriverException.require(twin != null, CudaError.INVALID_VALUE);
        return twin;
    }

    /** Changes what the twin of a node does; its type stays. */
    public void setOperation(GraphNode node, Operation next) {
        GraphNode twin = twin(node);
        DriverException.require(NodeType.of(next) == NodeType.of(twin.operation()), CudaError.INVALID_VALUE);
        if (next instanceof ChildGraph child) {
            DriverException.require(children.get(twin).update(child.graph()).accepted(),
                    CudaError.INVALID_VALUE);
        } else {
            twin.setOperation(next);
        }
    }

    /**
     * Brings it up to date with a graph of the same shape (cuGraphExecUpdate): checks all of the graph, and only then changes anything. Nodes are
     * matched by the order of making, as the driver matches the graphs of two equal captures.
     */
    public GraphUpdate update(CudaGraph next) {
        GraphUpdate verdict = check(next);
        if (verdict.accepted()) {
            change(next);
        }
        return verdict;
    }

    private GraphUpdate check(CudaGraph next) {
        List<GraphNode> theirs = next.inOrder();
        if (order.size() != theirs.size()) {
            return new GraphUpdate(GraphExecUpdate.ERROR_TOPOLOGY_CHANGED, null, null);
        }
        Map<GraphNode, Integer> places = new HashMap<>();
        for (int i = 0; i < order.size(); i++) {
            places.put(order.get(i), i);
            places.put(theirs.get(i), i);
        }
        for (int i = 0; i < order.size(); i++) {
            GraphUpdate verdict = checkNode(order.get(i), theirs.get(i), places);
            if (!verdict.accepted()) {
                return verdict;
            }
        }
        return GraphUpdate.ACCEPTED;
    }

    private GraphUpdate checkNode(GraphNode mine, GraphNode theirs, Map<GraphNode, Integer> all) {
        NodeType type = NodeType.of(mine.operation());
        if (type != NodeType.of(theirs.operation())) {
            return new GraphUpdate(GraphExecUpdate.ERROR_NODE_TYPE_CHANGED, theirs, null);
        }
        if (!places(mine, all).equals(places(theirs, all))) {
            return new GraphUpdate(GraphExecUpdate.ERROR_TOPOLOGY_CHANGED, theirs, null);
        }
        if (mine.operation() instanceof KernelLaunch before && theirs.operation() instanceof KernelLaunch after
                && before.cooperative() != after.cooperative()) {
            return new GraphUpdate(GraphExecUpdate.ERROR_PARAMETERS_CHANGED, theirs, null);
        }
        if (type == NodeType.MEM_ALLOC || type == NodeType.MEM_FREE) {
            return mine.operation().equals(theirs.operation()) ? GraphUpdate.ACCEPTED
                    : new GraphUpdate(GraphExecUpdate.ERROR_NOT_SUPPORTED, theirs, null);
        }
        return theirs.operation() instanceof ChildGraph child ? children.get(mine).check(child.graph()) : GraphUpdate.ACCEPTED;
    }

    private static List<Integer> places(GraphNode node, Map<GraphNode, Integer> all) {
        List<Integer> places = new ArrayList<>();
        node.dependencies().keySet().forEach(from -> places.add(all.get(from)));
        places.sort(null);
        return places;
    }

    private void change(CudaGraph next) {
        List<GraphNode> theirs = next.inOrder();
        for (int i = 0; i < order.size(); i++) {
            if (theirs.get(i).operation() instanceof ChildGraph child) {
                children.get(order.get(i)).change(child.graph());
            } else {
                order.get(i).setOperation(theirs.get(i).operation());
            }
        }
    }

    /** Returns whether the twin of a node runs. */
    public boolean enabled(GraphNode node) {
        return !disabled.contains(switchable(node));
    }

    /** Lets the twin of a node run, or not. */
    public void setEnabled(GraphNode node, boolean on) {
        GraphNode twin = switchable(node);
        if (on) {
            disabled.remove(twin);
        } else {
            disabled.add(twin);
        }
    }

    private GraphNode switchable(GraphNode node) {
        GraphNode twin = twin(node);
        NodeType type = NodeType.of(twin.operation());
        DriverException.require(type == NodeType.KERNEL || type == NodeType.MEMCPY || type == NodeType.MEMSET,
                CudaError.INVALID_VALUE);
        return twin;
    }

    /** Services of the device for a launch. */
    public record Environment(FaultState fault, Output output, Workers workers, DeviceClock clock) {
    }

    /** A launch, whose first task is put after what the stream did before, and whose last one is the stream's last. */
    public final class Launch {
        private final Environment environment;
        private final Task head;
        private final Task tail;

        private Launch(Environment environment, Task head, Task tail) {
            this.environment = environment;
            this.head = head;
            this.tail = tail;
        }

        /** Begins before all others. */
        public Task head() {
            return head;
        }

        /** Ends after all others. */
        public Task tail() {
            return tail;
        }

        /** Makes the tasks between them, and lets all run. */
        public void submit() {
            List<Task> started = new ArrayList<>();
            started.add(head);
            expand(environment, head, tail, started);
            started.forEach(Task::submit);
            tail.submit();
        }
    }

    /** Begins a launch. */
    public Launch launch(Environment environment) {
        accountMemory();
        Task head = task(Nothing.INSTANCE, environment).after(lastLaunch);
        Task tail = task(Nothing.INSTANCE, environment).after(head);
        lastLaunch = tail;
        return new Launch(environment, head, tail);
    }

    /** Memory that nodes allocate and free is decided on at launch, in an order in which the nodes could run. */
    private void accountMemory() {
        for (GraphNode node : order) {
            switch (node.operation()) {
                case MemoryAllocate allocate -> allocate.memory().allocate((flags & InstantiateFlag.AUTO_FREE_ON_LAUNCH) != 0);
                case MemoryFree free -> free.memory().free();
                case ChildGraph _ -> children.get(node).accountMemory();
                default -> {}
            }
        }
    }

    private void expand(Environment environment, Task head, Task tail, List<Task> started) {
        Map<GraphNode, Task> tasks = new HashMap<>();
        for (GraphNode node : order) {
            List<Task> after = new ArrayList<>();
            node.dependencies().keySet().forEach(from -> after.add(tasks.get(from)));
            if (after.isEmpty()) {
                after.add(head);
            }
            Task task = taskOf(node, environment, after, started);
            tasks.put(node, task);
            started.add(task);
            if (node.dependents().isEmpty()) {
                tail.after(task);
            }
        }
    }

    private Task taskOf(GraphNode node, Environment environment, List<Task> after, List<Task> started) {
        Operation operation = disabled.contains(node) ? Nothing.INSTANCE : node.operation();
        switch (operation) {
            case ChildGraph _ -> {
                Task head = task(Nothing.INSTANCE, environment);
                after.forEach(head::after);
                started.add(head);
                Task tail = task(Nothing.INSTANCE, environment).after(head);
                children.get(node).expand(environment, head, tail, started);
                return tail;
            }
            case EventRecord record -> {
                Event.Recording recording = Event.newRecording(environment.clock());
                Task task = task(recording, environment);
                after.forEach(task::after);
                record.event().record(recording.carriedBy(task));
                return task;
            }
            case EventWait wait -> {
                Task task = task(operation, environment).after(wait.event().task());
                after.forEach(task::after);
                return task;
            }
            default -> {
                Task task = task(operation, environment);
                after.forEach(task::after);
                return task;
            }
        }
    }

    private static Task task(Operation operation, Environment environment) {
        return new Task(operation, environment.fault(), environment.output(), environment.workers());
    }

    /** Releases its objects; its last launch has ended. */
    public void destroy() {
        children.values().forEach(GraphExec::destroy);
        graph.destroy();
    }

    /** Returns the last launch's last task, null if there was none. */
    public Task lastLaunch() {
        return lastLaunch;
    }
}
