package io.tessera.executor.ipc;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.ipc.Export.Kind;
import io.tessera.executor.ipc.Exports.Opening;
import io.tessera.executor.memory.ClientMemory;
import io.tessera.executor.memory.MemoryRange;
import io.tessera.executor.memory.MemoryRange.Origin;
import io.tessera.executor.memory.TenantMemory;
import io.tessera.executor.window.WindowAccess;
import io.tessera.protocol.relay.RelaySegment;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Objects that one client has exported, and objects of others that it has opened. If the owner ends an object that others have open, it ends when the last of
 * them closes it. One owner thread.
 */
public final class ClientExports {
    private static final Logger LOG = LoggerFactory.getLogger(ClientExports.class);

    private final Exports exports;
    private final String tenant;
    private final WindowAccess window;
    private final ClientMemory memory;
    private final TenantMemory account;
    private final DriverCalls driver;
    private final RelaySegment segment;
    private final Map<Long, Export> ownMemory = new HashMap<>();
    private final Map<Long, Export> ownEvents = new HashMap<>();
    private final Map<Long, Opened> openMemory = new HashMap<>();
    private final Map<Long, Export> openEvents = new HashMap<>();

    /** Memory of another client, and how often it was opened. */
    private static final class Opened {
        private final Export export;
        private int times = 1;

        private Opened(Export export) {
            this.export = export;
        }
    }

    /**
     * Creates an instance without exports.
     *
     * @param tenant the tenant whose clients may exchange objects
     * @param memory the client's memory, to which opened memory is added
     */
    public ClientExports(Exports exports, String tenant, WindowAccess window, ClientMemory memory, TenantMemory account,
            DriverCalls driver, RelaySegment segment) {
        this.exports = exports;
        this.tenant = tenant;
        this.window = window;
        this.memory = memory;
        this.account = account;
        this.driver = driver;
        this.segment = segment;
    }

    /** Writes the handle of an allocation of the client, the same one each time. Returns the CUresult. */
    public int exportMemory(long address, MemorySegment handle) {
        MemoryRange range = memory.beginningAt(address).filter(each -> each.origin() == Origin.ALLOCATED).orElse(null);
        if (range == null) {
            return CudaResult.INVALID_VALUE; // CUDA's result for pools and mappings
        }
        memory.exported();
        exports.write(ownMemory.computeIfAbsent(address,
                _ -> exports.add(this, tenant, Kind.MEMORY, address, range.bytes())), handle);
        return CudaResult.SUCCESS;
    }

    /** Writes the handle of an event of the client, by the driver's handle. Returns the CUresult. */
    public int exportEvent(long event, MemorySegment handle) {
        if (openEvents.containsKey(event)) {
            return CudaResult.INVALID_VALUE;
        }
        exports.write(ownEvents.computeIfAbsent(event, _ -> exports.add(this, tenant, Kind.EVENT, event, 0)), handle);
        return CudaResult.SUCCESS;
    }

    /** Opens memory in a context of the client. Returns its address, or minus the CUresult. */
    public long openMemory(MemorySegment handle, int context) {
        Export known = exports.find(handle);
        boolean again = known != null && openMemory.containsKey(known.value);
        Opening opening = open(Kind.MEMORY, handle, again);
        if (opening.opened() == null) {
            return -opening.result();
        }
        Export export = opening.opened();
        if (again) {
            openMemory.get(export.value).times++;
        } else {
            openMemory.put(export.value, new Opened(export));
            memory.add(new MemoryRange(export.value, export.bytes, Origin.OPENED, context, 0, 0));
        }
        return export.value;
    }

    /** Opens an event. Returns the driver's handle, or minus the CUresult. */
    public long openEvent(MemorySegment handle) {
        Export known = exports.find(handle);
        boolean again = known != null && openEvents.containsKey(known.value);
        Opening opening = open(Kind.EVENT, handle, again);
        if (opening.opened() == null) {
            return -opening.result();
        }
        openEvents.put(opening.opened().value, opening.opened());
        return opening.opened().value;
    }

    private Opening open(Kind kind, MemorySegment handle, boolean again) {
        Opening opening = exports.open(this, tenant, kind, handle, again);
        if (!opening.why().isEmpty()) {
            segment.notice(opening.why());
        }
        return opening;
    }

    /** Closes memory once. Returns SUCCESS if that was the last time, NOT_READY if it is open still, else another CUresult. */
    public int closeMemory(long address) {
        Opened opened = openMemory.get(address);
        if (opened == null) {
            return CudaResult.INVALID_VALUE;
        }
        opened.times--;
        if (opened.times > 0) {
            return CudaResult.NOT_READY;
        }
        closeWholly(address);
        return CudaResult.SUCCESS;
    }

    /** Closes memory however often it was opened; nothing happens if it is not open. */
    public void closeWholly(long address) {
        Opened opened = openMemory.remove(address);
        if (opened == null) {
            return;
        }
        memory.beginningAt(address).ifPresent(memory::remove);
        if (exports.close(opened.export)) {
            // Work of either client may still use it, for example if the program has freed it too early.
            if (window.whenQuiet(() -> CudaResult.SUCCESS) == CudaResult.SUCCESS) {
                window.free(address);
            } else {
                LOG.warn("memory that was exported stays until its tenant ends: its work did not pause");
            }
            account.giveBack(opened.export.charged);
        }
    }

    /**
     * Frees exported memory of the client.
     *
     * @return whether others have it open: then it stays, and is charged to the tenant, until they close it
     */
    public boolean keeps(MemoryRange range) {
        Export export = ownMemory.remove(range.address());
        if (export == null || !exports.end(export, range.charged())) {
            return false;
        }
        account.keep(range.charged());
        return true;
    }

    /** The client has destroyed an event, by the driver's handle: the driver destroys it for its last owner. */
    public int destroyEvent(long event) {
        Export opened = openEvents.remove(event);
        Export own = ownEvents.remove(event);
        boolean kept = opened != null ? !exports.close(opened) : own != null && exports.end(own, 0);
        return kept ? CudaResult.SUCCESS : driver.call(DriverEntry.cuEventDestroy_v2, event);
    }
}
