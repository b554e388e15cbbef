package io.tessera.autotalk.generate;

import io.tessera.autotalk.annotation.Decisions;
import io.tessera.autotalk.annotation.Serving;
import io.tessera.autotalk.description.Description;
import io.tessera.autotalk.description.Entry;
import io.tessera.autotalk.description.EntryParameter;
import io.tessera.autotalk.description.NamedType;
import io.tessera.autotalk.description.TypeClass;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** The header that hand-written and generated C share: indices, types, prototypes, the table of vendor's entries. */
final class EntriesHeader {
    private static final String HIDDEN = " __attribute__((visibility(\"hidden\")));\n";

    private final Decisions decisions;
    private final Description description;
    private final LibraryNames names;
    private final CSpelling spelling;

    EntriesHeader(Decisions decisions) {
        this.decisions = decisions;
        this.description = decisions.description();
        this.names = LibraryNames.of(description.library());
        this.spelling = new CSpelling(description);
    }

    String text() {
        String guard = names.headerName().toUpperCase(Locale.ROOT).replace('.', '_');
        StringBuilder text = new StringBuilder(FileNotice.TEXT);
        text.append("#ifndef ").append(guard).append("\n#define ").append(guard).append("\n\n");
        text.append("#include <stddef.h>\n#include <stdint.h>\n\n");
        boolean typed = description.entries().values().stream().anyMatch(entry -> entry.signature().isPresent());
        if (typed) {
            text.append("#include \"driver/driver_types.h\"\n\n");
        }
        appendTypes(text);
        appendIndices(text);
        appendTable(text, typed);
        appendPrototypes(text);
        text.append("#endif\n");
        return text.toString();
    }

    private void appendTypes(StringBuilder text) {
        for (NamedType type : description.types().values()) {
            if (type.typeClass() == TypeClass.HANDLE) {
                text.append("typedef struct tessera_opaque_").append(type.name()).append(" *").append(type.name())
                        .append(";\n");
            }
        }
        text.append('\n');
        valueTypes().values().forEach(definition -> text.append(definition).append('\n'));
    }

    /** Returns definitions of types passed by value, by tag: structures of the same shape share a definition. */
    private Map<String, String> valueTypes() {
        Map<String, String> definitions = new TreeMap<>();
        for (Entry entry : description.entries().values()) {
            entry.signature().ifPresent(signature -> Stream.concat(Stream.of(signature.returns()),
                    signature.parameters().stream().map(EntryParameter::type))
                    .filter(type -> !type.isPointer())
                    .map(type -> description.type(type.base()).orElseThrow())
                    .filter(CSpelling::isValue)
                    .forEach(type -> definitions.put(CSpelling.valueTag(type), CSpelling.valueDefinition(type))));
        }
        return definitions;
    }

    private void appendIndices(StringBuilder text) {
        text.append("enum {\n");
        int index = 0;
        for (Description.Export export : description.exports()) {
            text.append("    ENTRY_").append(export.name()).append(" = ").append(index++).append(",\n");
        }
        text.append("    ").append(names.count()).append(" = ").append(index).append("\n};\n\n");
    }

    private void appendTable(StringBuilder text, boolean typed) {
        String hooked = names.symbolPrefix() + "hooked";
        text.append("/* Where each entry continues: first a stub that has the vendor's entry looked up, then that. */\n");
        text.append("extern void *").append(names.table()).append('[').append(names.count())
                .append("] __attribute__((visibility(\"hidden\")));\n");
        text.append("extern const char *const ").append(names.symbolPrefix()).append("entry_name[")
                .append(names.count()).append("] __attribute__((visibility(\"hidden\")));\n\n");
        text.append("/* 1: the entry is ours, 0: it is passed on. */\n");
        text.append("extern const unsigned char ").append(names.symbolPrefix()).append("entry_hooked[")
                .append(names.count()).append(']').append(HIDDEN).append('\n');
        text.append("/* Called once for each entry by its stub; never returns NULL. Defined by hand. */\n");
        text.append("void *").append(names.resolver())
                .append("(unsigned index) __attribute__((visibility(\"hidden\")));\n\n");
        text.append("struct ").append(hooked).append(" {\n    unsigned entry;\n    void *hook;\n};\n");
        text.append("extern const struct ").append(hooked).append(" ").append(hooked)
                .append("[] __attribute__((visibility(\"hidden\")));\n");
        text.append("extern const unsigned ").append(hooked)
                .append("_count __attribute__((visibility(\"hidden\")));\n\n");
        if (decisions.relays()) {
            appendPort(text);
        }
        String load = "__atomic_load_n(&" + names.table() + "[ENTRY_##name], __ATOMIC_RELAXED)";
        String macro = names.filePrefix().isEmpty() ? "REAL" : names.macroPrefix() + "REAL";
        text.append("#define ").append(macro).append("(name) (")
                .append(typed ? "(pfn_##name)" : "").append(load).append(")\n\n");
    }

    private void appendPort(StringBuilder text) {
        text.append("/* Where each exported symbol jumps: first a stub that has the port chosen, then its function. */\n");
        text.append("extern void *").append(names.port()).append('[').append(names.count()).append(']').append(HIDDEN);
        text.append("/* The stubs with which the table of vendor's entries starts; the exported symbols. */\n");
        text.append("extern void *const ").append(names.first()).append('[').append(names.count()).append(']')
                .append(HIDDEN);
        text.append("extern void *const ").append(names.exported()).append('[').append(names.count()).append(']')
                .append(HIDDEN);
        text.append("/* Called by the stubs of the port; never returns NULL. Defined by hand. */\n");
        text.append("void *").append(names.chooser()).append("(unsigned index)").append(HIDDEN).append('\n');
    }

    private void appendPrototypes(StringBuilder text) {
        List<String> exported = new ArrayList<>();
        for (Description.Export export : description.exports()) {
            Entry entry = export.entry();
            if (entry.signature().isEmpty()) {
                continue;
            }
            Entry.Signature signature = entry.signature().get();
            String returns = spelling.type(signature.returns());
            String parameters = spelling.parameters(signature.parameters());
            text.append("typedef ").append(returns).append("(*pfn_").append(export.name()).append(")(")
                    .append(parameters).append(");\n");
            if (!(decisions.serving(entry).orElseThrow() instanceof Serving.Pass)) {
                String label = decisions.relays() ? " __asm__(\"" + LibraryNames.direct(export.name()) + "\")" : "";
                exported.add("TESSERA_EXPORT " + returns + export.name() + "(" + parameters + ")" + label + ";\n");
            }
        }
        text.append('\n');
        exported.forEach(text::append);
        text.append('\n');
    }
}
