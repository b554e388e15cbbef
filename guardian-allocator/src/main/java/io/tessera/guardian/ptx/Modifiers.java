package io.tessera.guardian.ptx;

import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.RandomAccess;

/**
 * The words of an instruction after its opcode, with what they say of types and spaces, which is asked for again and again. Modules have
 * few different ones: a parser makes each once, and code that writes an instruction again passes on what it had. Immutable.
 */
public final class Modifiers extends AbstractList<String> implements RandomAccess {
    private final String[] words;
    private final String text;
    private final List<ScalarType> types;
    private final Optional<ScalarType> type;
    private final Optional<StateSpace> space;

    private Modifiers(String[] words) {
        this.words = words;
        text = words.length == 0 ? "" : "." + String.join(".", words);
        List<ScalarType> found = new ArrayList<>(2);
        StateSpace first = null;
        for (String word : words) {
            ScalarType named = ScalarType.of(word);
            if (named != null) {
                found.add(named);
            }
            first = first == null ? StateSpace.of(word) : first;
        }
        types = List.copyOf(found);
        type = types.isEmpty() ? Optional.empty() : Optional.of(types.getLast());
        space = Optional.ofNullable(first);
    }

    /** Those words, without dots; the list itself if it is of this class. */
    public static Modifiers of(List<String> words) {
        return words instanceof Modifiers known ? known : new Modifiers(words.toArray(String[]::new));
    }

    /** All words that a text has begun with, each time with what may follow: for a parser. Their number is bounded. Not thread-safe. */
    public static final class Tree {
        /** A compiler's text has some hundreds; a text that is written to have more costs what it would without this. */
        private static final int MOST_KEPT = 4096;

        private final Modifiers words;
        private final int[] kept;
        private final Map<String, Tree> longer = new HashMap<>(4);

        /** The empty one. */
        public Tree() {
            this(new Modifiers(new String[0]), new int[1]);
        }

        private Tree(Modifiers words, int[] kept) {
            this.words = words;
            this.kept = kept;
        }

        /** These words and another. */
        public Tree and(String word) {
            Tree known = longer.get(word);
            if (known == null) {
                String[] all = Arrays.copyOf(words.words, words.size() + 1);
                all[words.size()] = word;
                known = new Tree(new Modifiers(all), kept);
                if (kept[0] < MOST_KEPT) {
                    kept[0]++;
                    longer.put(word, known);
                }
            }
            return known;
        }

        /** Returns the number of modifiers. */
        int size() {
            return kept[0];
        }

        /** The words. */
        public Modifiers words() {
            return words;
        }
    }

    @Override
    public String get(int index) {
        return words[index];
    }

    @Override
    public int size() {
        return words.length;
    }

    @Override
    public boolean contains(Object word) {
        for (String each : words) {
            if (each.equals(word)) {
                return true;
            }
        }
        return false;
    }

    /** Each word with its dot. */
    public String text() {
        return text;
    }

    /** The types among them, in order. */
    public List<ScalarType> types() {
        return types;
    }

    /** The last type. */
    Optional<ScalarType> type() {
        return type;
    }

    /** The first state space. */
    public Optional<StateSpace> space() {
        return space;
    }
}
