package io.tessera.executor.handle;

import io.tessera.device.HandleKind;
import io.tessera.protocol.relay.RelayHandle;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongConsumer;

/**
 * One client's handles of one kind. A handle contains an index and its generation, so the handle of an ended object stays invalid even after the index is
 * used again. One owner thread.
 */
public final class HandleTable {
    /** The value of no object; a driver's objects are never at address 0. */
    public static final long NONE = 0;

    private static final int PLACE_BITS = 20;
    private static final int MOST_PLACES = 1 << PLACE_BITS;
    private static final int GENERATIONS = 1 << Integer.SIZE - PLACE_BITS;
    private static final int FIRST_PLACES = 16;
    private static final int NO_PLACE = -1;

    private final HandleKind kind;
    private final int device;
    private final Map<Long, Long> byValue = new HashMap<>();
    private long[] values = new long[FIRST_PLACES];
    private int[] generations = new int[FIRST_PLACES];
    private int[] references = new int[FIRST_PLACES];
    private long[] parents = new long[FIRST_PLACES];
    private int[] contexts = new int[FIRST_PLACES];
    private Object[] attachments = new Object[FIRST_PLACES];
    /** Places with the same parent form a chain, whose first one is found by the parent: the cost of a parent's end depends only on its children. */
    private final Map<Long, Integer> firstOfParent = new HashMap<>();
    private int[] following = new int[FIRST_PLACES];
    private int[] preceding = new int[FIRST_PLACES];
    private int[] free = new int[FIRST_PLACES];
    private int freeCount;
    private int used;

    /** Creates an empty table, whose handles contain the device's number. */
    public HandleTable(HandleKind kind, int device) {
        this.kind = kind;
        this.device = device;
    }

    /** Returns the kind of the handles. */
    public HandleKind kind() {
        return kind;
    }

    /**
     * Returns the handle of a driver's object. A new object gets a new handle; a known one gets one more reference.
     *
     * @param value   the driver's own handle, not 0
     * @param parent  handle of the object with which it ends, in a table of the same client; 0: none
     * @param context the client's context in which it was made
     * @return the handle; {@link #NONE} if the client has the maximum number of handles
     */
    public long put(long value, long parent, int context) {
        Long known = byValue.get(value);
        if (known != null) {
            references[place(known)]++;
            return known;
        }
        int place = freeCount > 0 ? free[--freeCount] : grow();
        if (place < 0) {
            return NONE;
        }
        values[place] = value;
        references[place] = 1;
        parents[place] = parent;
        contexts[place] = context;
        attachments[place] = null;
        chain(place);
        long handle = handle(place);
        byValue.put(value, handle);
        return handle;
    }

    private int grow() {
        if (used == values.length) {
            if (used == MOST_PLACES) {
                return -1;
            }
            int larger = used * 2;
            values = Arrays.copyOf(values, larger);
            generations = Arrays.copyOf(generations, larger);
            references = Arrays.copyOf(references, larger);
            parents = Arrays.copyOf(parents, larger);
            contexts = Arrays.copyOf(contexts, larger);
            attachments = Arrays.copyOf(attachments, larger);
            following = Arrays.copyOf(following, larger);
            preceding = Arrays.copyOf(preceding, larger);
            free = Arrays.copyOf(free, larger);
        }
        return used++;
    }

    private void chain(int place) {
        preceding[place] = NO_PLACE;
        following[place] = NO_PLACE;
        if (parents[place] == NONE) {
            return;
        }
        Integer first = firstOfParent.put(parents[place], place);
        if (first != null) {
            following[place] = first;
            preceding[first] = place;
        }
    }

    private void unchain(int place) {
        if (following[place] != NO_PLACE) {
            preceding[following[place]] = preceding[place];
        }
        if (preceding[place] != NO_PLACE) {
            following[preceding[place]] = following[place];
        } else if (parents[place] != NONE && following[place] != NO_PLACE) {
            firstOfParent.put(parents[place], following[place]);
        } else if (parents[place] != NONE) {
            firstOfParent.remove(parents[place]);
        }
    }

    private long handle(int place) {
        return RelayHandle.of(kind.number(), device, generations[place] << PLACE_BITS | place);
    }

    private static int place(long handle) {
        return RelayHandle.index(handle) & MOST_PLACES - 1;
    }

    /** Returns the handle of a driver's object; {@link #NONE} if there is none. */
    public long find(long value) {
        return byValue.getOrDefault(value, NONE);
    }

    /** Returns the driver's object behind a handle; {@link #NONE} if the handle names nothing here. */
    public long value(long handle) {
        int place = place(handle);
        return place < used && handle == handle(place) ? values[place] : NONE;
    }

    /** Returns the attachment of a handle that names an object; else null. */
    public Object attachment(long handle) {
        return value(handle) == NONE ? null : attachments[place(handle)];
    }

    /** Attaches an object to a valid handle. */
    public void attach(long handle, Object attachment) {
        attachments[place(handle)] = attachment;
    }

    /** Gives back one reference; returns whether it was the last one and the handle names nothing any more. */
    public boolean release(long handle) {
        int place = place(handle);
        if (value(handle) == NONE || --references[place] > 0) {
            return false;
        }
        remove(handle);
        return true;
    }

    /** Removes a handle, however many references it has. Does nothing if it names no object. */
    public void remove(long handle) {
        int place = place(handle);
        if (value(handle) == NONE) {
            return;
        }
        byValue.remove(values[place]);
        unchain(place);
        values[place] = NONE;
        attachments[place] = null;
        generations[place] = (generations[place] + 1) % GENERATIONS;
        free[freeCount++] = place;
    }

    /** Visits the handles that end with another one; none may be removed meanwhile. */
    public void childrenOf(long parent, LongConsumer child) {
        for (int place = firstOfParent.getOrDefault(parent, NO_PLACE); place != NO_PLACE; place = following[place]) {
            child.accept(handle(place));
        }
    }

    /** Visits the handles that were made in a context; of all contexts for a number below 0. */
    public void ofContext(int context, LongConsumer handle) {
        for (int place = 0; place < used; place++) {
            if (values[place] != NONE && (context < 0 || contexts[place] == context)) {
                handle.accept(handle(place));
            }
        }
    }

    /** Returns the references of a valid handle; else 0. */
    public int references(long handle) {
        return value(handle) == NONE ? 0 : references[place(handle)];
    }

    /** Makes the object of a valid handle end with another one, whose handle is in a table of the same client; 0: with none. */
    public void adopt(long handle, long parent) {
        int place = place(handle);
        unchain(place);
        parents[place] = parent;
        chain(place);
    }

    /** Returns the handle of the object with which a valid handle's object ends; 0: none. */
    public long parent(long handle) {
        return hasParent(handle) ? parents[place(handle)] : 0;
    }

    /** Returns whether the object of a valid handle ends with another one. */
    public boolean hasParent(long handle) {
        return value(handle) != NONE && parents[place(handle)] != 0;
    }

    /** Returns the number of valid handles. */
    public int size() {
        return byValue.size();
    }
}
