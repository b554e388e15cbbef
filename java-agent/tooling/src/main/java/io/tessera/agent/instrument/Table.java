package io.tessera.agent.instrument;

import io.tessera.agent.boot.Addresses;
import io.tessera.agent.boot.Recorder;
import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The rules on which methods are instrumented: the built-in table ({@code cuda.table}, which also says the format) and a user's
 * ({@code table=FILE}). A malformed line is reported and ignored. Immutable.
 */
public final class Table {
    private static final String BUILT_IN = "cuda.table";

    private final List<Rule> rules;
    private final Map<String, List<Rule>> byType = new HashMap<>();

    private Table(List<Rule> rules) {
        this.rules = List.copyOf(rules);
        for (Rule rule : rules) {
            byType.computeIfAbsent(rule.type(), t -> new ArrayList<>()).add(rule);
        }
    }

    /**
     * Reads the built-in table, then a user's.
     *
     * @param file the user's, or null
     * @param complain receives a message for each malformed line
     * @return the rules of both
     * @throws IOException if the built-in one cannot be read
     */
    public static Table read(String file, Consumer<String> complain) throws IOException {
        List<Rule> rules = new ArrayList<>();
        try (InputStream in = resource(BUILT_IN)) {
            new Reading(rules, complain, BUILT_IN).lines(in);
        }
        if (file != null) {
            try (InputStream in = Files.newInputStream(Path.of(file))) {
                new Reading(rules, complain, file).lines(in);
            } catch (IOException | RuntimeException failure) {
                complain.accept("table=" + file + ": " + failure);
            }
        }
        return new Table(rules);
    }

    /**
     * Returns the classes that have rules, from the list made by the build; cheaper than reading the whole table.
     *
     * @param file a user's table, or null
     * @return their internal names
     * @throws IOException if the list cannot be read
     */
    public static String[] classes(String file) throws IOException {
        String[] names;
        try (InputStream in = resource(TableClasses.LIST)) {
            names = new String(in.readAllBytes(), StandardCharsets.UTF_8).split("\n");
        }
        if (file == null) {
            return names;
        }
        Set<String> all = new LinkedHashSet<>(Arrays.asList(names));
        try (InputStream in = new FileInputStream(file)) {
            all.addAll(TableClasses.of(in));
        } catch (FileNotFoundException unreadable) {
            // read() reports the problem later.
            return names;
        }
        return all.toArray(new String[0]);
    }

    private static InputStream resource(String name) throws IOException {
        String path = Table.class.getPackageName().replace('.', '/') + "/" + name;
        InputStream in = Table.class.getClassLoader().getResourceAsStream(path);
        if (in == null) {
            throw new IOException("the agent's jar holds no " + path);
        }
        return in;
    }

    /** Returns a table of these rules alone. */
    static Table of(List<Rule> rules) {
        return new Table(rules);
    }

    List<Rule> rules() {
        return rules;
    }

    /** Returns the rules of a class, by its name with dots. */
    List<Rule> of(String type) {
        return byType.getOrDefault(type, List.of());
    }

    /** Reads the lines of one file. */
    private static final class Reading {
        private final List<Rule> rules;
        private final Consumer<String> complain;
        private final String file;

        Reading(List<Rule> rules, Consumer<String> complain, String file) {
            this.rules = rules;
            this.complain = complain;
            this.file = file;
        }

        void lines(InputStream in) throws IOException {
            BufferedReader reader = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
            int number = 0;
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                number++;
                String text = line.strip();
                if (!text.isEmpty() && !text.startsWith("#")) {
                    try {
                        line(text.split("\\s+"));
                    } catch (RuntimeException wrong) {
                        complain.accept(file + ", line " + number + ": " + wrong.getMessage());
                    }
                }
            }
        }

        private void line(String[] words) {
            if (words.length < 2) {
                throw new IllegalArgumentException("a line has a role and a class");
            }
            if (words[0].equals("library")) {
                Recorder.library(words[1]);
                return;
            }
            if (words.length < 3) {
                throw new IllegalArgumentException(words[0] + " needs a class and a member");
            }
            Map<String, String> keys = new HashMap<>();
            boolean owner = false;
            for (int i = 3; i < words.length; i++) {
                int equals = words[i].indexOf('=');
                if (equals > 0) {
                    keys.put(words[i].substring(0, equals), words[i].substring(equals + 1));
                } else if (words[i].equals("owner") && words[0].equals("address")) {
                    owner = true;
                } else {
                    throw new IllegalArgumentException("what is " + words[i] + "?");
                }
            }
            if (words[0].equals("address")) {
                Addresses.define(words[1], words[2], keys.get("offset"), owner);
            } else {
                rules.add(new Rule(Role.valueOf(words[0].toUpperCase(Locale.ROOT)), words[1], words[2], keys));
            }
        }
    }
}
