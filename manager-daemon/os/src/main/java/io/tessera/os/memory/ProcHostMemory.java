package io.tessera.os.memory;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The host's memory according to {@code /proc/meminfo}. If that cannot be read nothing is known, and then no client gets host memory; the log says so
 * once.
 */
public final class ProcHostMemory implements HostMemorySource {
    private static final Pattern TOTAL = Pattern.compile("(?m)^MemTotal: +(\\d{1,15}) kB$");
    private static final Pattern AVAILABLE = Pattern.compile("(?m)^MemAvailable: +(\\d{1,15}) kB$");

    private final Path file;
    private final Consumer<String> complaints;
    private boolean said;

    /**
     * Creates the source for a file; {@code /proc/meminfo} on a host.
     *
     * @param complaints receives once why the file cannot be read
     */
    public ProcHostMemory(Path file, Consumer<String> complaints) {
        this.file = file;
        this.complaints = complaints;
    }

    @Override
    public long totalBytes() {
        return read(TOTAL);
    }

    @Override
    public long availableBytes() {
        return read(AVAILABLE);
    }

    private long read(Pattern line) {
        try {
            Matcher found = line.matcher(Files.readString(file, StandardCharsets.US_ASCII));
            if (found.find()) {
                return Long.parseLong(found.group(1)) << 10;
            }
            say("it has no line " + line.pattern());
        } catch (IOException e) {
            say(e.toString());
        }
        return 0;
    }

    private void say(String why) {
        if (!said) {
            said = true;
            complaints.accept(file + " says nothing of the host's memory, so no client may hold any of it: " + why);
        }
    }
}
