package io.tessera.executor.call.texture;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.device.HandleKind;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.fence.ClientFences;
import io.tessera.executor.handle.DeferredReleases;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/**
 * Ends arrays, textures and surfaces, by a call or with their context, when no kernel, graph or reference of the client uses their memory any
 * more. One owner thread.
 */
final class ArrayEnds {
    private static final int MOST_LEVELS = 32;

    private final DriverCalls driver;
    private final ClientFences fences;
    private final DeferredReleases deferredReleases;
    /** Maps textures and surfaces to the driver's arrays of which they are made, and vice versa. */
    private final Map<Long, Long> arrays = new HashMap<>();
    private final Map<Long, Set<Long>> objects = new HashMap<>();

    ArrayEnds(DriverCalls driver, ClientFences fences, DeferredReleases deferredReleases) {
        this.driver = driver;
        this.fences = fences;
        this.deferredReleases = deferredReleases;
    }

    /** Records that a texture or surface was made of an array. */
    void made(long object, long array) {
        arrays.put(object, array);
        objects.computeIfAbsent(array, _ -> new LinkedHashSet<>()).add(object);
    }

    /** Ends an object, by the driver's value. Returns a CUresult. */
    int end(HandleKind kind, long value) {
        return switch (kind) {
            case TEXTURE, SURFACE -> object(kind, value);
            case ARRAY -> array(value);
            case MIPMAP -> mipmap(value);
            default -> throw new IllegalArgumentException(kind.toString());
        };
    }

    /** Ends a texture or surface, after it was made inaccessible to kernels. */
    private int object(HandleKind kind, long object) {
        Long array = arrays.remove(object);
        if (array != null) {
            objects.get(array).remove(object);
            objects.remove(array, Set.of());
        }
        int result = fences.texture(object, false);
        return result == CudaResult.SUCCESS ? driver.call(kind == HandleKind.TEXTURE ? DriverEntry.cuTexObjectDestroy
                : DriverEntry.cuSurfObjectDestroy, object) : result;
    }

    /** Ends an array after its textures and surfaces. */
    private int array(long array) {
        int result = keepFrom(array);
        return result == CudaResult.SUCCESS ? deferredReleases.end(Set.of(array), () -> driver.call(DriverEntry.cuArrayDestroy, array)) : result;
    }

    /** Ends a mipmapped array after the textures and surfaces of its levels. */
    private int mipmap(long mipmap) {
        int result = keepFrom(mipmap);
        Set<Long> keys = new HashSet<>(Set.of(mipmap));
        for (int level = 0; result == CudaResult.SUCCESS && level < MOST_LEVELS; level++) {
            if (driver.call(DriverEntry.cuMipmappedArrayGetLevel, driver.out(0), mipmap, level) != CudaResult.SUCCESS) {
                break; // it has no more levels
            }
            long array = driver.outLong(0);
            keys.add(array);
            result = keepFrom(array);
        }
        return result == CudaResult.SUCCESS ? deferredReleases.end(keys, () -> driver.call(DriverEntry.cuMipmappedArrayDestroy, mipmap)) : result;
    }

    private int keepFrom(long array) {
        int result = CudaResult.SUCCESS;
        for (long object : objects.getOrDefault(array, Set.of())) {
            result = result == CudaResult.SUCCESS ? fences.texture(object, false) : result;
        }
        return result;
    }
}
