package io.tessera.attacks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** Finds the attacks: each kernel file in a folder is one, and programs list theirs. Stateless. */
final class AttackList {
    private static final List<String> NO_ATTACKERS = List.of("victim", "kernel");

    private AttackList() {
    }

    /** Returns all attacks; those that can keep the device busy are last. */
    static List<Attack> of(Path kernels, Path programs, Predicate<String> wanted) throws IOException {
        List<Attack> attacks = new ArrayList<>();
        try (Stream<Path> files = Files.walk(kernels)) {
            for (Path file : files.filter(path -> path.toString().endsWith(".ptx")).sorted().toList()) {
                attacks.add(kernel(kernels.relativize(file).toString().replaceFirst("\\.ptx$", ""), file, programs));
            }
        }
        try (Stream<Path> files = Files.list(programs)) {
            for (Path program : files.filter(Files::isExecutable).sorted().toList()) {
                if (!NO_ATTACKERS.contains(program.getFileName().toString())) {
                    attacks.addAll(listed(program));
                }
            }
        }
        attacks.removeIf(attack -> !wanted.test(attack.name()));
        attacks.sort(Comparator.comparing(Attack::late));
        return attacks;
    }

    private static Attack kernel(String name, Path file, Path programs) throws IOException {
        String must = null;
        String what = null;
        int seconds = 0;
        boolean late = false;
        for (String line : Files.readAllLines(file)) {
            if (!line.startsWith("// ")) {
                break;
            }
            String value = line.substring(line.indexOf(':') + 1).strip();
            switch (line.substring(3, line.indexOf(':'))) {
                case "must" -> must = value;
                case "what" -> what = value;
                case "seconds" -> seconds = Integer.parseInt(value);
                case "last" -> late = true;
                default -> {
                    // the launch, which the program reads itself
                }
            }
        }
        if (must == null || what == null) {
            throw new IOException(file + " does not say what it does and what must happen");
        }
        return new Attack(name, Attack.Must.of(must), what,
                List.of(programs.resolve("kernel").toString(), file.toString()), seconds, late);
    }

    private static List<Attack> listed(Path program) throws IOException {
        Process process = new ProcessBuilder(program.toString(), "--list").start();
        List<Attack> attacks = new ArrayList<>();
        for (String line : new String(process.getInputStream().readAllBytes()).lines().toList()) {
            String[] parts = line.split("\t");
            if (parts.length != 3) {
                throw new IOException(program + " lists \"" + line + "\"");
            }
            String[] must = parts[1].split(" ");
            attacks.add(new Attack(program.getFileName() + "/" + parts[0], Attack.Must.of(must[0]), parts[2],
                    List.of(program.toString(), parts[0]), must.length > 1 ? Integer.parseInt(must[1]) : 0, must.length > 1));
        }
        return attacks;
    }
}
