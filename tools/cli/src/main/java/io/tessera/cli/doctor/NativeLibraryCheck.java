package io.tessera.cli.doctor;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Checks whether the native libraries exist and the host's glibc is new enough for them. */
final class NativeLibraryCheck implements DoctorCheck {
    private static final String SUBJECT = "preload library";
    private static final List<String> LIBRARIES = List.of("libcuda.so.1", "libnvidia-ml.so.1");
    /** Names of symbol versions stand in a library's dynamic string table as text, NUL-terminated. */
    private static final Pattern SYMBOL_VERSION = Pattern.compile("GLIBC_(\\d{1,3})\\.(\\d{1,3})");

    private final Path folder;
    private final Optional<String> hostGlibc;

    /**
     * Creates a check of the libraries in a folder.
     *
     * @param hostGlibc version of the host's glibc, {@code 2.36} for example; empty if the host's C library is not glibc
     */
    NativeLibraryCheck(Path folder, Optional<String> hostGlibc) {
        this.folder = folder;
        this.hostGlibc = hostGlibc;
    }

    @Override
    public List<DoctorFinding> findings() {
        List<DoctorFinding> findings = new ArrayList<>();
        for (String name : LIBRARIES) {
            findings.add(library(folder.resolve(name)));
        }
        // Triton links against TRITON_LIBCUDA_PATH/libcuda.so; other programs open the name without the version.
        if (!Files.exists(folder.resolve("libcuda.so"))) {
            findings.add(DoctorFinding.problem(SUBJECT, folder.resolve("libcuda.so") + " is missing",
                    "build again: tools/build"));
        }
        return findings;
    }

    private DoctorFinding library(Path library) {
        String content;
        try {
            content = Files.readString(library, StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            return DoctorFinding.problem(SUBJECT, "cannot read " + library + " (" + e.getClass().getSimpleName() + ")",
                    "build it: tools/build; in a kit, unpack the kit again");
        }
        int[] needed = newest(content);
        if (needed.length == 0) {
            return DoctorFinding.ok(SUBJECT, library + ", needs no glibc");
        }
        String floor = needed[0] + "." + needed[1];
        if (hostGlibc.isEmpty()) {
            return DoctorFinding.problem(SUBJECT, library + " needs glibc " + floor + "; the host's C library is no glibc",
                    "run on a system with glibc, for example Debian, Ubuntu, Fedora or RHEL");
        }
        Matcher host = SYMBOL_VERSION.matcher("GLIBC_" + hostGlibc.get());
        if (!host.find() || compare(needed, version(host)) > 0) {
            return DoctorFinding.problem(SUBJECT, library + " needs glibc " + floor + ", the host has " + hostGlibc.get(),
                    "build Tessera on this host: tools/build");
        }
        return DoctorFinding.ok(SUBJECT, library + ", needs glibc " + floor + ", the host has " + hostGlibc.get());
    }

    private static int[] newest(String content) {
        int[] newest = {};
        Matcher matcher = SYMBOL_VERSION.matcher(content);
        while (matcher.find()) {
            int[] version = version(matcher);
            if (newest.length == 0 || compare(version, newest) > 0) {
                newest = version;
            }
        }
        return newest;
    }

    private static int[] version(Matcher matcher) {
        return new int[] {Integer.parseInt(matcher.group(1)), Integer.parseInt(matcher.group(2))};
    }

    private static int compare(int[] one, int[] other) {
        return one[0] == other[0] ? Integer.compare(one[1], other[1]) : Integer.compare(one[0], other[0]);
    }
}
