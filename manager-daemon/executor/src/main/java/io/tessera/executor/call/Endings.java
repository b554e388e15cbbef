package io.tessera.executor.call;

import io.tessera.device.DriverEntry;
import io.tessera.device.HandleKind;
import io.tessera.executor.driver.CudaResult;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/**
 * Ends modules, arrays, textures and surfaces, by a call or with their context: no kernel, graph or reference of the client works on what their memory is
 * next. One owner thread.
 */
final class Endings {
    private static final int MOST_LEVELS = 32;

    private final ClientState client;
    /** Textures and surfaces of arrays, and the driver's arrays of which they are; and the other way round. */
    private final Map<Long, Long> arrays = new HashMap<>();
    private final Map<Long, Set<Long>> objects = new HashMap<>();

    Endings(ClientState client) {
        this.client = client;
    }

    /** A texture or surface was made of an array. */
    void made(long object, long array) {
        arrays.put(object, array);
        objects.computeIfAbsent(array, _ -> new LinkedHashSet<>()).add(object);
    }

    /** Ends something, by the driver's value, or a module or library by what the client's table holds. Returns a CUresult. */
    int end(HandleKind kind, long value) {
        return switch (kind) {
            case MODULE, LIBRARY -> end(Set.of(value), kind, value);
            case TEXTURE, SURFACE -> object(kind, value);
            case ARRAY -> array(value);
            case MIPMAP -> mipmap(value);
            default -> throw new IllegalArgumentException(kind.toString());
        };
    }

    private int end(Set<Long> keys, HandleKind kind, long value) {
        return client.handles().holdovers().end(keys, () -> now(kind, value));
    }

    private int now(HandleKind kind, long value) {
        return switch (kind) {
            case ARRAY -> client.driver().call(DriverEntry.cuArrayDestroy, value);
            case MIPMAP -> client.driver().call(DriverEntry.cuMipmappedArrayDestroy, value);
            default -> {
                client.printing().unloaded(value);
                yield client.fences().unload(value, kind == HandleKind.LIBRARY);
            }
        };
    }

    /** Kernels are kept from it before it is gone. */
    private int object(HandleKind kind, long object) {
        Long array = arrays.remove(object);
        if (array != null) {
            objects.get(array).remove(object);
            objects.remove(array, Set.of());
        }
        int result = client.fences().texture(object, false);
        return result == CudaResult.SUCCESS ? client.driver().call(kind == HandleKind.TEXTURE ? DriverEntry.cuTexObjectDestroy
                : DriverEntry.cuSurfObjectDestroy, object) : result;
    }

    /** Its textures and surfaces are none any more. */
    private int array(long array) {
        int result = keepFrom(array);
        return result == CudaResult.SUCCESS ? end(Set.of(array), HandleKind.ARRAY, array) : result;
    }

    /** The same with those of its levels. */
    private int mipmap(long mipmap) {
        int result = keepFrom(mipmap);
        Set<Long> keys = new HashSet<>(Set.of(mipmap));
        for (int level = 0; result == CudaResult.SUCCESS && level < MOST_LEVELS; level++) {
            if (client.driver().call(DriverEntry.cuMipmappedArrayGetLevel, client.driver().out(0), mipmap, level) != CudaResult.SUCCESS) {
                break; // it has no more
            }
            long array = client.driver().outLong(0);
            keys.add(array);
            result = keepFrom(array);
        }
        return result == CudaResult.SUCCESS ? end(keys, HandleKind.MIPMAP, mipmap) : result;
    }

    private int keepFrom(long array) {
        int result = CudaResult.SUCCESS;
        for (long object : objects.getOrDefault(array, Set.of())) {
            result = result == CudaResult.SUCCESS ? client.fences().texture(object, false) : result;
        }
        return result;
    }
}
