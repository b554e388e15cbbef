package io.tessera.manager.executors;

import io.tessera.guardian.state.StateStoreChoice;
import io.tessera.os.FilePort;
import io.tessera.os.LinuxPort;
import io.tessera.os.StartArchive;
import io.tessera.protocol.ExecutorSockets;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Starts executors as processes with the manager's own Java and class path. They outlive the manager. Their logs are beside their sockets. */
public final class ProcessLauncher implements ExecutorLauncher {
    private static final String MAIN = "io.tessera.executor.Main";
    /** Large methods are compiled too, because interpreted kernels and the switch over calls are large. */
    private static final List<String> JVM_FLAGS = List.of("-XX:+UseSerialGC", "-XX:-DontCompileHugeMethods",
            "-XX:-UsePerfData", "--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow");
    /** Further options of the executors' Java, separated by spaces: a launcher script keeps options for users' programs from the manager. */
    private static final String JAVA_OPTIONS = "TESSERA_EXECUTOR_JAVA";
    /** Maximum size of a driver's cache: 4 GiB (CUDA_CACHE_MAXSIZE in the CUDA programming guide). */
    private static final String MOST_CACHED_BYTES = "4294967296";
    private static final int LOG_PERMISSIONS = 0600;
    /** Folder in which drivers keep what they compile, beside the executors' own cache. */
    private static final String DRIVER = "driver";
    private static final Logger LOG = LoggerFactory.getLogger(ProcessLauncher.class);

    private final LinuxPort os;
    private final List<String> command;
    private final Folders folders;
    /** Account of executors; null: they run as this process's user. */
    private ExecutorAccount account;
    private boolean looked;
    private String hindrance = "";

    /**
     * Folders that executors read and write.
     *
     * @param runtime the manager's runtime directory, in which a folder has their sockets and logs
     * @param cache   cache of what is made from programs' code
     * @param trusted folder of the list of trusted images
     */
    public record Folders(Path runtime, Path cache, Path trusted) {
    }

    /**
     * Creates a launcher with the command that precedes the options of each executor.
     *
     * @param account user of the executors; null: this process's
     */
    ProcessLauncher(LinuxPort os, List<String> command, Folders folders, ExecutorAccount account) {
        this.os = os;
        this.command = List.copyOf(command);
        this.folders = folders;
        this.account = account;
    }

