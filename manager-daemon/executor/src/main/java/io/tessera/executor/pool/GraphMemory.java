package io.tessera.executor.pool;

import io.tessera.device.CudaEnums.GraphMemoryAttribute;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Memory of the graphs of one client. Its address is in the tenant's window, and fixed when its node is made. It belongs to the graph and to every executable
 * graph made from it, and ends with the last of them. If a launch has allocated it and it was not freed, it then becomes the program's until the program frees
 * it. In the driver, its nodes are empty nodes. Graphs, executable graphs and nodes are named by the driver's handles. One owner thread.
 */
public final class GraphMemory {
    private final ClientPools pools;
    private final Owner owner;
    private final Map<Long, Set<Piece>> ofGraph = new HashMap<>();
    private final Map<Long, Set<Piece>> ofExecutable = new HashMap<>();
    private final Map<Long, Piece> byAddress = new HashMap<>();
    private final Map<Long, Piece> allocationNodes = new HashMap<>();
    private final Map<Long, Piece> freeNodes = new HashMap<>();
    private final Set<Long> freesItself = new HashSet<>();
    private long usedBytes;
    private long usedHigh;
    private long reservedBytes;
    private long reservedHigh;

    /** Receives changes of ownership, for the account of the client's memory. */
    public interface Owner {
        /** Called when memory is no longer a graph's: it is the program's until the program frees it. */
        void left(long address);

        /** Called when memory was given back. */
        void gone(long address);
    }

    /** Memory of one allocation node. */
    private static final class Piece {
        final long address;
        final long bytes;
        final byte[] parameters;
        /** Nodes that allocate or free the memory. */
        final Set<Long> nodes = new HashSet<>();
        int holders;
        boolean live;
        boolean freedInGraph;

        Piece(long address, long bytes, byte[] parameters) {
            this.address = address;
            this.bytes = bytes;
            this.parameters = parameters;
        }
    }

    /** Creates an instance in which no graph has memory. */
    public GraphMemory(ClientPools pools, Owner owner) {
        this.pools = pools;
        this.owner = owner;
    }

    /** Returns whether any graph has memory. */
    public boolean isEmpty() {
        return byAddress.isEmpty();
    }

    /**
     * Allocates memory for a node that is about to be made.
     *
     * @return its address; 0: there is none
     */
    public long allocate(long bytes) {
        return pools.allocate(bytes);
    }

    /** Gives memory back after its node could not be made. */
    public void abandon(long address) {
        pools.free(address);
    }

    /**
     * Records a node that allocates memory.
     *
     * @param parameters CUDA_MEM_ALLOC_NODE_PARAMS as the program gave it, with the address
     */
    public void allocates(long graph, long node, long address, long bytes, byte[] parameters) {
        Piece piece = new Piece(address, bytes, parameters.clone());
        byAddress.put(address, piece);
        allocationNodes.put(node, piece);
        piece.nodes.add(node);
        hold(ofGraph, graph, piece);
        reservedBytes += bytes;
        reservedHigh = Math.max(reservedHigh, reservedBytes);
    }

    /** Returns whether memory of a graph begins at an address. */
    public boolean isOfGraph(long address) {
        return byAddress.containsKey(address);
    }

    /** Records a node that frees memory of a graph. */
    public void frees(long node, long address) {
        Piece piece = byAddress.get(address);
        freeNodes.put(node, piece);
        piece.nodes.add(node);
        piece.freedInGraph = true;
    }

    /** Returns CUDA_MEM_ALLOC_NODE_PARAMS of a node; null: it allocates nothing. */
    public byte[] allocationOf(long node) {
        Piece piece = allocationNodes.get(node);
        return piece == null ? null : piece.parameters.clone();
    }

    /** Returns the address that a node frees; 0: it frees nothing. */
    public long freedBy(long node) {
        Piece piece = freeNodes.get(node);
        return piece == null ? 0 : piece.address;
    }

    /** Records that a node was destroyed. */
    public void nodeGone(long node) {
        for (Piece piece : new Piece[] {allocationNodes.remove(node), freeNodes.remove(node)}) {
            if (piece != null) {
                piece.nodes.remove(node);
            }
        }
    }

