package io.tessera.autotalk.generate;

import io.tessera.autotalk.annotation.Decisions;
import io.tessera.autotalk.annotation.RelayServing;
import io.tessera.autotalk.description.Description;
import io.tessera.autotalk.description.Entry;
import io.tessera.autotalk.description.ParameterDirection;
import io.tessera.autotalk.input.InputException;
import io.tessera.autotalk.marshal.Argument;
import io.tessera.autotalk.marshal.HandleType;
import io.tessera.autotalk.marshal.Marshalling;
import io.tessera.autotalk.marshal.PointerExtent;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Writes the relay's senders: for each entry that is sent, a description of its parameters and a function that puts them into 64-bit slots.
 */
final class RelaySenders {
    private static final int NO_STREAM = 255;

    private final Decisions decisions;
    private final Marshalling marshalling;
    private final CSpelling spelling;

    RelaySenders(Decisions decisions) {
        this.decisions = decisions;
        this.marshalling = new Marshalling(decisions);
        this.spelling = new CSpelling(decisions.description());
    }

    String text() {
        StringBuilder text = new StringBuilder(FileNotice.TEXT);
        text.append("#include \"relay/streams/forward_call.h\"\n#include \"relay_stubs.h\"\n");
        for (Description.Export export : decisions.description().exports()) {
            RelayServing serving = decisions.relayServing(export.entry()).orElseThrow();
            if (plain(export) && serving instanceof RelayServing.Send send) {
                appendSender(text, export, send);
            }
        }
        return text.toString();
    }

    /** Returns whether this is the exported name of the entry itself, not of its twin. */
    static boolean plain(Description.Export export) {
        return export.name().equals(export.entry().name());
    }

    /** Returns whether this is a twin whose stream is a parameter, so that generated code can map it. */
    static boolean mapsStream(Description.Export export) {
        return !plain(export) && Decisions.takesStream(export.entry());
    }

    /** Returns a prototype; raw senders also take the lengths that only a front knows. */
    String prototype(String prefix, Description.Export export) {
        Entry.Signature signature = export.entry().signature().orElseThrow();
        String parameters = spelling.parameters(signature.parameters());
        if (prefix.equals("relay_send_")) {
            String lengths = byHand(arguments(export)).stream().map(argument -> ", size_t " + argument.name() + "_bytes")
                    .collect(Collectors.joining());
            parameters += lengths;
        }
        return spelling.type(signature.returns()) + prefix + export.name() + "(" + parameters + ")";
    }

    private List<Argument> arguments(Description.Export export) {
        return marshalling.arguments(export.entry()).orElseThrow();
    }

    private static List<Argument> byHand(List<Argument> arguments) {
        return arguments.stream().filter(argument -> argument.shape() instanceof Argument.Pointer pointer
                && pointer.extent() instanceof PointerExtent.Handwritten).toList();
    }

    private void appendSender(StringBuilder text, Description.Export export, RelayServing.Send send) {
        List<Argument> arguments = arguments(export);
        check(export, send, arguments);
        String name = export.name();
        if (!arguments.isEmpty()) {
            text.append("\nstatic const struct relay_parameter parameters_").append(name).append("[] = {\n");
            int given = arguments.size();
            for (Argument argument : arguments) {
                boolean measured = byHand(List.of(argument)).isEmpty();
                text.append("    ").append(parameter(argument, arguments, measured ? 0 : given++)).append(",\n");
            }
            text.append("};\n");
        }
        text.append("static const struct relay_description describe_").append(name).append(" = {ENTRY_").append(name)
                .append(", ").append(arguments.size()).append(", ").append(streamOf(arguments)).append(", ")
                .append(arguments.isEmpty() ? "NULL" : "parameters_" + name).append("};\n\n");
        text.append(prototype(send.front() ? "relay_send_" : "relay_", export)).append("\n{\n");
        if (!arguments.isEmpty()) {
            text.append("    const uint64_t arguments[] = {").append(slots(arguments)).append("};\n");
        }
        text.append("    return ").append(send.waits() ? "relay_call" : "relay_post").append("(&describe_").append(name)
                .append(", ").append(arguments.isEmpty() ? "NULL" : "arguments").append(");\n}\n");
    }

