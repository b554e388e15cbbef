package io.tessera.autotalk;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Finds the prototypes {@code CUresult cu...(...)} in preprocessed C and classifies the types of their parameters by
 * the typedefs of the same text: pointer to an incomplete structure is a handle, enumeration is {@code i32}, integer
 * typedefs are followed, complete structures by value are {@code value:NAME}, structure and function pointers are
 * {@code void*}. May be given several texts; the first prototype of a name stays.
 */
final class PrototypeParser {
    private static final Pattern PROTOTYPE =
            Pattern.compile("\\bCUresult\\s+(cu[A-Z]\\w*)\\s*\\(([^;{}]*)\\)\\s*;", Pattern.DOTALL);
    private static final Pattern ALIAS = Pattern.compile("typedef\\s+([^;{}()]+?)(\\**)\\s*\\b(\\w+)\\s*;");
    private static final Pattern DEFINED = Pattern.compile("(struct|union|enum)\\s+(\\w+)?\\s*\\{");
    private static final Pattern TAGGED = Pattern.compile("typedef\\s+(struct|union|enum)\\s*(\\w*)\\s*\\{");
    private static final Pattern FUNCTION = Pattern.compile("typedef\\s+[\\w\\s*]+\\(\\s*\\*\\s*(\\w+)\\s*\\)\\s*\\(");
    private static final Map<String, String> SCALARS = Map.ofEntries(Map.entry("int", "i32"),
            Map.entry("unsigned int", "u32"), Map.entry("unsigned", "u32"), Map.entry("long long", "i64"),
            Map.entry("unsigned long long", "u64"), Map.entry("unsigned short", "u16"),
            Map.entry("unsigned char", "u8"), Map.entry("char", "char"), Map.entry("size_t", "size"),
            Map.entry("float", "f32"), Map.entry("double", "f64"), Map.entry("void", "void"),
            Map.entry("unsigned long int", "u64"), Map.entry("unsigned long", "u64"),
            Map.entry("uint64_t", "u64"), Map.entry("uint32_t", "u32"), Map.entry("int32_t", "i32"),
            Map.entry("CUdevice", "device"), Map.entry("CUdeviceptr", "deviceptr"),
            Map.entry("CUdeviceptr_v1", "deviceptr32"));

    private final SortedMap<String, Entry> entries = new TreeMap<>();
    private final Set<String> valueTypes = new TreeSet<>();
    private final Map<String, String> aliases = new HashMap<>();
    private final Set<String> enums = new HashSet<>();
    private final Set<String> structures = new HashSet<>();
    private final Set<String> functions = new HashSet<>();

    void parse(String text, String source) {
        readTypes(text);
        Matcher m = PROTOTYPE.matcher(text);
        while (m.find()) {
            String name = m.group(1);
            if (!entries.containsKey(name)) {
                entries.put(name, new Entry(name, Optional.of(parameters(m.group(2), source + ": " + name))));
            }
        }
    }

    SortedMap<String, Entry> entries() {
        return entries;
    }

    Set<String> valueTypes() {
        return valueTypes;
    }

    private void readTypes(String text) {
        Matcher defined = DEFINED.matcher(text);
        while (defined.find()) {
            if (defined.group(2) != null) {
                (defined.group(1).equals("enum") ? enums : structures).add(defined.group(2));
            }
        }
        Matcher function = FUNCTION.matcher(text);
        while (function.find()) {
            functions.add(function.group(1));
        }
        Matcher tagged = TAGGED.matcher(text);
        while (tagged.find()) {
            String name = nameBehindBody(text, tagged.end());
            if (name != null) {
                (tagged.group(1).equals("enum") ? enums : structures).add(name);
            }
        }
        Matcher alias = ALIAS.matcher(text);
        while (alias.find()) {
            aliases.putIfAbsent(alias.group(3), (alias.group(1).strip() + " " + alias.group(2)).strip());
        }
    }

