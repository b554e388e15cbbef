package io.tessera.autotalk.generate;

import io.tessera.autotalk.annotation.Decisions;
import io.tessera.autotalk.annotation.RelayServing;
import io.tessera.autotalk.description.Description;

/** Writes the header of the relay port: functions generated for hand-written C, and those that it has to define. */
final class RelayHeader {
    private final Decisions decisions;
    private final RelaySenders senders;

    RelayHeader(Decisions decisions) {
        this.decisions = decisions;
        this.senders = new RelaySenders(decisions);
    }

    String text() {
        StringBuilder text = new StringBuilder(FileNotice.TEXT);
        text.append("#ifndef RELAY_STUBS_H\n#define RELAY_STUBS_H\n\n");
        text.append("#include \"relay/wire/call_description.h\"\n#include \"tessera_entries.h\"\n\n");
        text.append("/* Fills the port's table with the relay's functions. */\n");
        text.append("extern void *const tessera_relay_port[TESSERA_ENTRY_COUNT] "
                + "__attribute__((visibility(\"hidden\")));\n\n");
        appendSenders(text);
        appendFunctions(text, "Written by hand, in src/relay.", true);
        appendFunctions(text, "Generated.", false);
        text.append("#endif\n");
        return text.toString();
    }

    private void appendSenders(StringBuilder text) {
        text.append("/* Raw senders for the fronts. NAME_bytes is the length of what only a front can measure. */\n");
        for (Description.Export export : decisions.description().exports()) {
            if (RelaySenders.plain(export) && serving(export) instanceof RelayServing.Send send && send.front()) {
                text.append(senders.prototype("relay_send_", export)).append(";\n");
            }
        }
        text.append('\n');
    }

    private void appendFunctions(StringBuilder text, String comment, boolean handwritten) {
        text.append("/* ").append(comment).append(" */\n");
        for (Description.Export export : decisions.description().exports()) {
            boolean byHand = serving(export).handwritten() && !RelaySenders.mapsStream(export);
            if (!(serving(export) instanceof RelayServing.Refuse) && byHand == handwritten) {
                text.append(senders.prototype("relay_", export)).append(handwritten ? " RELAY_HANDWRITTEN;\n" : ";\n");
            }
        }
        text.append('\n');
    }

    private RelayServing serving(Description.Export export) {
        return decisions.relayServing(export.entry()).orElseThrow();
    }
}