    private static void hold(Map<Long, Set<Piece>> holders, long holder, Piece piece) {
        if (holders.computeIfAbsent(holder, _ -> new LinkedHashSet<>()).add(piece)) {
            piece.holders++;
        }
    }

    /** Records that a graph also has the memory of another one: a copy of it, or a child. */
    public void partOf(long part, long whole) {
        for (Piece piece : List.copyOf(ofGraph.getOrDefault(part, Set.of()))) {
            hold(ofGraph, whole, piece);
        }
    }

    /** Records that an executable graph was made from a graph, or updated from it. */
    public void executable(long executable, long graph, boolean freesOnLaunch) {
        for (Piece piece : ofGraph.getOrDefault(graph, Set.of())) {
            hold(ofExecutable, executable, piece);
        }
        if (freesOnLaunch) {
            freesItself.add(executable);
        }
    }

    /** Returns whether an executable graph may be launched: it must not allocate memory that is still allocated, unless it frees that first. */
    public boolean mayLaunch(long executable) {
        return freesItself.contains(executable)
                || ofExecutable.getOrDefault(executable, Set.of()).stream().noneMatch(piece -> piece.live);
    }

    /** Records that a launch was submitted. */
    public void launched(long executable) {
        for (Piece piece : ofExecutable.getOrDefault(executable, Set.of())) {
            live(piece, !piece.freedInGraph);
        }
    }

    private void live(Piece piece, boolean on) {
        if (piece.live != on) {
            piece.live = on;
            usedBytes += on ? piece.bytes : -piece.bytes;
            usedHigh = Math.max(usedHigh, usedBytes);
        }
    }

    /** Frees memory of a graph for the program. Returns false if it is not allocated. */
    public boolean free(long address) {
        Piece piece = byAddress.get(address);
        if (piece == null || !piece.live) {
            return false;
        }
        live(piece, false);
        return true;
    }

    /** Records that a graph has ended. */
    public void graphGone(long graph) {
        release(ofGraph.remove(graph));
    }

    /** Records that an executable graph has ended. */
    public void executableGone(long executable) {
        freesItself.remove(executable);
        release(ofExecutable.remove(executable));
    }

    private void release(Set<Piece> pieces) {
        for (Piece piece : pieces == null ? List.<Piece>of() : new ArrayList<>(pieces)) {
            if (--piece.holders > 0) {
                continue;
            }
            byAddress.remove(piece.address);
            piece.nodes.forEach(allocationNodes::remove);
            piece.nodes.forEach(freeNodes::remove);
            reservedBytes -= piece.bytes;
            if (piece.live) {
                live(piece, false);
                owner.left(piece.address);
            } else {
                owner.gone(piece.address);
                pools.free(piece.address);
            }
        }
    }

    /** Returns a CUgraphMem_attribute: used now and at most, reserved now and at most. */
    public long attribute(int attribute) {
        return switch (attribute) {
            case GraphMemoryAttribute.USED_MEM_CURRENT -> usedBytes;
            case GraphMemoryAttribute.USED_MEM_HIGH -> usedHigh;
            case GraphMemoryAttribute.RESERVED_MEM_CURRENT -> reservedBytes;
            case GraphMemoryAttribute.RESERVED_MEM_HIGH -> reservedHigh;
            default -> throw new IllegalArgumentException("no attribute " + attribute);
        };
    }

    /** Resets a high-water mark; returns false for any other attribute or value. */
    public boolean attribute(int attribute, long value) {
        if (value != 0 || attribute != GraphMemoryAttribute.USED_MEM_HIGH && attribute != GraphMemoryAttribute.RESERVED_MEM_HIGH) {
            return false;
        }
        usedHigh = attribute == GraphMemoryAttribute.USED_MEM_HIGH ? usedBytes : usedHigh;
        reservedHigh = attribute == GraphMemoryAttribute.RESERVED_MEM_HIGH ? reservedBytes : reservedHigh;
        return true;
    }
}
