package io.tessera.executor.fence;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.fence.load.HoistedMemory;
import io.tessera.executor.fence.load.MachineKernel;
import io.tessera.executor.fence.load.PlacedImage;
import io.tessera.executor.fence.program.FencedImage;
import io.tessera.executor.fence.program.LoadedCode;
import io.tessera.executor.fence.program.MachineImages;
import io.tessera.guardian.machine.MachineCodeException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A second version of one client's images of machine code, with the fences of 4 GiB, which cost less. It is requested when a kernel of the image is first
 * launched, made in the background, and loaded with the same variables. Its kernels stay in the first 4 GiB of the window, so they are only used while the
 * tenant has no memory beyond. One owner thread.
 *
 * <p>An image has no such version if the program asks for a variable that is not in the window: it may then write constants, which the two versions would not
 * share.
 */
final class NarrowModules {
    private static final Logger LOG = LoggerFactory.getLogger(NarrowModules.class);

    private final FencingService fencing;
    private final DriverCalls driver;
    /** By the number by which threads of the image report. */
    private final Map<Integer, Narrow> images = new HashMap<>();

    /** An image and the progress of its other version. */
    private static final class Narrow {
        final HoistedMemory memory;
        final List<String> assertions;
        /** Makes the version; null: it was begun, or never will be. */
        MachineImages.Narrow wanted;
        Future<FencedImage> made;
        /** What is known of the version's kernels, once it is loaded. */
        FencedImage image;
        LoadedCode code;
        boolean never;

        Narrow(PlacedImage placed, MachineImages.Narrow wanted) {
            this.memory = placed.memory();
            this.assertions = placed.image().assertions();
            this.wanted = wanted;
        }
    }

    NarrowModules(FencingService fencing, DriverCalls driver) {
        this.fencing = fencing;
        this.driver = driver;
    }

    /**
     * Records that an image is about to be loaded.
     *
     * @param placed the image with fences for the whole window
     * @param wanted makes the other version; null: there is none
     */
    void add(PlacedImage placed, MachineImages.Narrow wanted) {
        if (wanted != null && placed.number() != 0 && fencing.keep(wanted.bytes())) {
            images.put(placed.number(), new Narrow(placed, wanted));
        }
    }

    /** Returns whether the image of a kernel has such code, or may get it later. */
    boolean mayHave(MachineKernel kernel) {
        Narrow known = images.get(kernel.imageNumber());
        return known != null && !known.never;
    }

    /**
     * Begins to make the code of a kernel's image, and loads it when it is made.
     *
     * @param name of the kernel
     * @return the driver's library; 0: not yet; below 0: never for this kernel
     */
    long find(MachineKernel kernel, String name) {
        Narrow known = images.get(kernel.imageNumber());
        if (known.code == null) {
            if (known.made == null) {
                known.made = fencing.later(known.wanted.maker()::get);
            }
            if (!known.made.isDone()) {
                return 0;
            }
            known.never = !load(known);
            forgetMaking(known);
        }
        return !known.never && kernel.isAsGoodIn(known.image, name) ? known.code.handle() : -1;
    }

    private boolean load(Narrow narrow) {
        FencedImage image = narrow.made.state() == Future.State.SUCCESS ? narrow.made.resultNow() : null;
        if (image == null || !image.assertions().equals(narrow.assertions)) {
            return false;
        }
        byte[] bytes = image.code();
        try (Arena arena = Arena.ofConfined()) {
            image.moved().write(bytes, name -> narrow.memory.address(narrow.memory.find(name)));
            MemorySegment code = arena.allocate(bytes.length, Long.BYTES);
            MemorySegment.copy(bytes, 0, code, ValueLayout.JAVA_BYTE, 0, bytes.length);
            int result = driver.call(DriverEntry.cuLibraryLoadData, driver.out(0), code.address(), 0, 0, 0, 0, 0, 0);
            if (result != CudaResult.SUCCESS) {
                LOG.info("the driver does not load machine code {} with fences for 4 GiB (error {})", image.hash(), result);
                return false;
            }
            narrow.code = new LoadedCode(driver.outLong(0), true, 0);
        } catch (MachineCodeException e) {
            LOG.info("machine code {} has no fences for 4 GiB: {}", image.hash(), e.getMessage());
            return false;
        }
        narrow.image = image.loaded();
        return true;
    }

    private void forgetMaking(Narrow narrow) {
        narrow.made = null;
        if (narrow.wanted != null) {
            fencing.keepNoLonger(narrow.wanted.bytes());
            narrow.wanted = null;
        }
    }

    /** Ends the use of the version for an image. A loaded module stays, since its kernels may be running. */
    void stop(int number) {
        Narrow known = images.get(number);
        if (known != null) {
            known.never = true;
        }
    }

    /** Removes an image that is unloaded. Returns the CUresult. */
    int remove(int number) {
        Narrow gone = images.remove(number);
        if (gone == null) {
            return CudaResult.SUCCESS;
        }
        if (gone.made != null) {
            gone.made.cancel(false);
        }
        forgetMaking(gone);
        return gone.code == null ? CudaResult.SUCCESS : gone.code.unload(driver);
    }

    /** Unloads all that is left when the client leaves. */
    void close() {
        for (int number : List.copyOf(images.keySet())) {
            remove(number);
        }
    }
}
