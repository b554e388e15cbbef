package io.tessera.executor.fence.load;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.driver.OwnStream;
import io.tessera.executor.fence.program.ProgramRefusedException;
import io.tessera.guardian.fence.WindowConstants;

/** Bitmap of the texture and surface objects of a client, in device memory that its fenced kernels can read but not write. One owner thread. */
public final class TextureBitmap {
    private static final int MASK = (1 << WindowConstants.HANDLE_INDEX_BITS) - 1;

    private final OwnStream stream;
    private final DriverCalls driver;
    private final int[] words = new int[WindowConstants.HANDLE_BITMAP_BYTES / Integer.BYTES];
    /** Device address; 0: no fenced module is loaded yet. */
    private long address;

    /** Creates the bitmap of one client; memory is taken when it is needed. */
    public TextureBitmap(OwnStream stream, DriverCalls driver) {
        this.stream = stream;
        this.driver = driver;
    }

    /**
     * Returns its device address.
     *
     * @throws ProgramRefusedException with the driver's result
     */
    public long address() throws ProgramRefusedException {
        if (address == 0) {
            int result = driver.call(DriverEntry.cuMemAlloc_v2, driver.out(0), WindowConstants.HANDLE_BITMAP_BYTES);
            long made = driver.outLong(0);
            if (result == CudaResult.SUCCESS) {
                result = stream.zero(driver, made, WindowConstants.HANDLE_BITMAP_BYTES);
            }
            for (int word = 0; word < words.length && result == CudaResult.SUCCESS; word++) {
                result = words[word] == 0 ? result : write(made, word);
            }
            result = result == CudaResult.SUCCESS ? stream.await(driver) : result;
            if (result != CudaResult.SUCCESS) {
                throw new ProgramRefusedException(result, "no memory for the list of its textures (" + result + ")");
            }
            address = made;
        }
        return address;
    }

    private int write(long to, int word) {
        return stream.words(driver, to + (long) word * Integer.BYTES, words[word], 1);
    }

    /** Sets whether an object belongs to the client. Returns the CUresult. */
    public int set(long handle, boolean own) {
        int index = (int) handle & MASK;
        int bit = 1 << index % Integer.SIZE;
        int word = index / Integer.SIZE;
        words[word] = own ? words[word] | bit : words[word] & ~bit;
        if (address == 0) {
            return CudaResult.SUCCESS;
        }
        int result = write(address, word);
        return result == CudaResult.SUCCESS ? stream.await(driver) : result;
    }

    /** Gives the memory back, when no work of the client is left. */
    public void close() {
        if (address != 0) {
            driver.call(DriverEntry.cuMemFree_v2, address);
            address = 0;
        }
    }
}
