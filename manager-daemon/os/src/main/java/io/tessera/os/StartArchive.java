package io.tessera.os;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Archives of linked classes and profiles, with which Tessera's processes start in half the CPU time (JEP 483, 514 and 515). They are in {@code
 * starts/KIND.aot} beside the jars, recorded by {@code tools/starts}; {@code starts/java-home} names the Java that they are for. An archive that does
 * not fit is left out without a message, here or by the JVM itself, which compares times and sizes of the jars. Stateless.
 *
 * @param jars the folder of the jars, in the order of {@code -cp 'FOLDER/*'}
 */
public record StartArchive(Path jars) {
    /** A property of a JVM that starts other processes: they record into the folder that it names. */
    private static final String RECORD = "tessera.starts.record";
    /** Options that send the JVM's warnings to standard error: a worker's standard output carries its answers. */
    private static final List<String> QUIET = List.of("-Xlog:disable", "-Xlog:all=warning,aot*=off,cds*=off:stderr");

    /** Returns the archive for the class path of this process. */
    public static StartArchive ofThisProcess() {
        Path first = Path.of(System.getProperty("java.class.path").split(":", 2)[0]).toAbsolutePath();
        return new StartArchive(first.getParent());
    }

    /** Returns the options of the JVM that starts a process of this kind. */
    public List<String> options(String kind) {
        String record = System.getProperty(RECORD);
        if (record != null) {
            return List.of("-D" + RECORD + "=" + record, "-XX:AOTCacheOutput=" + record + "/" + kind + ".%p.aot");
        }
        Path archive = jars.resolve("starts").resolve(kind + ".aot");
        return fits(archive, Path.of(System.getProperty("java.home")))
                ? List.of(QUIET.get(0), QUIET.get(1), "-XX:AOTCache=" + archive) : QUIET;
    }

    private boolean fits(Path archive, Path javaHome) {
        try {
            if (!Files.isReadable(archive)) {
                return false;
            }
            Path recorded = Path.of(Files.readString(archive.resolveSibling("java-home")).strip());
            if (!Files.isDirectory(recorded) || !Files.isSameFile(recorded, javaHome)) {
                return false;
            }
            try (DirectoryStream<Path> all = Files.newDirectoryStream(jars, "*.jar")) {
                for (Path jar : all) {
                    if (Files.getLastModifiedTime(jar).compareTo(Files.getLastModifiedTime(archive)) > 0) {
                        return false;
                    }
                }
            }
            return true;
        } catch (IOException e) {
            return false; // whatever the cause, processes start without it
        }
    }
}
