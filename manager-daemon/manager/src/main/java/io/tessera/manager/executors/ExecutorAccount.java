package io.tessera.manager.executors;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The account of the executors of root's manager and of their workers, which read programs' code. It owns nothing but the executors' own folders, has
 * the groups that reach the GPU's device files, and has no capabilities. Immutable.
 *
 * @param uid    number of the user
 * @param gid    number of its group
 * @param groups further groups
 */
record ExecutorAccount(int uid, int gid, Set<Integer> groups) {
    /** Name of the account that is used if it exists. */
    static final String NAME = "tessera";
    /** First of the numbers that systemd gives to services without an account (systemd.exec, DynamicUser); no account has them. */
    private static final int FIRST_FREE = 61_184;
    private static final int LAST_FREE = 65_519;
    private static final Path TOOL = Path.of("/usr/bin/setpriv");

    /** Returns the account with a name or a number, from lines of passwd(5). */
    static Optional<ExecutorAccount> named(List<String> passwd, String name, Path devices) throws IOException {
        for (String line : passwd) {
            String[] fields = line.split(":", -1);
            if (fields.length >= 4 && (fields[0].equals(name) || fields[2].equals(name))) {
                return Optional.of(new ExecutorAccount(Integer.parseInt(fields[2]), Integer.parseInt(fields[3]), groupsOf(devices)));
            }
        }
        return Optional.empty();
    }

    /**
     * Returns the number that a folder of executors has from an earlier start, or else the first unused one.
     *
     * @param folder    folder of executors; need not exist
     * @param processes the folder of processes, {@code /proc}
     */
    static ExecutorAccount free(List<String> passwd, Path folder, Path processes, Path devices) throws IOException {
        Set<Integer> taken = new HashSet<>();
        for (String line : passwd) {
            String[] fields = line.split(":", -1);
            taken.add(fields.length >= 4 && fields[2].matches("\\d{1,9}") ? Integer.parseInt(fields[2]) : 0);
        }
        int before = uid(folder);
        if (before >= FIRST_FREE && before <= LAST_FREE && !taken.contains(before)) {
            return new ExecutorAccount(before, before, groupsOf(devices));
        }
        try (DirectoryStream<Path> all = Files.newDirectoryStream(processes, "[0-9]*")) {
            for (Path process : all) {
                taken.add(uid(process));
            }
        }
        int uid = FIRST_FREE;
        while (taken.contains(uid) && uid < LAST_FREE) {
            uid++;
        }
        return new ExecutorAccount(uid, uid, groupsOf(devices));
    }

    private static int uid(Path file) {
        try {
            return (Integer) Files.getAttribute(file, "unix:uid", LinkOption.NOFOLLOW_LINKS);
        } catch (IOException e) {
            return 0; // the process does not exist, or has ended meanwhile
        }
    }

