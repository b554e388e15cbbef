package io.tessera.executor.handle;

import io.tessera.device.CudaResult;
import io.tessera.device.HandleKind;
import io.tessera.executor.driver.FatalErrors;
import io.tessera.protocol.relay.RelayHandle;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.IntSupplier;

/**
 * Objects that a client has ended although its graphs, or references of its modules, may still use them. Drivers do not count the uses by nodes and references,
 * so a graph that is launched later would access memory that another client may have by then. Such an object is ended when no graph of the client is left and
 * its work is done; the client's handle becomes invalid at once. One owner thread.
 */
public final class DeferredReleases {
    /** Maximum number of waiting ends for one client; beyond it, calls that end an object fail. */
    static final int MOST = 4096;

    private static final List<HandleKind> KINDS_OF_CODE = List.of(HandleKind.FUNCTION, HandleKind.KERNEL, HandleKind.MODULE, HandleKind.LIBRARY);

    private final Function<HandleKind, HandleTable> tables;
    private BooleanSupplier capturing = () -> false;
    private Consumer<String> notice = _ -> {};
    /** Objects that nodes of graphs have named since the client last had no graphs: values in the client's tables, the driver's arrays, or addresses. */
    private final Set<Long> named = new HashSet<>();
    /** By the client's handle of a texture or surface reference: the driver's array. */
    private final Map<Long, Long> bound = new HashMap<>();
    private final List<Held> waiting = new ArrayList<>();
    private boolean naming;
    private boolean due;
    private boolean over;

    private record Held(Set<Long> keys, IntSupplier end) {
    }

    /** Creates an instance for a client whose handles are in these tables. */
    DeferredReleases(Function<HandleKind, HandleTable> tables) {
        this.tables = tables;
    }

    /** Sets the test whether streams of the client take part in a capture. */
    public void capturing(BooleanSupplier isAny) {
        capturing = isAny;
    }

    /** Sets the receiver of lines for the program about refusals. */
    public void notices(Consumer<String> lines) {
        notice = lines;
    }

    /** Sets whether the objects that the following calls name go into graphs. */
    public void naming(boolean inGraphs) {
        naming = inGraphs;
    }

    /** Records that a call names an object; see {@link #naming}. */
    public void names(long key) {
        if (naming) {
            named.add(key);
        }
    }

    /** Records that a call names a function, a kernel, or a variable's module or library, and with it each of its owners. */
    public void namesCode(long clientHandle) {
        for (long parent = naming ? clientHandle : 0; parent != 0;) {
            int type = RelayHandle.type(parent);
            HandleKind kind = KINDS_OF_CODE.stream().filter(one -> one.number() == type).findFirst().orElse(null);
            if (kind == null) {
                return;
            }
            names(tables.apply(kind).value(parent));
            parent = tables.apply(kind).parent(parent);
        }
    }

    /** Returns whether the objects that calls name are recorded now. If not, callers need not collect them. */
    public boolean isNaming() {
        return naming;
    }

    /** Records that a texture or surface reference has an array from now on; 0: none. Graphs made before may still use its former array. */
    public void bind(long reference, long array) {
        Long before = array == 0 ? bound.remove(reference) : bound.put(reference, array);
        if (before != null && hasGraphs()) {
            named.add(before);
        }
        due = true;
    }

    private boolean hasGraphs() {
        return tables.apply(HandleKind.GRAPH).size() + tables.apply(HandleKind.GRAPH_EXEC).size() > 0 || capturing.getAsBoolean();
    }

    private boolean holds(long key) {
        if (over) {
            return false;
        }
        boolean graphs = hasGraphs();
        if (!graphs) {
            named.clear();
        }
        forgetReferences(graphs);
        return named.contains(key) || bound.containsValue(key);
    }

    /** Removes references that ended with their module. The module's end may itself be deferred, for graphs whose kernels read the arrays. */
    private void forgetReferences(boolean graphs) {
        for (Iterator<Map.Entry<Long, Long>> i = bound.entrySet().iterator(); i.hasNext();) {
            Map.Entry<Long, Long> one = i.next();
            if (tables.apply(HandleKind.TEXREF).value(one.getKey()) == HandleTable.NONE
                    && tables.apply(HandleKind.SURFREF).value(one.getKey()) == HandleTable.NONE) {
                i.remove();
                if (graphs) {
                    named.add(one.getValue());
                }
            }
        }
    }

    /**
     * Ends an object, now or when it is no longer used.
     *
     * @param keys values that name it
     * @param end  ends it; called by the owner thread; returns a CUresult
     * @return a CUresult; OUT_OF_MEMORY if too many ends wait already: then nothing has ended
     */
    public int end(Set<Long> keys, IntSupplier end) {
        if (keys.stream().noneMatch(this::holds)) {
            return end.getAsInt();
        }
        if (waiting.size() >= MOST) {
            notice.accept("modules, arrays, textures, events or pinned memory cannot be ended: " + MOST
                    + " of them that graphs may still use wait for that; "
                    + "destroy graphs that are not needed any more");
            return CudaResult.OUT_OF_MEMORY;
        }
        waiting.add(new Held(keys, end));
        due = true; // open captures end later, together with their context
        return CudaResult.SUCCESS;
    }

    /** Records that graphs, modules or references have ended: ends that wait for this may be due. */
    public void ended(HandleKind kind) {
        due |= kind == HandleKind.GRAPH || kind == HandleKind.GRAPH_EXEC || kind == HandleKind.MODULE || kind == HandleKind.LIBRARY
                || kind == HandleKind.TEXREF;
    }

    /** Records that a capture has ended, and possibly its graph. */
    public void captureEnded() {
        due = true;
    }

    /** Returns whether {@link #release} may have something to do, once the client's work is done. */
    public boolean isDue() {
        return due && !waiting.isEmpty();
    }

    /**
     * Makes all ends due, when the client has left and its work is done: its graphs end first, its open captures are invalid, and no end has to wait any more.
     */
    public void close() {
        over = true;
    }

    /** Ends what nothing uses any more; the client's streams are quiet. Returns SUCCESS or the first fatal CUresult. */
    public int release() {
        due = false;
        int result = CudaResult.SUCCESS;
        for (Held held : List.copyOf(waiting)) {
            if (held.keys.stream().noneMatch(this::holds)) {
                waiting.remove(held);
                int one = held.end.getAsInt();
                result = result == CudaResult.SUCCESS && FatalErrors.isFatal(one) ? one : result;
            }
        }
        return result;
    }
}
