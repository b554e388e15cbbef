package io.tessera.autotalk.header;

import io.tessera.autotalk.description.Description;
import io.tessera.autotalk.description.Entry;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The CUDA versions from which a name means a given entry: {@code cudaTypedefs.h} names a function type for each,
 * {@code PFN_cuMemAlloc_v3020} for the second {@code cuMemAlloc}. The n-th version of a name belongs to its n-th entry,
 * twins counted apart; a name whose numbers differ stays unknown.
 *
 * @param plain     versions by name
 * @param perThread versions of the per-thread twins by name
 */
public record LookupVersions(Map<String, SortedSet<Integer>> plain, Map<String, SortedSet<Integer>> perThread) {
    private static final Pattern FUNCTION_TYPE = Pattern.compile("\\*\\s*PFN_([A-Za-z]\\w*?)_v(\\d+)(_pt[sd][zs])?\\s*\\)");

    /** Reads the text of such headers. */
    public static LookupVersions read(String text) {
        Map<String, SortedSet<Integer>> plain = new TreeMap<>();
        Map<String, SortedSet<Integer>> perThread = new TreeMap<>();
        Matcher matcher = FUNCTION_TYPE.matcher(text);
        while (matcher.find()) {
            (matcher.group(3) == null ? plain : perThread).computeIfAbsent(matcher.group(1), name -> new TreeSet<>())
                    .add(Integer.parseInt(matcher.group(2)));
        }
        return new LookupVersions(plain, perThread);
    }

    /** Returns the description with the known versions. */
    public Description appliedTo(Description description) {
        Map<String, Integer> plainOf = assign(description, plain, entry -> true);
        Map<String, Integer> twinOf = assign(description, perThread, entry -> entry.perThread().isPresent());
        NavigableMap<String, Entry> entries = new TreeMap<>();
        description.entries().forEach((name, entry) -> entries.put(name, entry.withSince(
                new Entry.Since(plainOf.getOrDefault(name, 0), twinOf.getOrDefault(name, 0)))));
        return new Description(description.library(), description.sources(), description.types(), description.fields(),
                entries);
    }

    private static Map<String, Integer> assign(Description description, Map<String, SortedSet<Integer>> versions,
            Predicate<Entry> counted) {
        Map<String, List<Entry>> families = new TreeMap<>();
        description.entries().values().stream().filter(counted).sorted(Comparator.comparingInt(Entry::version))
                .forEach(entry -> families.computeIfAbsent(Entry.stem(entry.name()), stem -> new ArrayList<>()).add(entry));
        Map<String, Integer> assigned = new TreeMap<>();
        families.forEach((stem, family) -> {
            List<Integer> known = List.copyOf(versions.getOrDefault(stem, new TreeSet<>()));
            for (int i = 0; known.size() == family.size() && i < known.size(); i++) {
                assigned.put(family.get(i).name(), known.get(i));
            }
        });
        return assigned;
    }
}
