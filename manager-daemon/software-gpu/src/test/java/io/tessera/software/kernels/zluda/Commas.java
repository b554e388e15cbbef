package io.tessera.software.kernels.zluda;

import java.util.ArrayList;
import java.util.List;

/** Splits source text at the commas that stand in no bracket. */
final class Commas {
    private Commas() {
    }

    /** Returns the parts, trimmed; an empty last one is left out. */
    static List<String> split(String text) {
        List<String> parts = new ArrayList<>();
        int depth = 0;
        int begin = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
            if (c == ',' && depth == 0) {
                parts.add(text.substring(begin, i).strip());
                begin = i + 1;
            }
        }
        String last = text.substring(begin).strip();
        if (!last.isEmpty()) {
            parts.add(last);
        }
        return parts;
    }
}
