package io.tessera.software.driver.module;

import io.tessera.device.CudaError;
import io.tessera.guardian.image.ComputeCapability;
import io.tessera.guardian.image.ImageException;
import io.tessera.guardian.image.ImageKind;
import io.tessera.guardian.image.ModuleImage;
import io.tessera.guardian.ptx.PtxModule;
import io.tessera.guardian.ptx.parse.PtxException;
import io.tessera.guardian.ptx.parse.PtxParser;
import io.tessera.software.clock.DeviceClock;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.memory.DriverMemory;
import io.tessera.software.memory.OutOfDeviceMemoryException;
import io.tessera.software.processor.SoftwareProcessor;
import io.tessera.software.program.UnsupportedPtxException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.NoSuchElementException;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Makes modules of images: PTX text, fat binaries with PTX in them, raw or in their wrapper. Thread-safe. */
public final class ImageLoader {
    private static final Pattern ARCHITECTURE = Pattern.compile("(?:sm|compute)_(\\d{2,3})[af]?");
    private static final ComputeCapability CAPABILITY = new ComputeCapability(9, 0);

    private final SoftwareProcessor processor;
    private final DriverMemory memory;
    private final DeviceClock clock;
    private final Consumer<String> rejected;

    /**
     * A loader.
     *
     * @param rejected told why an image was refused
     */
    public ImageLoader(SoftwareProcessor processor, DriverMemory memory, DeviceClock clock,
            Consumer<String> rejected) {
        this.processor = processor;
        this.memory = memory;
        this.clock = clock;
        this.rejected = rejected;
    }

    /** Loads an image that lies at an address. */
    public DriverModule load(long address, JitLogOptions options, long context) {
        return load(ImageBytes.at(address), options, context);
    }

    /** Loads an image from a file. */
    public DriverModule loadFile(String path, JitLogOptions options, long context) {
        return load(readFile(path), options, context);
    }

    /** Returns the bytes of a file; ends the entry with FILE_NOT_FOUND where there is none. */
    static byte[] readFile(String path) {
        try {
            return Files.readAllBytes(Path.of(path));
        } catch (NoSuchFileException | InvalidPathException e) {
            throw new DriverException(CudaError.FILE_NOT_FOUND, path);
        } catch (IOException e) {
            throw new DriverException(CudaError.OPERATING_SYSTEM, e.toString());
        }
    }

    /** Loads an image. */
    public DriverModule load(byte[] image, JitLogOptions options, long context) {
        long begin = clock.nowNs();
        try {
            PtxModule ptx = PtxParser.parse(ptxOf(image));
            DriverModule module = new DriverModule(processor.load(ptx), targetOf(ptx), options.mostRegisters(), processor.options().limits(),
                    memory, context);
            options.took(clock.nowNs() - begin);
            return module;
        } catch (PtxException | UnsupportedPtxException | NoSuchElementException e) {
            throw refuse(CudaError.INVALID_PTX, e.getMessage(), options);
        } catch (OutOfDeviceMemoryException e) {
            throw refuse(CudaError.OUT_OF_MEMORY, e.getMessage(), options);
        } catch (DriverException e) {
            throw refuse(e.error(), e.getMessage(), options);
        }
    }

    /** Returns the PTX in an image; ends the entry with the driver's error where there is none. */
    static String ptxOf(byte[] image) {
        ModuleImage module = ModuleImage.of(image);
        try {
            return new String(module.ptx(CAPABILITY, ModuleImage.DEFAULT_CAP_BYTES), StandardCharsets.UTF_8);
        } catch (ImageException e) {
            boolean machineCode = module.kind() == ImageKind.CUBIN || module.kind() == ImageKind.FAT_BINARY;
            throw new DriverException(machineCode ? CudaError.NO_BINARY_FOR_GPU : CudaError.INVALID_IMAGE,
                    e.getMessage());
        }
    }

    /** Returns the architecture that the PTX was compiled for, as the attributes of functions count it: 75 for sm_75. */
    private static int targetOf(PtxModule ptx) {
        for (String target : ptx.targets()) {
            Matcher architecture = ARCHITECTURE.matcher(target);
            if (architecture.matches()) {
                return Integer.parseInt(architecture.group(1));
            }
        }
        return CAPABILITY.sm();
    }

    private DriverException refuse(CudaError error, String reason, JitLogOptions options) {
        options.error(reason);
        rejected.accept(reason);
        return new DriverException(error, reason);
    }
}
