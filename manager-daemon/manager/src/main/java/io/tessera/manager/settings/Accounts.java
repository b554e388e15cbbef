package io.tessera.manager.settings;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;

/**
 * The users and groups of the host, from its files {@code passwd} and {@code group}. Stateless apart from their paths: the files are read at each
 * question.
 */
final class Accounts {
    /** The accounts of a host without users. */
    static final Accounts NONE = new Accounts(Path.of("/dev/null"), Path.of("/dev/null"));

    private final Path passwords;
    private final Path groups;

    Accounts(Path passwords, Path groups) {
        this.passwords = passwords;
        this.groups = groups;
    }

    /** Returns the number of a user, given by name or by number; empty: there is no such name. */
    OptionalInt user(String name) {
        return name.matches("\\d{1,10}") ? number(name)
                : lines(passwords).stream().map(line -> line.split(":")).filter(fields -> fields.length > 3 && fields[0].equals(name))
                        .map(fields -> number(fields[2])).flatMapToInt(OptionalInt::stream).findFirst();
    }

    /** Returns the users of a group: those whose primary group it is, and its listed members; empty: there is no such group. */
    Set<Integer> members(String name) {
        Set<Integer> users = new HashSet<>();
        for (String line : lines(groups)) {
            String[] fields = line.split(":", -1);
            if (fields.length < 4 || !fields[0].equals(name) && !fields[2].equals(name)) {
                continue;
            }
            for (String member : fields[3].split(",")) {
                user(member).ifPresent(users::add);
            }
            for (String account : lines(passwords)) {
                String[] of = account.split(":", -1);
                if (of.length > 3 && of[3].equals(fields[2])) {
                    number(of[2]).ifPresent(users::add);
                }
            }
        }
        return users;
    }

    private static OptionalInt number(String text) {
        try {
            return OptionalInt.of(Integer.parseUnsignedInt(text));
        } catch (NumberFormatException e) {
            return OptionalInt.empty();
        }
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            return List.of(); // a container without such a file has no names
        }
    }
}
