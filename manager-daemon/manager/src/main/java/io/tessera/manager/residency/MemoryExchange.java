package io.tessera.manager.residency;

import io.tessera.manager.conductor.Conductor;
import io.tessera.manager.conductor.DeviceClient;
import io.tessera.manager.conductor.DeviceRegistry;
import io.tessera.manager.conductor.ManagedDevice;
import io.tessera.manager.session.DistinctErrors;
import io.tessera.os.LinuxException;
import io.tessera.os.SocketPort;
import io.tessera.protocol.DeviceUuid;
import io.tessera.protocol.MemoryPlan;
import io.tessera.protocol.message.ExchangeEnd;
import io.tessera.protocol.segment.ResidencyState;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The queues in which clients of plan SWAP hand each other a device's physical memory (SPEC.md, section 9.8): one for each device and user with two
 * or more such clients. Users do not get each other's memory, because a process that had it may keep access to it. Memory that no client takes from a
 * queue is removed, so that the driver gets it back. One owner thread, which closes this object.
 */
public final class MemoryExchange implements Conductor.Timed, AutoCloseable {
    /** Interval at which the present clients and the contents of queues are checked. */
    static final long LOOK_NS = 250_000_000L;
    private static final int ENOUGH_CLIENTS = 2;
    private static final int PIECE_BYTES = 8;
    /** Maximum number of pieces removed in one check; a queue holds some 16. A client that sends without end must not occupy the manager. */
    static final int MOST_PIECES = 64;

    private final DeviceRegistry registry;
    private final SocketPort sockets;
    private final DistinctErrors errors;
    private final MemorySegment scratch = Arena.ofAuto().allocate(PIECE_BYTES);
    private final Map<Sharers, Queue> queues = new HashMap<>();
    private long nextLookNs = Long.MIN_VALUE;

    private record Sharers(DeviceUuid device, int uid) {
    }

    private record Queue(int give, int take, Set<DeviceClient> told) {
    }

    /** Creates the exchange for the devices that clients announce. */
    public MemoryExchange(DeviceRegistry registry, SocketPort sockets, DistinctErrors errors) {
        this.registry = registry;
        this.sockets = sockets;
        this.errors = errors;
    }

    @Override
    public int doWork(long nowNs) {
        if (nowNs < nextLookNs) {
            return 0;
        }
        nextLookNs = nowNs + LOOK_NS;
        Map<Sharers, List<DeviceClient>> sharing = new HashMap<>();
        for (ManagedDevice device : registry.devices()) {
            device.members().stream().filter(member -> member.session().hello().plan() == MemoryPlan.SWAP)
                    .collect(Collectors.groupingBy(member -> new Sharers(device.uuid(), member.session().peer().uid())))
                    .forEach((sharers, members) -> {
                        if (members.size() >= ENOUGH_CLIENTS) {
                            sharing.put(sharers, members);
                        }
                    });
        }
        int work = 0;
        for (Iterator<Map.Entry<Sharers, Queue>> each = queues.entrySet().iterator(); each.hasNext();) {
            Map.Entry<Sharers, Queue> entry = each.next();
            if (!sharing.containsKey(entry.getKey())) {
                // The last client still has both ends of the queue and continues to send, and no other client takes the memory.
                work += takeOut(entry.getValue());
                if (entry.getValue().told.stream().noneMatch(this::isThere)) {
                    close(entry.getValue());
                    each.remove();
                }
            }
        }
        for (Map.Entry<Sharers, List<DeviceClient>> entry : sharing.entrySet()) {
            work += serve(entry.getKey(), entry.getValue());
        }
        return work;
    }

    private boolean isThere(DeviceClient member) {
        return registry.members(member.session()).contains(member);
    }

    private int serve(Sharers sharers, List<DeviceClient> members) {
        Queue queue = queues.get(sharers);
        if (queue == null) {
            try {
                int[] ends = sockets.pair();
                queue = new Queue(ends[0], ends[1], new HashSet<>());
            } catch (LinuxException e) {
                errors.record("clients cannot hand each other memory: " + e.getMessage());
                return 0;
            }
            queues.put(sharers, queue);
        }
        queue.told.retainAll(members);
        int work = 0;
        for (DeviceClient member : members) {
            if (!queue.told.contains(member) && member.session().giveEnd(member.slot(), ExchangeEnd.TAKE, queue.take)
                    && member.session().giveEnd(member.slot(), ExchangeEnd.GIVE, queue.give)) {
                queue.told.add(member);
                work++;
            }
        }
        boolean moving = members.stream().anyMatch(MemoryExchange::comesIn);
        return work + (moving ? 0 : takeOut(queue));
    }

    private static boolean comesIn(DeviceClient member) {
        boolean[] moving = {false};
        member.touch(_ -> moving[0] = member.residency().state() == ResidencyState.MOVING_IN);
        return moving[0];
    }

    /** Empties a queue: a receive without room for descriptors closes them, and the driver has the memory back. */
    private int takeOut(Queue queue) {
        int pieces = 0;
        try {
            while (pieces < MOST_PIECES && sockets.receive(queue.take, scratch) > 0) {
                pieces++;
            }
        } catch (LinuxException e) {
            errors.record("handed memory could not be taken out of its queue: " + e.getMessage());
        }
        return pieces;
    }

    private void close(Queue queue) {
        takeOut(queue);
        for (int end : new int[] {queue.give, queue.take}) {
            try {
                sockets.close(end);
            } catch (LinuxException e) {
                errors.record("a queue of handed memory could not be closed: " + e.getMessage());
            }
        }
    }

    @Override
    public long nextDeadlineNs() {
        return queues.isEmpty() ? Long.MAX_VALUE : nextLookNs;
    }

    @Override
    public void close() {
        queues.values().forEach(this::close);
        queues.clear();
    }
}
