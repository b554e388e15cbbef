package io.tessera.architecture;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The layers of the preload library, the lowest first, and which of them a layer may use: those before it; direct and relay do
 * not use each other. Immutable.
 */
final class NativeLayers {
    /** What one file or object uses of another, by their names with the layer in front. */
    record Use(String from, String to, String what) {
        @Override
        public String toString() {
            return from + " uses " + what + " of " + to;
        }
    }

    private static final Pattern INCLUDE = Pattern.compile("^\\s*#\\s*include\\s*[\"<]([\\w./-]*/[\\w.-]+)[\">]");
    private static final List<String> SIDES = List.of("direct/", "relay/");

    private final List<String> layers;

    NativeLayers(List<String> layers) {
        this.layers = List.copyOf(layers);
    }

    /** The list that the Makefile reads, too. */
    static NativeLayers read(Path file) throws IOException {
        try (Stream<String> lines = Files.lines(file)) {
            return new NativeLayers(lines.filter(line -> !line.startsWith("#") && !line.isBlank()).toList());
        }
    }

    List<String> all() {
        return layers;
    }

    private static int side(String layer) {
        for (int i = 0; i < SIDES.size(); i++) {
            if (layer.startsWith(SIDES.get(i))) {
                return i;
            }
        }
        return -1;
    }

    /** Whether a layer may use another, or itself. */
    boolean mayUse(String layer, String used) {
        int side = side(layer);
        int other = side(used);
        return layers.indexOf(used) <= layers.indexOf(layer) && (side < 0 || other < 0 || side == other);
    }

    private static String layerOf(String file) {
        return file.substring(0, file.lastIndexOf('/'));
    }

    /** The uses that a layer must not make. */
    List<Use> forbidden(List<Use> uses) {
        return uses.stream().filter(use -> layers.contains(layerOf(use.to())) && !mayUse(layerOf(use.from()), layerOf(use.to()))).toList();
    }

    /** Returns an included file's path below the folder of all sources. A name that leads through a parent is meant from the including file's own folder. */
    static String included(String layer, String name) {
        return name.startsWith("./") || name.contains("../") ? Path.of(layer, name).normalize().toString() : name;
    }

    /** What the sources of the layers include, under the folder that holds them all. */
    List<Use> includes(Path sources) throws IOException {
        List<Use> uses = new ArrayList<>();
        for (String layer : layers) {
            try (Stream<Path> files = Files.list(sources.resolve(layer))) {
                for (Path file : files.sorted().toList()) {
                    for (String line : Files.readAllLines(file)) {
                        Matcher include = INCLUDE.matcher(line);
                        if (include.find()) {
                            uses.add(new Use(layer + '/' + file.getFileName(), included(layer, include.group(1)), "the header"));
                        }
                    }
                }
            }
        }
        return uses;
    }

    /** What objects use of each other, told by nm, of the archives that the layers were made into. */
    List<Use> symbols(Path archives) throws IOException {
        Map<String, String> homes = new HashMap<>();
        List<String[]> wanted = new ArrayList<>();
        for (String layer : layers) {
            Path archive = archives.resolve(layer.replace('/', '-') + ".a");
            Process nm = new ProcessBuilder("nm", "-A", "-g", "-f", "posix", archive.toString()).redirectErrorStream(true).start();
            try (BufferedReader lines = nm.inputReader()) {
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    String[] words = line.split(" ");
                    if (words.length < 3) {
                        throw new IOException("nm says of " + archive + ": " + line);
                    }
                    String object = words[0].replaceAll(".*\\[(.*)\\.o]:", "$1").replaceAll("_asm$", "");
                    String unit = layer + '/' + object;
                    if (words[2].matches("[Uwv]")) {
                        wanted.add(new String[] {unit, words[1]});
                    } else {
                        homes.put(words[1], unit);
                    }
                }
            }
        }
        List<Use> uses = new ArrayList<>();
        for (String[] use : wanted) {
            String home = homes.get(use[1]);
            if (home != null && !home.equals(use[0])) {
                uses.add(new Use(use[0], home, use[1]));
            }
        }
        return uses;
    }

    /** The groups of more than one that use each other in a circle, each sorted. */
    static List<Set<String>> circles(List<Use> uses) {
        Map<String, Set<String>> reached = new TreeMap<>();
        Map<String, Set<String>> direct = new TreeMap<>();
        uses.forEach(use -> direct.computeIfAbsent(use.from(), _ -> new TreeSet<>()).add(use.to()));
        direct.keySet().forEach(from -> reached.put(from, reach(from, direct)));
        List<Set<String>> circles = new ArrayList<>();
        Set<String> seen = new TreeSet<>();
        reached.forEach((from, to) -> {
            if (!seen.contains(from) && to.contains(from)) {
                Set<String> circle = new TreeSet<>();
                to.stream().filter(other -> reached.getOrDefault(other, Set.of()).contains(from)).forEach(circle::add);
                seen.addAll(circle);
                circles.add(circle);
            }
        });
        return circles;
    }

    private static Set<String> reach(String from, Map<String, Set<String>> direct) {
        Set<String> reached = new TreeSet<>();
        List<String> open = new ArrayList<>(direct.getOrDefault(from, Set.of()));
        while (!open.isEmpty()) {
            String next = open.removeLast();
            if (reached.add(next)) {
                open.addAll(direct.getOrDefault(next, Set.of()));
            }
        }
        return reached;
    }
}
