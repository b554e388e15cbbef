package io.tessera.executor.call;

import io.tessera.device.HandleKind;
import io.tessera.executor.driver.CudaResult;
import io.tessera.executor.stream.ClientContext;
import io.tessera.protocol.WireTypes;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;

/** Textures and surfaces: the memory that they read. Layouts are cuda.h's {@code CUDA_RESOURCE_DESC}. One owner thread. */
final class ResourceCalls {
    private static final String TYPE = "CUDA_RESOURCE_DESC";
    private static final int ARRAY = 0;
    private static final int MIPMAP = 1;
    private static final int LINEAR = 2;
    private static final int PITCH_2D = 3;
    private static final int ADDRESS = 8;
    private static final int FORMAT = 16;
    private static final int CHANNELS = 20;
    private static final int SIZE = 24;
    private static final int HEIGHT = 32;
    private static final int PITCH = 40;

    private final ClientState client;
    private final StructureTranslation structures;
    private final AddressCheck addresses;
    private final Endings endings;

    ResourceCalls(ClientState client, StructureTranslation structures, AddressCheck addresses, Endings endings) {
        this.endings = endings;
        this.client = client;
        this.structures = structures;
        this.addresses = addresses;
    }

    /** Enters the calls. */
    void register(Map<String, SpecialCall> calls) {
        calls.put("cuTexObjectCreate", this::create);
        calls.put("cuSurfObjectCreate", this::create);
        calls.put("cuTexObjectDestroy", ends(HandleKind.TEXTURE));
        calls.put("cuSurfObjectDestroy", ends(HandleKind.SURFACE));
        calls.put("cuArrayDestroy", ends(HandleKind.ARRAY));
        calls.put("cuMipmappedArrayDestroy", ends(HandleKind.MIPMAP));
        for (String api : List.of("cuTexRefSetArray", "cuTexRefSetMipmappedArray", "cuSurfRefSetArray")) {
            calls.put(api, this::bind);
        }
        for (String api : List.of("cuTexRefSetAddress", "cuTexRefSetAddress2D")) {
            calls.put(api, this::bindMemory);
        }
        calls.put("cuTexObjectGetResourceDesc", this::describe);
        calls.put("cuSurfObjectGetResourceDesc", this::describe);
    }

    /** Parameters: object, resource, and for textures how it is read. */
    private int create(CallFrame frame, ClientContext context) throws RejectedException {
        MemorySegment resource = frame.required(1);
        structures.in(resource, TYPE);
        int type = resource.get(WireTypes.U32, 0);
        if (type == LINEAR) {
            addresses.own(resource.get(WireTypes.U64, ADDRESS), resource.get(WireTypes.U64, SIZE));
        } else if (type == PITCH_2D) {
            long width = resource.get(WireTypes.U64, SIZE);
            long bytes = ArrayFormat.elementBytes(resource.get(WireTypes.U32, FORMAT),
                    resource.get(WireTypes.U32, CHANNELS));
            if (width < 0 || width > Integer.MAX_VALUE) {
                throw CallFrame.malformed("a texture " + width + " elements wide");
            }
            addresses.own(resource.get(WireTypes.U64, ADDRESS), AddressCheck.span(width * bytes,
                    resource.get(WireTypes.U64, HEIGHT), resource.get(WireTypes.U64, PITCH)));
        }
        int result = client.driver().call(frame.plan().entry(), frame.slots());
        if (result != CudaResult.SUCCESS) {
            return result;
        }
        long object = frame.data(0).get(WireTypes.U64, 0);
        if (type == ARRAY || type == MIPMAP) {
            endings.made(object, resource.get(WireTypes.U64, ADDRESS));
        }
        return client.fences().texture(object, true);
    }

    /** Parameter: what ends. */
    private SpecialCall ends(HandleKind kind) {
        return (frame, context) -> endings.end(kind, frame.slot(0));
    }

    /** Parameters: reference, array. */
    private int bind(CallFrame frame, ClientContext context) {
        int result = client.driver().call(frame.plan().entry(), frame.slots());
        if (result == CudaResult.SUCCESS) {
            client.handles().holdovers().bind(frame.said(0), frame.slot(1));
        }
        return result;
    }

    /** A reference reads memory from now on. */
    private int bindMemory(CallFrame frame, ClientContext context) {
        int result = client.driver().call(frame.plan().entry(), frame.slots());
        if (result == CudaResult.SUCCESS) {
            client.handles().holdovers().bind(frame.said(frame.handleParameter(HandleKind.TEXREF)), 0);
        }
        return result;
    }

    /** Parameters: resource, object. */
    private int describe(CallFrame frame, ClientContext context) throws RejectedException {
        frame.want(0, 144);
        int result = client.driver().call(frame.plan().entry(), frame.slots());
        if (result == CudaResult.SUCCESS) {
            structures.out(frame.data(0), TYPE, 0, context == null ? 0 : context.number());
        } else {
            frame.data(0).fill((byte) 0);
        }
        return result;
    }
}