    /** Returns the groups of NVIDIA's device files that not every user may open. */
    private static Set<Integer> groupsOf(Path devices) throws IOException {
        Set<Integer> groups = new TreeSet<>();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(devices, "nvidia*")) {
            for (Path device : all) {
                Set<PosixFilePermission> permissions = Files.getPosixFilePermissions(device);
                if (!permissions.contains(PosixFilePermission.OTHERS_WRITE) && permissions.contains(PosixFilePermission.GROUP_WRITE)) {
                    groups.add((Integer) Files.getAttribute(device, "unix:gid"));
                }
            }
        }
        groups.remove(0);
        return groups;
    }

    /**
     * Returns the account for root's manager on this system.
     *
     * @param chosen the operator's choice: an account, {@code root}, or nothing
     * @param folder folder of executors; need not exist
     * @return the account; empty: root itself
     * @throws IOException if there is no such account
     */
    static Optional<ExecutorAccount> ofSystem(String chosen, Path folder) throws IOException {
        Path devices = Path.of("/dev");
        List<String> passwd = Files.readAllLines(Path.of("/etc/passwd"), StandardCharsets.ISO_8859_1);
        if (chosen.equals("root")) {
            return Optional.empty();
        }
        Optional<ExecutorAccount> account = named(passwd, chosen.isEmpty() ? NAME : chosen, devices);
        if (account.isEmpty() && !chosen.isEmpty()) {
            throw new IOException("\"" + chosen + "\": there is no such account for executors");
        }
        if (account.isPresent() && account.get().uid == 0) {
            return Optional.empty();
        }
        return Optional.of(account.isPresent() ? account.get() : free(passwd, folder, Path.of("/proc"), devices));
    }

    /** Returns what keeps a process of this account from being started; null if nothing does. */
    static String hindrance(List<Path> needed) {
        if (!Files.isExecutable(TOOL)) {
            return "there is no " + TOOL + " (package util-linux)";
        }
        for (Path each : needed) {
            Path closed = closed(each);
            if (closed != null) {
                return closed + " is not open to other users";
            }
        }
        return null;
    }

    /** Returns the part of a path that others may not enter or read; null if there is none. */
    private static Path closed(Path path) {
        try {
            Path real = path.toRealPath();
            for (Path folder = real.getParent(); folder != null; folder = folder.getParent()) {
                if (!Files.getPosixFilePermissions(folder).contains(PosixFilePermission.OTHERS_EXECUTE)) {
                    return folder;
                }
            }
            PosixFilePermission wanted = Files.isDirectory(real) ? PosixFilePermission.OTHERS_EXECUTE : PosixFilePermission.OTHERS_READ;
            return Files.getPosixFilePermissions(real).contains(wanted) ? null : real;
        } catch (IOException e) {
            return path;
        }
    }

    /** Returns the words to put before a command that is to run as this user, with its output in a log that the user opens itself. */
    List<String> prefix(Path log) {
        List<String> words = new ArrayList<>(List.of(TOOL.toString(), "--reuid=" + uid, "--regid=" + gid));
        words.add(groups.isEmpty() ? "--clear-groups" : "--groups=" + groups.stream().map(String::valueOf).collect(Collectors.joining(",")));
        words.addAll(List.of("--inh-caps=-all", "--bounding-set=-all", "--no-new-privs", "--", "/bin/sh", "-c",
                "umask 077; log=$1; shift; exec \"$@\" >>\"$log\" 2>&1", "sh", log.toString()));
        return words;
    }

    /** Lets others enter a folder of root's. */
    static void open(Path folder) throws IOException {
        Set<PosixFilePermission> permissions = Files.getPosixFilePermissions(folder, LinkOption.NOFOLLOW_LINKS);
        if (uid(folder) == 0 && permissions.add(PosixFilePermission.OTHERS_EXECUTE)) {
            Files.setPosixFilePermissions(folder, permissions);
        }
    }

    /**
     * Gives this user a folder, which others may enter but not list. Root's files in it become this user's.
     *
     * @throws IOException if the folder belongs to another user: its contents could be links that lead elsewhere, so nothing of it is given away
     */
    void own(Path folder) throws IOException {
        Files.createDirectories(folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx--x--x")));
        if (uid(folder) == uid) {
            return;
        }
        checkOwner(folder, 0, uid);
        // While the folder is root's, no other user can put anything there. So the folder itself changes its owner last.
        List<Path> all;
        try (Stream<Path> below = Files.walk(folder)) {
            all = below.sorted(Comparator.reverseOrder()).toList();
        }
        for (Path each : all) {
            Files.setAttribute(each, "unix:uid", uid, LinkOption.NOFOLLOW_LINKS);
            Files.setAttribute(each, "unix:gid", gid, LinkOption.NOFOLLOW_LINKS);
        }
    }

    /**
     * Checks that a folder of executors has the right owner.
     *
     * @param wanted the user of the executors
     * @throws IOException if the folder belongs to neither user; the message says what to do
     */
    static void checkOwner(Path folder, int owner, int wanted) throws IOException {
        int found = uid(folder);
        if (found != owner || Files.isSymbolicLink(folder)) {
            throw new IOException(folder + " belongs to user " + Integer.toUnsignedString(found) + ", and executors are to run as user "
                    + Integer.toUnsignedString(wanted) + ": tessera manager stop --programs, then remove it");
        }
    }
}