    /**
     * Creates a launcher for a kind of executors in this installation.
     *
     * @param software settings of software GPUs
     * @param user     account of root's executors: an account, {@code root}, or empty for the standard one
     * @throws IOException if there is no such account
     */
    public static ProcessLauncher of(LinuxPort os, ExecutorKind kind, SoftwareDevices software, Folders folders, String user) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(JVM_FLAGS);
        command.addAll(StartArchive.ofThisProcess().options("executor"));
        command.addAll(words(System.getenv(JAVA_OPTIONS)));
        command.addAll(StateStoreChoice.jvmFlags(StateStoreChoice.named(System.getenv())));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), MAIN, "--provider",
                kind.name().toLowerCase(Locale.ROOT), "--devices", Integer.toString(software.count()), "--memory",
                Long.toString(software.memoryBytes())));
        return new ProcessLauncher(os, command, folders, account(os, user, folders.runtime));
    }

    /**
     * Checks an account before a manager is started.
     *
     * @param runtime the manager's folder
     * @throws IOException if this manager cannot run executors as that user; the message says why
     */
    public static void checkUser(LinuxPort os, String user, Path runtime) throws IOException {
        if (!user.isEmpty()) {
            account(os, user, runtime);
        }
    }

    /** Returns the account; null: executors run as this process's user. */
    private static ExecutorAccount account(LinuxPort os, String user, Path runtime) throws IOException {
        if (os.processes().uid() != 0) {
            if (!user.isEmpty()) {
                throw new IOException("\"" + user + "\": only root's manager runs executors as somebody else");
            }
            return null;
        }
        return ExecutorAccount.ofSystem(user, ExecutorSockets.folder(runtime)).orElse(null);
    }

    /** Returns whether executors run as another user; the first call checks that this user reaches what it needs. */
    private synchronized boolean asOther() throws IOException {
        if (account == null || looked) {
            return account != null;
        }
        looked = true;
        Files.createDirectories(folders.cache, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
        ExecutorAccount.open(folders.cache); // an earlier version made it accessible to root alone
        List<Path> needed = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java"), folders.cache, folders.runtime));
        Stream.of(System.getProperty("java.class.path").split(":")).filter(entry -> !entry.isEmpty()).map(Path::of).forEach(needed::add);
        String found = ExecutorAccount.hindrance(needed);
        if (found != null) {
            LOG.info("executors run as root, and not as user {}: {}", account.uid(), found);
            hindrance = found;
            account = null;
        }
        return account != null;
    }

    @Override
    public synchronized String rootBecause() {
        try {
            asOther();
        } catch (IOException e) {
            LOG.debug("the user of executors is found out at a start: {}", e.getMessage()); // the start fails with this error, and reports it
        }
        return hindrance;
    }

    static List<String> words(String options) {
        return options == null || options.isBlank() ? List.of() : List.of(options.strip().split("\\s+"));
    }

    @Override
    public Running start(int ordinal, Path socket, Listener listener) throws IOException {
        Path log = ExecutorSockets.log(socket);
        List<String> whole = new ArrayList<>();
        boolean other = asOther();
        if (other) {
            whole.addAll(account.prefix(log));
        }
        whole.addAll(command);
        whole.addAll(List.of("--device", Integer.toString(ordinal), "--socket", socket.toString(), "--manager-uid",
                Integer.toUnsignedString(os.processes().uid())));
        ProcessBuilder builder = new ProcessBuilder(whole);
        // The executor inherits no stream of this process, because it outlives it.
        builder.redirectInput(new File("/dev/null")).redirectErrorStream(true);
        environment(builder.environment(), folders.cache.resolve(DRIVER));
        if (!other) {
            Files.createDirectories(socket.getParent(), PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx--x--x")));
            ExecutorAccount.checkOwner(socket.getParent(), os.processes().uid(), os.processes().uid());
            os.files().close(os.files().open(log, FilePort.Open.APPEND, LOG_PERMISSIONS)); // the log names the programs of all users
            builder.redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
        } else {
            asOther(builder, socket.getParent());
        }
        return ExecutorLink.to(os, ExecutorSockets.ofManagers(socket), builder.start(), listener);
    }

    /**
     * Prepares a start as another user. Everything that it writes is in folders of its own, and it opens its log itself: a path that root opened
     * there could be a link by then.
     */
    private void asOther(ProcessBuilder builder, Path folder) throws IOException {
        Path cache = folders.cache.resolve("executors-" + account.uid()); // no user takes over what another user has compiled
        account.own(folder);
        account.own(cache);
        builder.redirectOutput(ProcessBuilder.Redirect.DISCARD).directory(folder.toFile());
        builder.environment().putAll(Map.of("HOME", folder.toString(), "TESSERA_CACHE_DIR", cache.toString(),
                "CUDA_CACHE_PATH", cache.resolve(DRIVER).toString(), "TESSERA_STATE_DIR", folders.trusted.toString()));
    }

    @Override
    public Running adopt(int ordinal, Path socket, Listener listener) {
        return ExecutorLink.adopt(os, ExecutorSockets.ofManagers(socket), listener);
    }

    static void environment(Map<String, String> environment, Path driverCache) {
        // Streams of several clients need device queues of their own, and modules of libraries are large.
        environment.put("CUDA_DEVICE_MAX_CONNECTIONS", "32");
        environment.put("CUDA_MODULE_LOADING", "LAZY");
        // Fenced programs are text that the driver compiles once: a second start finds the compiled code.
        environment.putIfAbsent("CUDA_CACHE_PATH", driverCache.toString());
        environment.putIfAbsent("CUDA_CACHE_MAXSIZE", MOST_CACHED_BYTES);
        environment.remove("CUDA_CACHE_DISABLE");
        // The executor must meet the vendor's driver, not the library that relays to executors.
        environment.remove("LD_PRELOAD");
        environment.remove("TESSERA_SHARE");
    }
}
