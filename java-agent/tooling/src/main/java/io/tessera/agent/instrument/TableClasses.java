package io.tessera.agent.instrument;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * The names of the classes in a table. A JVM needs nothing else of the table before its first CUDA class, so the build writes the names of
 * the built-in table into {@value #LIST}. Any thread.
 */
public final class TableClasses {
    /** Resource beside this class: one internal name a line. */
    public static final String LIST = "cuda.classes";

    private TableClasses() {
    }

    /**
     * Reads a table.
     *
     * @param in the table
     * @return internal names of the classes that have rules
     * @throws IOException if it cannot be read
     */
    public static Set<String> of(InputStream in) throws IOException {
        Set<String> names = new LinkedHashSet<>();
        BufferedReader reader = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
        for (String line = reader.readLine(); line != null; line = reader.readLine()) {
            String text = line.strip();
            if (!text.isEmpty() && text.charAt(0) != '#' && !text.startsWith("library ")
                    && !text.startsWith("address ")) {
                String rest = text.substring(Math.max(0, text.indexOf(' '))).strip();
                int end = rest.indexOf(' ');
                if (end > 0) {
                    names.add(rest.substring(0, end).replace('.', '/'));
                }
            }
        }
        return names;
    }
}
