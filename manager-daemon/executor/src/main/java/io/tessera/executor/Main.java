package io.tessera.executor;

import com.sun.management.OperatingSystemMXBean;
import io.tessera.clock.Clocks;
import io.tessera.device.DriverOptions;
import io.tessera.device.DriverPort;
import io.tessera.device.DriverUnavailableException;
import io.tessera.executor.control.ManagerChannel;
import io.tessera.executor.control.ManagerLink;
import io.tessera.executor.driver.DriverFailedException;
import io.tessera.executor.driver.DriverOpening;
import io.tessera.executor.fence.program.TrustedImages;
import io.tessera.executor.print.PrintedText;
import io.tessera.executor.worker.WorkerPool;
import io.tessera.executor.worker.WorkerSettings;
import io.tessera.guardian.cache.CacheLocation;
import io.tessera.guardian.cache.CodeCache;
import io.tessera.guardian.image.ModuleImage;
import io.tessera.guardian.trust.CurrentTrustList;
import io.tessera.guardian.trust.TrustLocation;
import io.tessera.guardian.trust.VendorCode;
import io.tessera.os.LinuxPort;
import io.tessera.os.PidFile;
import io.tessera.os.linux.Linux;
import io.tessera.protocol.ExecutorSockets;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts an executor in this process. See {@link ExecutorOptions#HELP}.
 *
 * <p>Has no static logger, because the format of log lines must be set before the first logger is made.
 */
public final class Main {
    /** Ended in order. */
    public static final int EXIT_ENDED = 0;
    /** Failed while running. */
    public static final int EXIT_FAILED = 1;
    /** Wrong option. */
    public static final int EXIT_USAGE = 2;
    /** Another executor serves this device in this directory. */
    public static final int EXIT_RUNNING = 3;
    /** No device. */
    public static final int EXIT_NO_DEVICE = 4;

    private static final int STANDARD_OUTPUT = 1;
    /** Memory of a software GPU on which code is only compiled: room for the constants of one module. */
    private static final long COMPILING_BYTES = 256L << 20;

    private Main() {
    }

    /** See {@code --help}. */
    public static void main(String[] arguments) {
        // halt: a lost context makes the driver's own exit handlers hang, and the executor has nothing left to do.
        Runtime.getRuntime().halt(run(List.of(arguments)));
    }

    private static int run(List<String> arguments) {
        if (arguments.contains("--help")) {
            System.out.print(ExecutorOptions.HELP);
            System.out.flush();
            return EXIT_ENDED;
        }
        ExecutorOptions options;
        try {
            options = ExecutorOptions.parse(arguments);
        } catch (IllegalArgumentException e) {
            System.err.println("tessera-executor: " + e.getMessage());
            return EXIT_USAGE;
        }
        configureLog();
        try {
            return serve(options);
        } catch (IOException e) {
            System.err.println("tessera-executor: " + e.getMessage());
            return EXIT_FAILED;
        }
    }

    private static void configureLog() {
        System.setProperty("org.slf4j.simpleLogger.showDateTime", "true");
        System.setProperty("org.slf4j.simpleLogger.dateTimeFormat", "yyyy-MM-dd'T'HH:mm:ss.SSSXXX");
        System.setProperty("org.slf4j.simpleLogger.showShortLogName", "true");
    }

    private static Logger log() {
        return LoggerFactory.getLogger(Main.class);
    }

    private static CodeCache cache() throws IOException {
        Path directory = CacheLocation.of(System.getenv(), Linux.open().processes().uid(),
                Path.of(System.getProperty("user.home")));
        return CodeCache.open(directory, CodeCache.DEFAULT_LIMIT_BYTES, InstantSource.system(), log()::warn);
    }

    /** Returns the trusted images of the user who runs the manager. If the executor runs as another user, the manager names the folder. */
    private static TrustedImages trusted() throws IOException {
        Path file = TrustLocation.of(System.getenv(), Linux.open().processes().uid(),
                Path.of(System.getProperty("user.home")));
        CurrentTrustList current = new CurrentTrustList(file);
        return new TrustedImages() {
            @Override
            public boolean mayRunAsItIs(ModuleImage image) {
                try {
                    return current.contains(image);
                } catch (IOException e) {
                    log().warn("no image is trusted: {}", e.getMessage());
                    return false;
                }
            }

            @Override
            public boolean isVendors(String hash) {
                try {
                    return VendorCode.contains(hash) || current.contains(hash);
                } catch (IOException e) {
                    log().warn("no image is trusted but those that are known anyhow: {}", e.getMessage());
                    return false;
                }
            }
        };
    }

    private static WorkerPool workers(DriverPort port, ExecutorOptions options) {
        // Workers use the driver that "auto" has found here.
        String provider = port.software() ? DriverOpening.SOFTWARE : DriverOpening.NVIDIA;
        OperatingSystemMXBean machine = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
        return new WorkerPool(WorkerSettings.of(provider, new DriverOptions(options.ordinal(), options.devices(), COMPILING_BYTES),
                System.getenv(), machine.getTotalMemorySize()), Clocks.system().monotonic());
    }

    private static int serve(ExecutorOptions options) throws IOException {
        LinuxPort os = Linux.open();
        try (PidFile _ = PidFile.lock(os.files(), ExecutorSockets.pidFile(options.place().socket()), os.processes().pid())) {
            os.processes().newSession(); // so that a signal to the manager's session does not end programs
            return serve(options, os);
        } catch (PidFile.HeldException e) {
            System.err.println("tessera-executor: another executor serves " + options.place().socket() + ": pid " + e.pid());
            return EXIT_RUNNING;
        }
    }

    private static int serve(ExecutorOptions options, LinuxPort os) throws IOException {
        // What the driver prints (device printf) belongs to clients.
        int printed = Linux.printedText().create("tessera-printed");
        Linux.sharedMemory().duplicate(printed, STANDARD_OUTPUT);
        AtomicReference<ManagerLink> way = new AtomicReference<>();
        ManagerChannel channel = new ManagerChannel(line -> way.get().tell(line));
        ManagerLink link = new ManagerLink(os, ExecutorSockets.ofManagers(options.place().socket()), channel::meet, channel::hear);
        way.set(link);
        try (DriverPort port = DriverOpening.open(options.provider(),
                new DriverOptions(options.ordinal(), options.devices(), options.memoryBytes()))) {
            Executor executor = new Executor(port, options.ordinal(), options.place(), channel,
                    Clocks.system().monotonic(), new PrintedText(Linux.printedText(), printed), cache(),
                    trusted(), workers(port, options));
            channel.orders(executor);
            boolean inOrder = executor.run(link::hasManager);
            link.close();
            if (!inOrder) {
                Runtime.getRuntime().halt(EXIT_FAILED); // closing the driver would wait for the work that does not end
            }
            return EXIT_ENDED;
        } catch (DriverUnavailableException | DriverFailedException e) {
            channel.failed(e.getMessage());
            link.awaitManager(Clocks.system().monotonic());
            link.close();
            return EXIT_NO_DEVICE;
        }
    }
}
