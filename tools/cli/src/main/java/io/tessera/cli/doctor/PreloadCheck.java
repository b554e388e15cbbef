package io.tessera.cli.doctor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/** Checks for other libraries that would be loaded before or beside Tessera's. */
final class PreloadCheck implements DoctorCheck {
    private static final String SUBJECT = "preload";
    /** Parts of names of libraries that interpose the same driver entries; two of them in one process conflict. */
    private static final List<String> RIVALS = List.of("libcuda", "libnvshare", "libvgpu", "libgemhook", "libshimcuda",
            "libzluda", "libxpreload", "libhami");

    private final Map<String, String> environment;
    private final Path systemFile;
    private final Path ownFolder;

    /**
     * Creates a check of what would be preloaded.
     *
     * @param environment with TESSERA_CALLER_PRELOAD, the caller's LD_PRELOAD, which the script hides from Java
     * @param systemFile  {@code /etc/ld.so.preload}
     * @param ownFolder   folder of our own libraries
     */
    PreloadCheck(Map<String, String> environment, Path systemFile, Path ownFolder) {
        this.environment = environment;
        this.systemFile = systemFile;
        this.ownFolder = ownFolder;
    }

    @Override
    public List<DoctorFinding> findings() {
        List<DoctorFinding> findings = new ArrayList<>();
        String caller = environment.getOrDefault("TESSERA_CALLER_PRELOAD",
                environment.getOrDefault("LD_PRELOAD", ""));
        entries(caller).forEach(entry -> findings.add(entry("LD_PRELOAD", entry)));
        try {
            if (Files.exists(systemFile)) {
                entries(Files.readString(systemFile)).forEach(e -> findings.add(entry(systemFile.toString(), e)));
            }
        } catch (IOException e) {
            findings.add(DoctorFinding.note(SUBJECT, "cannot read " + systemFile + " (" + e + ")", ""));
        }
        String audit = environment.getOrDefault("LD_AUDIT", "");
        if (!audit.isEmpty()) {
            findings.add(DoctorFinding.note(SUBJECT, "LD_AUDIT=" + audit + " can send look-ups past our library",
                    "unset it if turns do not take effect"));
        }
        return findings.isEmpty() ? List.of(DoctorFinding.ok(SUBJECT, "nothing else is preloaded")) : findings;
    }

    private static Stream<String> entries(String list) {
        return Stream.of(list.split("[\\s:]+")).filter(entry -> !entry.isEmpty());
    }

    private DoctorFinding entry(String where, String entry) {
        Path path = Path.of(entry);
        if (path.startsWith(ownFolder)) {
            return DoctorFinding.ok(SUBJECT, where + " names our own " + path.getFileName());
        }
        String name = path.getFileName() == null ? entry : path.getFileName().toString().toLowerCase(Locale.ROOT);
        if (RIVALS.stream().anyMatch(name::startsWith)) {
            return DoctorFinding.problem(SUBJECT, where + " loads " + entry + ", which answers for the driver as we do",
                    "take it out: only one of the two can be in a process");
        }
        return DoctorFinding.note(SUBJECT, where + " loads " + entry + " too", "");
    }
}
