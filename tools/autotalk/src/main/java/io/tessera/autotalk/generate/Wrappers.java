package io.tessera.autotalk.generate;

import io.tessera.autotalk.input.InputException;
import io.tessera.autotalk.annotation.Decisions;
import io.tessera.autotalk.annotation.Serving;
import io.tessera.autotalk.description.Description;
import io.tessera.autotalk.description.Entry;
import io.tessera.autotalk.description.Parameter;

import java.util.List;
import java.util.stream.Collectors;

/**
 * C wrappers around the entries that submit work or wait for it. A wrapper looks at no argument but the stream, and
 * hands the driver's answer back untouched.
 */
final class Wrappers {
    private static final String STREAM_TYPE = "CUstream";

    private final Decisions decisions;
    private final CSpelling spelling;

    Wrappers(Decisions decisions) {
        this.decisions = decisions;
        this.spelling = new CSpelling(decisions.description());
    }

    /** Whether any entry needs one. */
    boolean needed() {
        return decisions.description().exports().stream()
                .anyMatch(export -> wrapped(decisions.serving(export.entry()).orElseThrow()));
    }

    private static boolean wrapped(Serving serving) {
        return serving instanceof Serving.Submit || serving instanceof Serving.Sync;
    }

    String text() {
        StringBuilder text = new StringBuilder(Generator.NOTICE);
        text.append("#include \"gate.h\"\n#include \"sync.h\"\n#include \"tessera_entries.h\"\n");
        for (Description.Export export : decisions.description().exports()) {
            switch (decisions.serving(export.entry()).orElseThrow()) {
                case Serving.Submit submit -> append(text, export, "gate", "gate_enter(" + submit.kind().constant()
                        + ", " + stream(export, submit) + ")");
                case Serving.Sync ignored -> append(text, export, "sync", "sync_enter()");
                default -> {
                    /* Passed on by a jump, or written by hand. */
                }
            }
        }
        return text.toString();
    }

    private void append(StringBuilder text, Description.Export export, String guard, String enter) {
        Entry.Signature signature = export.entry().signature().orElseThrow();
        String returns = spelling.type(signature.returns());
        String arguments = signature.parameters().stream().map(Parameter::name).collect(Collectors.joining(", "));
        text.append("\nTESSERA_EXPORT ").append(returns).append(export.name()).append('(')
                .append(spelling.parameters(signature.parameters())).append(")\n{\n");
        text.append("    struct ").append(guard).append("_pass pass = ").append(enter).append(";\n");
        String refused = guard.equals("gate") ? "gate_refused(pass) ? CUDA_ERROR_OUT_OF_MEMORY : " : "";
        text.append("    ").append(returns).append("result = ").append(refused)
                .append("REAL(").append(export.name()).append(")(")
                .append(arguments).append(");\n");
        text.append("    ").append(guard).append("_leave(pass, result);\n    return result;\n}\n");
    }

    private String stream(Description.Export export, Serving.Submit submit) {
        String constant = export.perThread() ? "TESSERA_STREAM_PER_THREAD" : "TESSERA_STREAM_LEGACY";
        if (submit.stream().isPresent()) {
            return "gate_stream(" + submit.stream().get() + ", " + constant + ")";
        }
        List<String> streams = export.entry().signature().orElseThrow().parameters().stream()
                .filter(parameter -> parameter.type().toString().equals(STREAM_TYPE)).map(Parameter::name).toList();
        if (streams.size() > 1) {
            throw new InputException(decisions.description().library(), 0, export.name()
                    + " has several streams " + streams + ": its annotation must say stream=EXPRESSION");
        }
        return streams.isEmpty() ? constant : "gate_stream(" + streams.getFirst() + ", " + constant + ")";
    }
}
