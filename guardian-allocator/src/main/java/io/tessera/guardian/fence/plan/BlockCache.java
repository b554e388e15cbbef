package io.tessera.guardian.fence.plan;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.ptx.Operand;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Accesses that were fenced already, from registers that have not been written since, with no label in between. Not thread-safe. */
public final class BlockCache {
    /** Purpose of a fence. */
    public enum Purpose {
        /** Inside the window. */
        WINDOW,
        /** Inside the window and aligned. */
        ALIGNED,
        /** Looked at by {@link FenceMode#CHECK}, and found in the window and aligned. */
        CHECKED,
        /** Inside shared, local or constant memory. */
        CLAMPED,
        /** In any space. */
        GENERIC,
        /** Handle of the tenant's own. */
        HANDLE,
        /** Address of a variable. */
        SYMBOL,
        /** Mask of lanes, with the own one among them. */
        MEMBERS,
        /** As above, with the lanes that are at one place together. */
        MEMBERS_TOGETHER
    }

    /**
     * A fence.
     *
     * @param purpose   its purpose
     * @param low       lowest offset from the register that it serves; it is already added in {@code fenced}
     * @param reach     the bytes up to this offset are inside
     * @param alignment alignment of the result
     * @param fenced    the register that holds the result
     */
    public record Entry(Purpose purpose, long low, long reach, long alignment, Operand.Register fenced) {
        /** Creates an entry for which offsets do not matter. */
        public Entry(Purpose purpose, long alignment, Operand.Register fenced) {
            this(purpose, 0, 0, alignment, fenced);
        }
    }

    private final Map<String, List<Entry>> entries = new HashMap<>();

    /** Keeps what was fenced from that register. */
    public void put(Operand.Register from, Entry entry) {
        entries.computeIfAbsent(from.name(), n -> new ArrayList<>(2)).add(entry);
    }

    /** Returns an entry with the same purpose and at least the same alignment, or null. */
    public Entry find(Operand.Register from, Purpose purpose, long alignment) {
        return find(from, purpose, 0, 0, alignment);
    }

    /** Returns an entry that also serves these offsets, or null. */
    public Entry find(Operand.Register from, Purpose purpose, long low, long reach, long alignment) {
        for (Entry entry : entries.getOrDefault(from.name(), List.of())) {
            if (entry.purpose() == purpose && entry.low() <= low && entry.reach() >= reach
                    && entry.alignment() >= alignment) {
                return entry;
            }
        }
        return null;
    }

    /** A register is written. */
    public void written(Operand.Register register) {
        entries.remove(register.name());
    }

    /** Control may come from elsewhere. */
    public void clear() {
        entries.clear();
    }
}