    /** The first declarator behind the closing brace of a typedef's body. */
    private static String nameBehindBody(String text, int at) {
        int depth = 1;
        int i = at;
        while (i < text.length() && depth > 0) {
            char c = text.charAt(i++);
            depth += c == '{' ? 1 : c == '}' ? -1 : 0;
        }
        Matcher m = Pattern.compile("\\s*(?:__\\w+(?:\\(.*?\\))*\\s*)?(\\w+)").matcher(text);
        return m.find(i) && m.start() == i ? m.group(1) : null;
    }

    private List<Parameter> parameters(String list, String where) {
        List<Parameter> parameters = new ArrayList<>();
        if (list.isBlank() || list.strip().equals("void")) {
            return parameters;
        }
        for (String declaration : splitAtCommas(list)) {
            parameters.add(parameter(declaration.strip().replaceAll("\\s+", " "), parameters.size(), where));
        }
        return parameters;
    }

    private static List<String> splitAtCommas(String list) {
        List<String> parts = new ArrayList<>();
        int depth = 0;
        int from = 0;
        for (int i = 0; i < list.length(); i++) {
            char c = list.charAt(i);
            depth += c == '(' ? 1 : c == ')' ? -1 : 0;
            if (c == ',' && depth == 0) {
                parts.add(list.substring(from, i));
                from = i + 1;
            }
        }
        parts.add(list.substring(from));
        return parts;
    }

    private Parameter parameter(String declaration, int index, String where) {
        String text = declaration.replaceAll("\\[\\w*\\]", "*");
        if (text.contains("(")) {
            return new Parameter("callback" + index, "void*", Parameter.Direction.IN, Map.of());
        }
        boolean constant = Pattern.compile("\\bconst\\b").matcher(text).find();
        int stars = (int) text.chars().filter(c -> c == '*').count();
        String words = text.replace("*", " ").replaceAll("\\b(const|struct|enum|union|volatile)\\b", " ")
                .replaceAll("\\s+", " ").strip();
        int space = words.lastIndexOf(' ');
        String name = space > 0 ? words.substring(space + 1) : "arg" + index;
        String type = space > 0 ? words.substring(0, space) : words;
        if (space > 0 && (SCALARS.containsKey(words) || name.equals("int") || name.equals("char"))) {
            type = words;
            name = "arg" + index;
        }
        String spelled = spell(type, stars, constant, where);
        boolean pointer = spelled.endsWith("*");
        return new Parameter(name, spelled,
                pointer && !constant ? Parameter.Direction.OUT : Parameter.Direction.IN, Map.of());
    }

    private String spell(String type, int stars, boolean constant, String where) {
        String base = type;
        int pointers = stars;
        for (int i = 0; i < 16; i++) {
            if (SCALARS.containsKey(base)) {
                return (constant && pointers > 0 ? "const:" : "") + SCALARS.get(base) + "*".repeat(pointers);
            }
            if (enums.contains(base)) {
                return (constant && pointers > 0 ? "const:" : "") + "i32" + "*".repeat(pointers);
            }
            if (functions.contains(base)) {
                return "void*" + "*".repeat(pointers);
            }
            String target = aliases.get(base);
            if (target != null && target.endsWith("*")) {
                return (constant && pointers > 0 ? "const:" : "") + base + "*".repeat(pointers);
            }
            if (target == null || target.equals(base)) {
                return structure(base, type, pointers, constant, where);
            }
            base = target.replaceAll("\\b(const|struct|enum|union)\\b", " ").strip();
        }
        throw new AutotalkException(where + ": the type " + type + " leads in a circle");
    }

    private String structure(String base, String type, int pointers, boolean constant, String where) {
        if (pointers > 0) {
            return (constant ? "const:" : "") + "void" + "*".repeat(pointers);
        }
        if (!structures.contains(base)) {
            throw new AutotalkException(where + ": the type " + type + " is not known from this header");
        }
        valueTypes.add(type);
        return "value:" + type;
    }
}
