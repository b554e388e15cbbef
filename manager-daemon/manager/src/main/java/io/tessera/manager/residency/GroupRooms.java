package io.tessera.manager.residency;

import io.tessera.os.memory.ControlGroupMemory;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongFunction;

/**
 * The host memory that clients may hold within the bounds of their own control groups: a program in a container has that container's bound, whatever
 * the host has. The memory that clients of one group hold and are promised stays within what the group had left when last read. One owner thread.
 */
final class GroupRooms {
    /** One part in this many of the bound is kept for the program itself. */
    private static final int RESERVED_PART = 16;
    /** A group without a bound is read only once in this many times: with hundreds of containers each reading takes thousands of files. */
    static final int SELDOM = 20;

    private final LongFunction<ControlGroupMemory> groups;
    private final Map<Long, ControlGroupMemory> byPid = new HashMap<>();
    /** The memory that clients of a group may hold together, as last read. */
    private final Map<String, Long> mostBytes = new HashMap<>();
    private int looks;
    /** The part of it that no client holds and no client was promised. */
    private final Map<String, Long> leftBytes = new HashMap<>();

    /**
     * Creates an object without groups.
     *
     * @param groups returns the control groups of a process, by its number
     */
    GroupRooms(LongFunction<ControlGroupMemory> groups) {
        this.groups = groups;
    }

    /** A client: its process and the bytes that it holds. */
    record Holder(long pid, long heldBytes) {
    }

    /**
     * Begins a round of {@link #grant} with all clients.
     *
     * @param fresh whether to read all groups; otherwise only those of new clients
     */
    void begin(Collection<Holder> holders, boolean fresh) {
        byPid.keySet().retainAll(holders.stream().map(Holder::pid).toList());
        Map<String, Long> heldBytes = new HashMap<>();
        Map<String, ControlGroupMemory> seen = new HashMap<>();
        for (Holder holder : holders) {
            ControlGroupMemory group = byPid.computeIfAbsent(holder.pid(), groups::apply);
            seen.put(group.group(), group);
            heldBytes.merge(group.group(), holder.heldBytes(), Long::sum);
        }
        mostBytes.keySet().retainAll(seen.keySet());
        leftBytes.clear();
        looks += fresh ? 1 : 0;
        seen.forEach((name, group) -> {
            Long most = mostBytes.get(name);
            if (most == null || fresh && (most != Long.MAX_VALUE || looks % SELDOM == 0)) {
                mostBytes.put(name, most(group, heldBytes.get(name)));
            }
            leftBytes.put(name, Math.max(0, mostBytes.get(name) - heldBytes.get(name)));
        });
    }

    private static long most(ControlGroupMemory group, long heldBytes) {
        long room = group.roomBytes();
        return room == ControlGroupMemory.UNBOUNDED ? Long.MAX_VALUE : heldBytes + Math.max(0, room - group.limitBytes() / RESERVED_PART);
    }

    /** Returns the bytes that a client may hold, given those that it holds and wants. */
    long grant(Holder holder, long wantedBytes) {
        String group = byPid.get(holder.pid()).group();
        long more = Math.clamp(wantedBytes - holder.heldBytes(), 0, leftBytes.get(group));
        leftBytes.merge(group, -more, Long::sum);
        return Math.min(wantedBytes, holder.heldBytes() + more);
    }
}
