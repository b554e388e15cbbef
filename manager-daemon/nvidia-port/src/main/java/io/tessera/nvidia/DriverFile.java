package io.tessera.nvidia;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Finds the vendor's driver library by the rules of {@code native-preload/src/driver/find_library.c}. A library that the user names is used. Otherwise it is
 * the first one of the library path, the loader's cache and the usual folders that is not Tessera's own library, which has the same name. Stateless.
 */
final class DriverFile {
    /** System property and environment variable that name the library by absolute path. */
    static final String PROPERTY = "tessera.driver";
    static final String VARIABLE = "TESSERA_DRIVER";
    private static final String NAME = "libcuda.so.1";
    /** Folders in which driver packages, containers and WSL install it. */
    private static final List<String> FOLDERS = List.of("/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu",
            "/usr/lib64", "/lib64", "/usr/local/nvidia/lib64", "/usr/lib/wsl/lib", "/usr/lib", "/usr/local/cuda/compat");
    /** A name that only Tessera's own library exports. */
    private static final String OURS = "tessera_memory_of";
    /** Bound on the size of Tessera's own library, which is smaller than a megabyte; a vendor's has dozens. */
    private static final long OURS_MAX_BYTES = 8L << 20;

    private DriverFile() {
    }

    /** Returns the path to open; empty where there is no driver. */
    static Optional<Path> find() {
        String named = Optional.ofNullable(System.getProperty(PROPERTY)).orElse(System.getenv(VARIABLE));
        if (named != null && !named.isEmpty()) {
            return Optional.of(Path.of(named));
        }
        List<Path> candidates = new ArrayList<>();
        String list = Optional.ofNullable(System.getenv("LD_LIBRARY_PATH")).orElse("");
        for (String folder : list.split(":")) {
            if (folder.startsWith("/")) {
                candidates.add(Path.of(folder, NAME));
            }
        }
        candidates.addAll(LoaderCache.paths(NAME));
        FOLDERS.forEach(folder -> candidates.add(Path.of(folder, NAME)));
        return candidates.stream().filter(DriverFile::vendors).findFirst();
    }

    /** Returns whether a file exists and is not Tessera's own library, whatever its name. */
    static boolean vendors(Path path) {
        try {
            return Files.isRegularFile(path) && (Files.size(path) > OURS_MAX_BYTES
                    || !new String(Files.readAllBytes(path), StandardCharsets.ISO_8859_1).contains(OURS));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
