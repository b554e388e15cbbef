package io.tessera.executor.handle;

import io.tessera.device.HandleKind;
import io.tessera.executor.quota.ClientAccount;
import io.tessera.executor.quota.Countable;
import io.tessera.protocol.relay.RelayHandle;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * All handles of one client. An object ends with its owner: functions with their module, kernels with their library, nodes with their graph. One owner thread.
 */
public final class ClientHandles {
    private static final HandleKind[] KINDS = HandleKind.values();

    private final HandleTable[] tables = new HandleTable[KINDS.length];
    /** By kind, the client's textures and surfaces, whose handles are the device's own values, with their contexts. */
    private final Map<HandleKind, Map<Long, Integer>> deviceValues = new EnumMap<>(HandleKind.class);
    private final TensorMaps tensorMaps;
    private final DeferredReleases deferredReleases = new DeferredReleases(this::table);
    private final ClientAccount account;

    /** Creates empty tables for a client that is alone in its tenant; its handles contain the device's number. */
    public ClientHandles(int device) {
        this(device, ClientAccount.ofItsOwn());
    }

    /** Creates empty tables, whose entries count in an account; handles contain the device's number. */
    public ClientHandles(int device, ClientAccount account) {
        this.account = account;
        this.tensorMaps = new TensorMaps(account);
        for (HandleKind kind : KINDS) {
            tables[kind.ordinal()] = new HandleTable(kind, device);
            if (kind.deviceValue()) {
                deviceValues.put(kind, new HashMap<>());
            }
        }
    }

    /** Returns the account of the client's objects, which are bounded for its tenant. */
    public ClientAccount account() {
        return account;
    }

    /** Returns the objects that it has ended and its graphs may still use. */
    public DeferredReleases deferredReleases() {
        return deferredReleases;
    }

    /** Returns the client's tensor maps. */
    public TensorMaps tensorMaps() {
        return tensorMaps;
    }

    /** Returns the table of a kind. */
    public HandleTable table(HandleKind kind) {
        return tables[kind.ordinal()];
    }

    /**
     * Returns the driver's object for a handle in a record. A kernel is also accepted where a function is required.
     *
     * @return the object, or {@link HandleTable#NONE} if the client has no such object
     */
    public long value(HandleKind kind, long clientHandle) {
        if (kind.deviceValue()) {
            return deviceValues.get(kind).containsKey(clientHandle) ? clientHandle : HandleTable.NONE;
        }
        if (kind == HandleKind.FUNCTION && RelayHandle.type(clientHandle) == HandleKind.KERNEL.number()) {
            return tables[HandleKind.KERNEL.ordinal()].value(clientHandle);
        }
        return tables[kind.ordinal()].value(clientHandle);
    }

    /**
     * Returns the client's handle of a driver's object, which is added if it is new.
     *
     * @return {@link HandleTable#NONE} if the client has the maximum number of handles
     */
    public long put(HandleKind kind, long value, long parent, int context) {
        if (kind.deviceValue()) {
            if (deviceValues.get(kind).put(value, context) == null) {
                account.add(Countable.of(kind));
            }
            return value;
        }
        HandleTable table = tables[kind.ordinal()];
        int before = table.size();
        long clientHandle = table.put(value, parent, context);
        if (table.size() > before) {
            account.add(Countable.of(kind));
        }
        return clientHandle;
    }

    /** Returns the handle of a driver's object; {@link HandleTable#NONE} if the client has none, or has ended it. */
    public long find(HandleKind kind, long value) {
        return kind.deviceValue() ? value(kind, value) : tables[kind.ordinal()].find(value);
    }

    /** Removes an object and everything that ends with it. */
    public void remove(HandleKind kind, long clientHandle) {
        if (kind.deviceValue()) {
            if (deviceValues.get(kind).remove(clientHandle) != null) {
                account.remove(Countable.of(kind));
            }
            return;
        }
        if (tables[kind.ordinal()].value(clientHandle) == HandleTable.NONE) {
            return;
        }
        tables[kind.ordinal()].remove(clientHandle);
        account.remove(Countable.of(kind));
        removeChildren(clientHandle);
    }

    /** Releases one reference. The last release removes the object and everything that ends with it. */
    public boolean release(HandleKind kind, long clientHandle) {
        if (!tables[kind.ordinal()].release(clientHandle)) {
            return false;
        }
        account.remove(Countable.of(kind));
        removeChildren(clientHandle);
        return true;
    }

    /** Removes the objects that end with an object. The parent of objects without one is 0. */
    private void removeChildren(long ended) {
        ArrayDeque<Long> parents = new ArrayDeque<>();
        parents.add(ended);
        for (Long parent = parents.poll(); parent != null; parent = parents.poll()) {
            for (HandleTable table : tables) {
                List<Long> children = new ArrayList<>();
                table.childrenOf(parent, children::add);
                children.forEach(table::remove);
                account.add(Countable.of(table.kind()), -children.size(), 0);
                parents.addAll(children);
            }
        }
    }

    /** Returns the handles of a kind that were made in a context; of all contexts for a number below 0. */
    public List<Long> ofContext(HandleKind kind, int context) {
        List<Long> handles = new ArrayList<>();
        if (kind.deviceValue()) {
            deviceValues.get(kind).forEach((value, made) -> {
                if (context < 0 || made == context) {
                    handles.add(value);
                }
            });
        } else {
            tables[kind.ordinal()].ofContext(context, handles::add);
        }
        return handles;
    }
}
