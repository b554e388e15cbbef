package io.tessera.nvidia;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.device.DriverOptions;
import io.tessera.device.DriverPort;
import io.tessera.device.DriverPortProvider;
import io.tessera.device.DriverUnavailableException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;

/** Opens the vendor's driver of this machine. */
public final class NvidiaProvider implements DriverPortProvider {
    /** Creates an instance for {@link java.util.ServiceLoader}. */
    public NvidiaProvider() {
        /* Nothing is opened before open(). */
    }

    @Override
    public String name() {
        return "nvidia";
    }

    @Override
    public DriverPort open(DriverOptions options) throws DriverUnavailableException {
        Path file = DriverFile.find().orElseThrow(() -> new DriverUnavailableException(
                "no NVIDIA driver (libcuda.so.1) was found; " + DriverFile.VARIABLE + " can name one"));
        if (!Files.isRegularFile(file)) {
            throw new DriverUnavailableException("there is no driver at " + file + ", which " + DriverFile.VARIABLE
                    + " names");
        }
        SymbolLookup library;
        try {
            library = SymbolLookup.libraryLookup(file.toAbsolutePath(), Arena.global());
        } catch (IllegalArgumentException e) {
            throw new DriverUnavailableException("the driver " + file + " cannot be opened: it may be damaged, or for "
                    + "another machine", e);
        }
        int version = started(new NvidiaDriver(library, "the driver " + file), options.ordinal());
        return new NvidiaDriver(library, "NVIDIA driver %d.%d at %s".formatted(version / 1000, version % 1000 / 10, file));
    }

    /** Initialises the driver and asks it for the device; returns its version, as 13000. */
    private static int started(NvidiaDriver driver, int ordinal) throws DriverUnavailableException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment slots = arena.allocate(ValueLayout.JAVA_LONG, 1);
            MemorySegment answer = arena.allocate(ValueLayout.JAVA_INT);
            int result = driver.call(DriverEntry.cuInit, slots);
            if (result != CudaResult.SUCCESS) {
                throw new DriverUnavailableException(driver.name() + " does not start: cuInit answers " + result);
            }
            slots.set(ValueLayout.JAVA_LONG, 0, answer.address());
            result = driver.call(DriverEntry.cuDeviceGetCount, slots);
            int devices = answer.get(ValueLayout.JAVA_INT, 0);
            if (result != CudaResult.SUCCESS || ordinal >= devices) {
                throw new DriverUnavailableException("%s has no device %d: %s".formatted(driver.name(), ordinal,
                        result == CudaResult.SUCCESS ? "it has " + devices : "cuDeviceGetCount answers " + result));
            }
            result = driver.call(DriverEntry.cuDriverGetVersion, slots);
            return result == CudaResult.SUCCESS ? answer.get(ValueLayout.JAVA_INT, 0) : 0;
        }
    }
}
