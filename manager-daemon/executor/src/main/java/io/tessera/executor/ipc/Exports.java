package io.tessera.executor.ipc;

import io.tessera.device.CudaResult;
import io.tessera.executor.ipc.Export.Key;
import io.tessera.executor.ipc.Export.Kind;
import io.tessera.protocol.WireTypes;
import io.tessera.protocol.relay.RelayLayout;
import io.tessera.protocol.segment.SegmentLayout;
import java.lang.foreign.MemorySegment;
import java.security.SecureRandom;
import java.util.HashMap;
import java.util.Map;

/** All current exports of an executor, by unguessable keys, with the clients that have them open. Thread-safe; never blocks. */
public final class Exports {
    private static final long MAGIC = SegmentLayout.offset(RelayLayout.IPC_HANDLE, "magic");
    private static final long EXECUTOR = SegmentLayout.offset(RelayLayout.IPC_HANDLE, "executor");
    private static final long KEY = SegmentLayout.offset(RelayLayout.IPC_HANDLE, "key");
    private static final long BYTES = SegmentLayout.offset(RelayLayout.IPC_HANDLE, "bytes");

    private final SecureRandom random = new SecureRandom();
    /** Distinguishes handles of this executor from those of other devices' executors, and of executors before a restart. */
    private final long executor = random.nextLong();
    private final Map<Key, Export> all = new HashMap<>();

    /**
     * Result of opening a handle.
     *
     * @param result  CUresult
     * @param why     explanation for the program's user where the result is not SUCCESS; empty: the result says all
     * @param opened  the exported object; null unless SUCCESS
     */
    record Opening(int result, String why, Export opened) {
        private static Opening refused(int result, String why) {
            return new Opening(result, why, null);
        }
    }

    /**
     * Adds an object that a client exports.
     *
     * @param owner the client, by identity
     */
    synchronized Export add(Object owner, String tenant, Kind kind, long value, long bytes) {
        Export export = new Export(owner, tenant, kind, value, bytes, new Key(random.nextLong(), random.nextLong()));
        all.put(export.key, export);
        return export;
    }

    /** Writes the 64 bytes that programs pass on. */
    void write(Export export, MemorySegment handle) {
        handle.asSlice(0, RelayLayout.IPC_HANDLE.byteSize()).fill((byte) 0);
        handle.set(WireTypes.U64, MAGIC, RelayLayout.IPC_MAGIC);
        handle.set(WireTypes.U64, EXECUTOR, executor);
        handle.set(WireTypes.U64, KEY, export.key.first());
        handle.set(WireTypes.U64, KEY + Long.BYTES, export.key.second());
        handle.set(WireTypes.U64, BYTES, export.bytes);
    }

    /** Opens the object of a handle for a client; each client is counted once, however often it opens it. */
    synchronized Opening open(Object opener, String tenant, Kind kind, MemorySegment handle, boolean again) {
        if (handle.get(WireTypes.U64, MAGIC) != RelayLayout.IPC_MAGIC) {
            return Opening.refused(CudaResult.INVALID_VALUE,
                    "an IPC handle of a program that does not share by space cannot be opened by one that does; run both programs with the same --share");
        }
        if (handle.get(WireTypes.U64, EXECUTOR) != executor) {
            return Opening.refused(CudaResult.NOT_SUPPORTED,
                    "an IPC handle of another device, or of before the executor was restarted, cannot be opened; use one device in both programs,"
                            + " and exchange handles again");
        }
        Export found = all.get(new Key(handle.get(WireTypes.U64, KEY), handle.get(WireTypes.U64, KEY + Long.BYTES)));
        if (found == null || found.kind != kind || found.ended || found.bytes != handle.get(WireTypes.U64, BYTES)) {
            return Opening.refused(CudaResult.INVALID_HANDLE, "");
        }
        if (!found.tenant.equals(tenant)) {
            return Opening.refused(CudaResult.NOT_SUPPORTED, "an IPC handle of another tenant cannot be opened: programs that"
                    + " exchange memory need one --name; run both with it");
        }
        if (found.owner == opener) {
            // CUDA's result for a handle in the process that has exported it.
            return Opening.refused(CudaResult.INVALID_CONTEXT, "");
        }
        found.openers += again ? 0 : 1;
        return new Opening(CudaResult.SUCCESS, "", found);
    }

    /** Returns the object of a handle, if it is a valid one of this executor; else null. */
    synchronized Export find(MemorySegment handle) {
        return all.get(new Key(handle.get(WireTypes.U64, KEY), handle.get(WireTypes.U64, KEY + Long.BYTES)));
    }

    /**
     * Ends an export of the owner: it cannot be opened any more.
     *
     * @param charged bytes that are charged to the tenant as long as a client has it open
     * @return whether a client has it open, and ends it in the owner's place
     */
    synchronized boolean end(Export export, long charged) {
        export.ended = true;
        export.charged = charged;
        if (export.openers == 0) {
            all.remove(export.key);
        }
        return export.openers > 0;
    }

    /** Closes the export for one client. Returns whether that was the last one with an object that its owner has ended. */
    synchronized boolean close(Export export) {
        export.openers--;
        boolean last = export.ended && export.openers == 0;
        if (last) {
            all.remove(export.key);
        }
        return last;
    }
}