    private void check(Description.Export export, RelayServing.Send send, List<Argument> arguments) {
        for (Argument argument : arguments) {
            String problem = argument.shape() instanceof Argument.Pointer pointer ? problem(pointer, send) : "";
            if (!problem.isEmpty()) {
                throw new InputException(decisions.description().library(), 0, export.name() + "." + argument.name()
                        + " " + problem);
            }
        }
    }

    private static String problem(Argument.Pointer pointer, RelayServing.Send send) {
        if (!send.front() && !pointer.generated()) {
            return "cannot be sent by generated code alone: 'wrap' it, or give its extent";
        }
        return !send.waits() && pointer.direction() == ParameterDirection.OUT ? "comes back, but nobody waits for it" : "";
    }

    private static int streamOf(List<Argument> arguments) {
        return IntStream.range(0, arguments.size())
                .filter(i -> arguments.get(i).shape().equals(new Argument.Handle(HandleType.STREAM))).findFirst()
                .orElse(NO_STREAM);
    }

    private static String parameter(Argument argument, List<Argument> all, int given) {
        return switch (argument.shape()) {
            case Argument.Number ignored -> "{.shape = RELAY_NUMBER}";
            case Argument.Opaque ignored -> "{.shape = RELAY_OPAQUE}";
            case Argument.Handle handle -> "{.shape = RELAY_HANDLE, .handle = " + number(handle.kind()) + "}";
            case Argument.Structure ignored -> "{.shape = RELAY_STRUCTURE, .direction = RELAY_IN, .element_bytes = "
                    + argument.type().bytes() + ", .count = 1}";
            case Argument.Pointer pointer -> pointer(pointer, all, given);
        };
    }

    private static String pointer(Argument.Pointer pointer, List<Argument> all, int given) {
        String direction = switch (pointer.direction()) {
            case IN -> "RELAY_IN";
            case OUT -> "RELAY_OUT";
            case INOUT -> "RELAY_IN | RELAY_OUT";
        };
        String extent = switch (pointer.extent()) {
            case PointerExtent.Constant constant -> ".count = " + constant.elements();
            case PointerExtent.Value value -> ".extent = RELAY_EXTENT_VALUE, .index = " + value.parameter() + ", .count = "
                    + value.factor() + ", .less = " + value.less();
            case PointerExtent.Behind behind -> ".extent = RELAY_EXTENT_BEHIND, .index = " + behind.parameter()
                    + ", .behind_bytes = " + ((Argument.Pointer) all.get(behind.parameter()).shape()).elementBytes();
            case PointerExtent.Text ignored -> ".extent = RELAY_EXTENT_TEXT";
            case PointerExtent.Handwritten ignored -> ".extent = RELAY_EXTENT_GIVEN, .index = " + given;
        };
        int element = pointer.extent() instanceof PointerExtent.Handwritten ? 1 : pointer.elementBytes();
        return "{.shape = RELAY_POINTER, .handle = " + pointer.element().map(RelaySenders::number).orElse("0")
                + ", .direction = " + direction + ", .element_bytes = " + element + ", " + extent + "}";
    }

    private static String number(HandleType kind) {
        return kind == HandleType.FOREIGN ? "0" : "TESSERA_HANDLE_" + kind;
    }

    private static String slots(List<Argument> arguments) {
        List<String> slots = new ArrayList<>();
        arguments.forEach(argument -> slots.add(slot(argument)));
        byHand(arguments).forEach(argument -> slots.add(argument.name() + "_bytes"));
        return String.join(", ", slots);
    }

    private static String slot(Argument argument) {
        String name = argument.name();
        return switch (argument.shape()) {
            case Argument.Number number when number.passing().startsWith("f") -> "relay_float_bits(" + name + ")";
            case Argument.Number number when number.passing().startsWith("i") -> "(uint64_t)(int64_t)" + name;
            case Argument.Number ignored -> name;
            case Argument.Handle handle when integer(handle.kind()) -> name;
            case Argument.Structure ignored -> "(uintptr_t)&" + name;
            default -> "(uintptr_t)" + name;
        };
    }

    /** Returns whether the header declares this kind of handle as an integer. */
    private static boolean integer(HandleType kind) {
        return kind == HandleType.ALLOCATION || kind == HandleType.TEXTURE || kind == HandleType.SURFACE;
    }
}
