package io.tessera.agent.instrument;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * The classes that a table names, and nothing else of it: this is all that a JVM needs before its first CUDA class, and
 * it is read at every start.
 */
final class TableClasses {
    private TableClasses() {
    }

    /** Internal names of the classes that have rules; {@code more} is a user's table or null. */
    static String[] of(InputStream builtIn, InputStream more) throws IOException {
        Set<String> names = new LinkedHashSet<>();
        read(builtIn, names);
        if (more != null) {
            read(more, names);
        }
        return names.toArray(new String[0]);
    }

    private static void read(InputStream in, Set<String> names) throws IOException {
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
    }
}
