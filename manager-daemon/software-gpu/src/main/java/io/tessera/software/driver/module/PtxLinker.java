package io.tessera.software.driver.module;

import io.tessera.device.CudaEnums.JitInput;
import io.tessera.device.CudaError;
import io.tessera.guardian.ptx.PtxModule;
import io.tessera.guardian.ptx.parse.PtxException;
import io.tessera.guardian.ptx.parse.PtxParser;
import io.tessera.guardian.ptx.print.PtxPrinter;
import io.tessera.software.driver.abi.DriverException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Joins PTX (CUlinkState). The result is PTX again, one text with the definitions of all inputs; it can be loaded like any image. Used by one thread at a time,
 * as the driver documents.
 */
public final class PtxLinker {
    private final JitLogOptions options;
    private final List<PtxModule> inputs = new ArrayList<>();
    private final Arena arena = Arena.ofShared();

    /** A linker with options, whose logs stay the program's. */
    public PtxLinker(JitLogOptions options) {
        this.options = options;
    }

    /** Adds an input in memory. */
    public void add(int type, byte[] image) {
        DriverException.require(type >= 0 && type < 6, CudaError.INVALID_VALUE);
        if (type != JitInput.PTX && type != JitInput.FATBINARY) {
            options.error("the software GPU links PTX and fat binaries with PTX only");
            throw new DriverException(CudaError.NO_BINARY_FOR_GPU);
        }
        try {
            inputs.add(PtxParser.parse(ImageLoader.ptxOf(image)));
        } catch (PtxException e) {
            options.error(e.getMessage());
            throw new DriverException(CudaError.INVALID_PTX, e.getMessage());
        } catch (DriverException e) {
            options.error(e.getMessage());
            throw e;
        }
    }

    /** Adds an input from a file. */
    public void addFile(int type, String path) {
        add(type, ImageLoader.readFile(path));
    }

    /** Returns the joined image: bytes that end with a zero, and live until {@link #close}. */
    public MemorySegment complete() {
        DriverException.require(!inputs.isEmpty(), CudaError.INVALID_VALUE);
        byte[] text;
        try {
            text = PtxPrinter.print(new LinkedModules(inputs).joined()).getBytes(StandardCharsets.UTF_8);
        } catch (LinkedModules.LinkException e) {
            options.error(e.getMessage());
            throw new DriverException(CudaError.INVALID_IMAGE, e.getMessage());
        }
        MemorySegment image = arena.allocate(text.length + 1L);
        image.copyFrom(MemorySegment.ofArray(text));
        return image;
    }

    /** Frees the joined image. */
    public void close() {
        arena.close();
    }
}
