package io.tessera.autotalk.generate;

import io.tessera.autotalk.annotation.Decisions;
import io.tessera.autotalk.annotation.RelayServing;
import io.tessera.autotalk.description.Description;

/** Writes the relay's side of the port: its function for every entry, including refusals. */
final class RelayPort {
    private final Decisions decisions;

    RelayPort(Decisions decisions) {
        this.decisions = decisions;
    }

    String text() {
        StringBuilder text = new StringBuilder(FileNotice.TEXT);
        text.append("#include \"relay/wire/unsupported.h\"\n#include \"relay_stubs.h\"\n\n");
        for (Description.Export export : decisions.description().exports()) {
            if (serving(export) instanceof RelayServing.Refuse refuse) {
                text.append("static CUresult refuse_").append(export.name()).append("(void)\n{\n    return ")
                        .append(refusal(export)).append("(\"").append(export.name()).append("\", \"").append(refuse.reason()).append("\");\n}\n");
            }
        }
        text.append("\n/* NULL: hand-written, and not there yet. */\n");
        text.append("void *const tessera_relay_port[TESSERA_ENTRY_COUNT] = {\n");
        for (Description.Export export : decisions.description().exports()) {
            boolean refused = serving(export) instanceof RelayServing.Refuse;
            text.append("    (void *)").append(refused ? "refuse_" : "relay_").append(export.name()).append(",\n");
        }
        return text.append("};\n").toString();
    }

    /**
     * Returns the function that refuses an entry. Queries are refused without a line for the user, because programs can do without optional
     * features. Entries of libraries are not, because programs need what a library provides.
     */
    private static String refusal(Description.Export export) {
        return export.name().contains("Get") && !export.name().startsWith("cuLibrary") ? "relay_unsupported_query" : "relay_unsupported";
    }

    private RelayServing serving(Description.Export export) {
        return decisions.relayServing(export.entry()).orElseThrow();
    }
}
