package io.tessera.software.driver.module;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** A library (CUlibrary): a module that belongs to no context. Thread-safe. */
public final class Library {
    /**
     * A kernel of a library (CUkernel).
     *
     * @param library  whose it is
     * @param function the function that it is on the device
     */
    public record LibraryKernel(Library library, DeviceFunction function) {
    }

    private final DriverModule module;
    private final Map<String, LibraryKernel> kernels = new ConcurrentHashMap<>();

    /** A library of one module. */
    public Library(DriverModule module) {
        this.module = module;
    }

    /** Returns its module. */
    public DriverModule module() {
        return module;
    }

    /** A kernel; ends the entry as {@link DriverModule#function} does. */
    public LibraryKernel kernel(String name) {
        DeviceFunction function = module.function(name);
        return kernels.computeIfAbsent(name, _ -> new LibraryKernel(this, function));
    }

    /** Returns the kernels that were asked for. */
    public Iterable<LibraryKernel> known() {
        return kernels.values();
    }
}
