package io.tessera.executor.call;

import io.tessera.device.CudaEnums.LaunchAttributeId;
import io.tessera.device.CudaLayouts.CUaccessPolicyWindow;
import io.tessera.device.CudaResult;
import io.tessera.device.HandleKind;
import io.tessera.device.StructureDescription;
import io.tessera.device.StructureDescription.Field;
import io.tessera.device.StructureDescriptions;
import io.tessera.executor.driver.DeviceContext;
import io.tessera.executor.handle.ClientHandles;
import io.tessera.executor.handle.HandleTable;
import io.tessera.protocol.WireTypes;
import java.lang.foreign.MemorySegment;

/**
 * Translates the contents of structures in place: handles and devices become the driver's, addresses must be the client's, and pointers and
 * functions are refused. One owner thread.
 */
public final class StructureTranslation {
    private final DeviceContext device;
    private final ClientHandles handles;
    private final AddressCheck addresses;
    private final HandleResults results;

    /** Creates an instance for one client. */
    public StructureTranslation(DeviceContext device, ClientHandles handles, AddressCheck addresses, HandleResults results) {
        this.device = device;
        this.handles = handles;
        this.addresses = addresses;
        this.results = results;
    }

    /**
     * Translates a structure that goes to the driver.
     *
     * @param type the C type
     * @throws RejectedException if something in it does not belong to the client
     */
    public void in(MemorySegment structure, String type) throws RejectedException {
        StructureDescription description = StructureDescriptions.of(type).orElse(null);
        if (description == null) {
            return;
        }
        if (structure.byteSize() < description.bytes()) {
            throw CallFrame.malformed("a " + type + " of " + structure.byteSize() + " bytes");
        }
        for (Field field : description.fields()) {
            if (field.applies(structure)) {
                in(structure, field);
            }
        }
    }

    private void in(MemorySegment structure, Field field) throws RejectedException {
        int at = field.offset();
        switch (field.kind()) {
            case StructureDescription.Handle handle -> structure.set(WireTypes.U64, at,
                    handle(handle.kind(), structure.get(WireTypes.U64, at)));
            case StructureDescription.Device _ -> structure.set(WireTypes.U32, at, device.device());
            case StructureDescription.Address _ -> {
                if (structure.get(WireTypes.U64, at) != 0) {
                    addresses.own(structure.get(WireTypes.U64, at), 1);
                }
            }
            case StructureDescription.Function _,StructureDescription.Pointer _ -> {
                if (structure.get(WireTypes.U64, at) != 0) {
                    throw CallFrame.malformed("a pointer in a structure: " + field.path());
                }
            }
        }
    }

    /**
     * Translates the value of an attribute of streams and kernel nodes ({@code CUlaunchAttributeValue}).
     *
     * @throws RejectedException if memory in it does not belong to the client, or it has handles, which no such attribute needs
     */
    public void attribute(int attribute, MemorySegment value) throws RejectedException {
        switch (attribute) {
            case LaunchAttributeId.ACCESS_POLICY_WINDOW -> {
                if (value.get(WireTypes.U64, CUaccessPolicyWindow.base_ptr) != 0) {
                    addresses.own(value.get(WireTypes.U64, CUaccessPolicyWindow.base_ptr), value.get(WireTypes.U64, CUaccessPolicyWindow.num_bytes));
                }
            }
            case LaunchAttributeId.PROGRAMMATIC_EVENT, LaunchAttributeId.LAUNCH_COMPLETION_EVENT, LaunchAttributeId.DEVICE_UPDATABLE_KERNEL_NODE ->
                throw RejectedException
                        .unsupported("attribute " + attribute + " of a stream or kernel node (an event, or a node that the device may change)");
            default -> {}
        }
    }

    private long handle(HandleKind kind, long clientHandle) throws RejectedException {
        if (kind == HandleKind.CONTEXT) {
            return device.handle();
        }
        if (clientHandle == 0) {
            return 0;
        }
        long value = kind == HandleKind.FOREIGN ? HandleTable.NONE : handles.value(kind, clientHandle);
        if (value == HandleTable.NONE) {
            throw new RejectedException(CudaResult.INVALID_HANDLE, "no such " + kind + " of the client");
        }
        if (kind == HandleKind.EVENT) {
            handles.deferredReleases().names(value); // nodes do not keep their events
        }
        return value;
    }

    /** Translates a structure that comes from the driver: its handles become the client's, and its pointers 0. */
    public void out(MemorySegment structure, String type, long parent, int context) {
        StructureDescription description = StructureDescriptions.of(type).orElse(null);
        if (description == null) {
            return;
        }
        for (Field field : description.fields()) {
            if (!field.applies(structure)) {
                continue;
            }
            int at = field.offset();
            switch (field.kind()) {
                case StructureDescription.Handle handle -> structure.set(WireTypes.U64, at,
                        handle.kind() == HandleKind.CONTEXT || handle.kind() == HandleKind.FOREIGN ? 0
                                : results.named(handle.kind(), structure.get(WireTypes.U64, at), parent, context));
                case StructureDescription.Function _,StructureDescription.Pointer _ ->
                    structure.set(WireTypes.U64, at, 0);
                case StructureDescription.Device _,StructureDescription.Address _ -> {}
            }
        }
    }
}
