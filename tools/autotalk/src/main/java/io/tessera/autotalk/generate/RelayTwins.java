package io.tessera.autotalk.generate;

import io.tessera.autotalk.annotation.Decisions;
import io.tessera.autotalk.annotation.RelayServing;
import io.tessera.autotalk.description.Description;

import java.util.stream.Collectors;

/**
 * The relay's per-thread twins: each calls the plain entry with the per-thread stream in place of stream 0. They are a file of their
 * own, since they call entries of all layers, which themselves call the senders.
 */
final class RelayTwins {
    private static final String STREAM = "CUstream";

    private final Decisions decisions;
    private final RelaySenders senders;

    RelayTwins(Decisions decisions) {
        this.decisions = decisions;
        this.senders = new RelaySenders(decisions);
    }

    String text() {
        StringBuilder text = new StringBuilder(FileNotice.TEXT);
        text.append("#include \"relay_stubs.h\"\n");
        for (Description.Export export : decisions.description().exports()) {
            boolean refused = decisions.relayServing(export.entry()).orElseThrow() instanceof RelayServing.Refuse;
            if (!refused && RelaySenders.mapsStream(export)) {
                append(text, export);
            }
        }
        return text.toString();
    }

    private void append(StringBuilder text, Description.Export export) {
        String values = export.entry().signature().orElseThrow().parameters().stream()
                .map(parameter -> parameter.type().toString().equals(STREAM)
                        ? "relay_per_thread(" + parameter.name() + ")" : parameter.name())
                .collect(Collectors.joining(", "));
        text.append('\n').append(senders.prototype("relay_", export)).append("\n{\n    return relay_")
                .append(export.entry().name()).append('(').append(values).append(");\n}\n");
    }
}
