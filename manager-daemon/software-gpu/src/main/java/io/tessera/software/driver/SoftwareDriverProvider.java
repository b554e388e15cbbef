package io.tessera.software.driver;

import com.sun.management.OperatingSystemMXBean;
import io.tessera.device.DriverOptions;
import io.tessera.device.DriverPort;
import io.tessera.device.DriverPortProvider;
import io.tessera.device.DriverUnavailableException;
import io.tessera.software.clock.DeviceClock;
import io.tessera.software.compile.KernelCompiler;
import io.tessera.software.interpret.Interpreter;
import io.tessera.software.launch.DeviceLimits;
import io.tessera.software.memory.HostMemoryException;
import io.tessera.software.processor.ProcessorOptions;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;

/** Opens software GPUs: there is one on every machine, or as many as were asked for, each in a process of its own. */
public final class SoftwareDriverProvider implements DriverPortProvider {
    private static final Path MACHINE_ID = Path.of("/etc/machine-id");
    private static final long PAGE_BYTES = 2L << 20;

    @Override
    public String name() {
        return "software";
    }

    @Override
    public DriverPort open(DriverOptions options) throws DriverUnavailableException {
        if (options.ordinal() >= options.devices()) {
            throw new DriverUnavailableException("there is no software GPU " + options.ordinal() + ": there are "
                    + options.devices());
        }
        long memory = options.memoryBytes() != 0 ? options.memoryBytes() : shareOfMemory(options.devices());
        int workers = Runtime.getRuntime().availableProcessors();
        try {
            DeviceClock clock = DeviceClock.system();
            return new SoftwareDriver(new ProcessorOptions(memory, workers, DeviceLimits.of(workers),
                    new KernelCompiler(new Interpreter(), clock::nowNs), clock), machine(),
                    options.ordinal(), options.devices(), System.err::println);
        } catch (HostMemoryException e) {
            throw new DriverUnavailableException("no address space for a software GPU with " + memory
                    + " bytes: choose less with --memory", e);
        }
    }

    /** A quarter of the machine's, for all devices together. */
    private static long shareOfMemory(int devices) {
        OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        return system.getTotalMemorySize() / 4 / devices / PAGE_BYTES * PAGE_BYTES;
    }

    /** Returns the machine's own number; where it has none all machines are alike, which only a shared status page would tell. */
    private static String machine() {
        try {
            return Files.exists(MACHINE_ID) ? Files.readString(MACHINE_ID).strip() : "";
        } catch (IOException e) {
            return "";
        }
    }
}
