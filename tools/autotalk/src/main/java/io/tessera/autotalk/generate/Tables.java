package io.tessera.autotalk.generate;

import io.tessera.autotalk.annotation.Decisions;
import io.tessera.autotalk.annotation.Serving;
import io.tessera.autotalk.description.Description;

import java.util.List;

/** Tables in C over all entries, and the version script with the export list. */
final class Tables {
    private final Decisions decisions;
    private final List<Description.Export> exports;
    private final LibraryNames names;

    Tables(Decisions decisions) {
        this.decisions = decisions;
        this.exports = decisions.description().exports();
        this.names = LibraryNames.of(decisions.description().library());
    }

    /** Returns the names by index, and which entries the library implements. */
    String entryNames() {
        StringBuilder text = include();
        text.append("const char *const ").append(names.symbolPrefix()).append("entry_name[").append(names.count())
                .append("] = {\n");
        exports.forEach(export -> text.append("    \"").append(export.name()).append("\",\n"));
        text.append("};\n\nconst unsigned char ").append(names.symbolPrefix()).append("entry_hooked[").append(names.count())
                .append("] = {\n");
        exports.forEach(export -> text.append("    ").append(passed(export) ? 0 : 1).append(", /* ")
                .append(export.name()).append(" */\n"));
        return text.append("};\n").toString();
    }

    private boolean passed(Description.Export export) {
        return decisions.serving(export.entry()).orElseThrow() instanceof Serving.Pass;
    }

    /** Returns every entry that the library implements, with its function. If no prototype is known, an empty one is used. */
    String hookedEntries() {
        String hooked = names.symbolPrefix() + "hooked";
        List<Description.Export> ours = exports.stream()
                .filter(export -> !passed(export)).toList();
        StringBuilder text = include();
        ours.stream().filter(export -> export.entry().signature().isEmpty())
                .forEach(export -> text.append("extern void ").append(export.name()).append("(void)")
                        .append(decisions.relays() ? " __asm__(\"" + LibraryNames.direct(export.name()) + "\")" : "")
                        .append(";\n"));
        text.append("const struct ").append(hooked).append(' ').append(hooked).append("[] = {\n");
        ours.forEach(export -> text.append("    {ENTRY_").append(export.name()).append(", (void *)")
                .append(export.name()).append("},\n"));
        if (ours.isEmpty()) {
            text.append("    {0, NULL},\n"); /* C11 has no empty arrays; the count is 0 */
        }
        text.append("};\nconst unsigned ").append(hooked).append("_count = ").append(ours.size()).append(";\n");
        return text.toString();
    }

    /** Returns the version script: only these symbols are exported, without versions, like the vendor's. */
    String exportMap() {
        StringBuilder text = new StringBuilder(FileNotice.TEXT).append("{\n  global:\n");
        exports.forEach(export -> text.append("    ").append(export.name()).append(";\n"));
        return text.append("  local:\n    *;\n};\n").toString();
    }

    private StringBuilder include() {
        return new StringBuilder(FileNotice.TEXT).append("#include \"").append(names.headerName()).append("\"\n\n");
    }
}
