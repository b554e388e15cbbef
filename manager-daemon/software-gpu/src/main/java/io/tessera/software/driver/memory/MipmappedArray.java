package io.tessera.software.driver.memory;

import io.tessera.device.CudaEnums.ArrayFlag;
import io.tessera.device.CudaError;
import io.tessera.software.driver.abi.DriverException;
import java.util.ArrayList;
import java.util.List;

/**
 * A mipmapped array: arrays of which each is half as large as the one before, in every dimension but that of layers. Not a
 * record: two of equal content are two.
 */
public final class MipmappedArray {
    private final List<CudaArray> levels;

    private MipmappedArray(List<CudaArray> levels) {
        this.levels = List.copyOf(levels);
    }

    /**
     * Allocates all levels; ends the entry as {@link CudaArray#create} does.
     *
     * @param asked requested number of levels; at least one level is made, and at most as many as reduce the array to a single element
     */
    public static MipmappedArray create(long[] extent, CudaArrayFormat format, int channels, int flags, long asked,
            DriverMemory memory, long context) {
        boolean layered = (flags & (ArrayFlag.LAYERED | ArrayFlag.CUBEMAP)) != 0;
        long longest = Math.max(extent[0], Math.max(extent[1], layered ? 1 : extent[2]));
        DriverException.require(longest > 0, CudaError.INVALID_VALUE);
        long most = Long.SIZE - Long.numberOfLeadingZeros(longest);
        List<CudaArray> made = new ArrayList<>();
        try {
            for (int level = 0; level < Math.clamp(asked, 1, most); level++) {
                long[] smaller = {half(extent[0], level), half(extent[1], level),
                        layered ? extent[2] : half(extent[2], level)};
                made.add(CudaArray.create(smaller, format, channels, flags, memory, context));
            }
        } catch (DriverException e) {
            made.forEach(array -> memory.free(array.storage()));
            throw e;
        }
        return new MipmappedArray(made);
    }

    /** An extent of 0 is none at any level. */
    private static long half(long extent, int level) {
        return extent == 0 ? 0 : Math.max(1, extent >> level);
    }

    /** Returns the levels, the largest first. */
    public List<CudaArray> levels() {
        return levels;
    }
}
