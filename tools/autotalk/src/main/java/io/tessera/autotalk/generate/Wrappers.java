package io.tessera.autotalk.generate;

import io.tessera.autotalk.annotation.Decisions;
import io.tessera.autotalk.annotation.Serving;
import io.tessera.autotalk.description.Description;
import io.tessera.autotalk.description.EntryParameter;
import io.tessera.autotalk.input.InputException;
import java.util.List;
import java.util.stream.Collectors;

/**
 * C wrappers around the entries that submit work, wait for it, or need device memory of the driver's own. A wrapper reads no argument
 * except the stream, and returns the driver's result unchanged.
 */
final class Wrappers {
    private static final String STREAM_TYPE = "CUstream";

    private final Decisions decisions;
    private final CSpelling spelling;

    Wrappers(Decisions decisions) {
        this.decisions = decisions;
        this.spelling = new CSpelling(decisions.description());
    }

    /** Returns whether any entry needs a wrapper. */
    boolean needed() {
        return decisions.description().exports().stream()
                .anyMatch(export -> decisions.serving(export.entry()).orElseThrow().isWrapped());
    }

    String text() {
        StringBuilder text = new StringBuilder(FileNotice.TEXT);
        text.append(
                "#include \"direct/pools/driver_room.h\"\n#include \"direct/turns/gate.h\"\n#include \"direct/entry/sync.h\"\n#include \"tessera_entries.h\"\n");
        for (Description.Export export : decisions.description().exports()) {
            switch (decisions.serving(export.entry()).orElseThrow()) {
                case Serving.Submit submit -> appendSubmission(text, export, submit);
                case Serving.Sync ignored -> appendSynchronisation(text, export);
                case Serving.Room ignored -> appendNeedy(text, export);
                default -> {
                    /* Passed on by a jump, or written by hand. */
                }
            }
        }
        return text.toString();
    }

    private void appendSubmission(StringBuilder text, Description.Export export, Serving.Submit submit) {
        head(text, export);
        text.append("    struct driver_room room = {0};\n    struct gate_pass pass;\n    ").append(returns(export)).append("result;\n");
        text.append("    do {\n        pass = gate_enter(").append(submit.kind().constant()).append(", ")
                .append(stream(export, submit)).append(");\n");
        text.append("        result = gate_refused(pass) ? CUDA_ERROR_OUT_OF_MEMORY : ").append(call(export)).append(";\n");
        text.append("        gate_leave(pass, result);\n");
        text.append("    } while (driver_room_again(&room, gate_refused(pass) ? 0 : result));\n    return result;\n}\n");
    }

    private void appendSynchronisation(StringBuilder text, Description.Export export) {
        head(text, export);
        text.append("    struct sync_pass pass = sync_enter();\n    ").append(returns(export)).append("result = ")
                .append(call(export)).append(";\n    sync_leave(pass, result);\n    return result;\n}\n");
    }

    private void appendNeedy(StringBuilder text, Description.Export export) {
        head(text, export);
        text.append("    return WITH_DRIVER_ROOM(").append(call(export)).append(");\n}\n");
    }

    private void head(StringBuilder text, Description.Export export) {
        text.append("\nTESSERA_EXPORT ").append(returns(export)).append(export.name()).append('(')
                .append(spelling.parameters(export.entry().signature().orElseThrow().parameters())).append(")\n{\n");
    }

    private String returns(Description.Export export) {
        return spelling.type(export.entry().signature().orElseThrow().returns());
    }

    private static String call(Description.Export export) {
        return "REAL(" + export.name() + ")(" + export.entry().signature().orElseThrow().parameters().stream()
                .map(EntryParameter::name).collect(Collectors.joining(", ")) + ")";
    }

    private String stream(Description.Export export, Serving.Submit submit) {
        String constant = export.perThread() ? "TESSERA_STREAM_PER_THREAD" : "TESSERA_STREAM_LEGACY";
        if (submit.stream().isPresent()) {
            return "gate_stream(" + submit.stream().get() + ", " + constant + ")";
        }
        List<String> streams = export.entry().signature().orElseThrow().parameters().stream()
                .filter(parameter -> parameter.type().toString().equals(STREAM_TYPE)).map(EntryParameter::name).toList();
        if (streams.size() > 1) {
            throw new InputException(decisions.description().library(), 0, export.name()
                    + " has several streams " + streams + ": its annotation must say stream=EXPRESSION");
        }
        return streams.isEmpty() ? constant : "gate_stream(" + streams.getFirst() + ", " + constant + ")";
    }
}
