package io.tessera.executor.call.graph;

import io.tessera.device.CudaEnums.LaunchAttributeId;
import io.tessera.device.CudaLayouts.CUlaunchAttributeValue;
import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.call.RejectedException;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.fence.ClientFences;
import io.tessera.executor.fence.ClientKernels;
import io.tessera.executor.fence.program.ProgramRefusedException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashSet;
import java.util.Set;

/**
 * Tracks which nodes of graphs run their kernels in clusters, so that no such node gets a kernel that is not prepared for clusters. The driver reports a node's
 * cluster. For executable graphs, a node counts if it ever had one, because the executable graph may have been made then. One owner thread.
 */
final class ClusterNodes {
    private final DriverCalls driver;
    private final ClientFences fences;
    private final MemorySegment value = Arena.ofAuto().allocate(CUlaunchAttributeValue.BYTES, Long.BYTES);
    /** By the client's handle. */
    private final Set<Long> once = new HashSet<>();
    private boolean updated;
    private boolean changed;

    ClusterNodes(DriverCalls driver, ClientFences fences) {
        this.driver = driver;
        this.fences = fences;
    }

    static boolean makes(long attribute) {
        return attribute == LaunchAttributeId.CLUSTER_DIMENSION || attribute == LaunchAttributeId.PREFERRED_CLUSTER_DIMENSION;
    }

    private boolean has(long node) {
        return has(node, LaunchAttributeId.CLUSTER_DIMENSION) || has(node, LaunchAttributeId.PREFERRED_CLUSTER_DIMENSION);
    }

    private boolean has(long node, int attribute) {
        value.fill((byte) 0);
        int result = driver.call(DriverEntry.cuGraphKernelNodeGetAttribute, node, attribute, value.address());
        boolean one = true;
        for (int i = 0; i < 3; i++) {
            one &= value.getAtIndex(ValueLayout.JAVA_INT, i) >>> 1 == 0;
        }
        return result == CudaResult.SUCCESS && !one;
    }

    /** Returns the refusal of a node that would run a kernel in clusters although the kernel may not be prepared for them. */
    static RejectedException noClusters() {
        return RejectedException.unsupported("a cluster for a graph node whose kernel is not compiled for clusters (__cluster_dims__)");
    }

    /** Records that a node's attributes of clusters are about to change. */
    void changes(long clientHandle, long node) {
        changed = true;
        if (has(node)) {
            once.add(clientHandle);
        }
    }

    /** Records that an executable graph was updated from another graph: its own graph no longer has the kernels of its nodes. */
    void updates() {
        updated = true;
    }

    /**
     * Checks a node that gets the attributes of another one.
     *
     * @throws RejectedException if it would run a kernel in clusters that may not be prepared for them
     */
    void copies(long from) throws RejectedException {
        if (has(from) && !fences.allKnowClusters()) {
            throw noClusters();
        }
    }

    /**
     * Checks the new kernel of a node.
     *
     * @param executable whether the node is that of an executable graph
     * @param kernel     the client's handle
     * @param function   the driver's function
     * @throws RejectedException if the node runs in clusters, and the kernel is not prepared for them
     */
    void kernel(long clientHandle, long node, boolean executable, long kernel, long function) throws RejectedException {
        ClientKernels kernels = fences.kernels();
        try {
            if (kernel == 0 || function == 0 || kernels.knowsClusters(kernel, function)) {
                return;
            }
        } catch (ProgramRefusedException e) {
            throw RejectedException.of(e);
        }
        if (executable && (once.contains(clientHandle) || updated && (changed || kernels.hasClusters())) || has(node)) {
            throw noClusters();
        }
    }
}
