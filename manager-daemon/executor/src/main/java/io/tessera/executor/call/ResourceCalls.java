package io.tessera.executor.call;

import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.CudaResult;
import io.tessera.executor.stream.ClientContext;
import io.tessera.protocol.WireTypes;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

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
    private static final int MOST_LEVELS = 32;

    private final ClientState client;
    private final StructureTranslation structures;
    private final AddressCheck addresses;
    /** Textures and surfaces of arrays, and the driver's arrays of which they are; and the other way round. */
    private final Map<Long, Long> arrays = new HashMap<>();
    private final Map<Long, Set<Long>> objects = new HashMap<>();

    ResourceCalls(ClientState client, StructureTranslation structures, AddressCheck addresses) {
        this.client = client;
        this.structures = structures;
        this.addresses = addresses;
    }

    /** Enters the calls. */
    void register(Map<String, SpecialCall> calls) {
        calls.put("cuTexObjectCreate", this::create);
        calls.put("cuSurfObjectCreate", this::create);
        calls.put("cuTexObjectDestroy", this::destroy);
        calls.put("cuSurfObjectDestroy", this::destroy);
        calls.put("cuArrayDestroy", this::arrayEnds);
        calls.put("cuMipmappedArrayDestroy", this::mipmapEnds);
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
            long array = resource.get(WireTypes.U64, ADDRESS);
            arrays.put(object, array);
            objects.computeIfAbsent(array, _ -> new LinkedHashSet<>()).add(object);
        }
        return client.fences().texture(object, true);
    }

    /** Parameter: object. Kernels are kept from it before it is gone. */
    private int destroy(CallFrame frame, ClientContext context) {
        Long array = arrays.remove(frame.slot(0));
        if (array != null) {
            objects.get(array).remove(frame.slot(0));
            objects.remove(array, Set.of());
        }
        int result = client.fences().texture(frame.slot(0), false);
        return result == CudaResult.SUCCESS ? client.driver().call(frame.plan().entry(), frame.slots()) : result;
    }

    /** Parameter: array. What its memory is next is for no kernel of this client to read: its textures and surfaces are none any more. */
    private int arrayEnds(CallFrame frame, ClientContext context) {
        int result = keepFrom(frame.slot(0));
        return result == CudaResult.SUCCESS ? client.driver().call(frame.plan().entry(), frame.slots()) : result;
    }

    /** Parameter: mipmapped array. The same with those of its levels. */
    private int mipmapEnds(CallFrame frame, ClientContext context) {
        long mipmap = frame.slot(0);
        int result = keepFrom(mipmap);
        for (int level = 0; result == CudaResult.SUCCESS && !objects.isEmpty() && level < MOST_LEVELS; level++) {
            if (client.driver().call(DriverEntry.cuMipmappedArrayGetLevel, client.driver().out(0), mipmap, level) != CudaResult.SUCCESS) {
                break; // it has no more
            }
            result = keepFrom(client.driver().outLong(0));
        }
        return result == CudaResult.SUCCESS ? client.driver().call(frame.plan().entry(), frame.slots()) : result;
    }

    private int keepFrom(long array) {
        int result = CudaResult.SUCCESS;
        for (long object : objects.getOrDefault(array, Set.of())) {
            result = result == CudaResult.SUCCESS ? client.fences().texture(object, false) : result;
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
