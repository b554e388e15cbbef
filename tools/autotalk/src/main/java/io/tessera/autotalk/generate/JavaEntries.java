package io.tessera.autotalk.generate;

import io.tessera.autotalk.annotation.Decisions;
import io.tessera.autotalk.annotation.RelayServing;
import io.tessera.autotalk.description.Description;
import io.tessera.autotalk.marshal.Argument;
import io.tessera.autotalk.marshal.HandleType;
import io.tessera.autotalk.marshal.Marshalling;
import io.tessera.autotalk.marshal.Structures;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Generates the Java side. It has an enumeration of the entries, whose ordinals are the C side's indices, and an enumeration of the calls
 * of which they are versions. A resource describes each entry's parameters, one fact a line, for {@code
 * io.tessera.device.EntryDescriptions}; another one describes structures. Stateless.
 */
public final class JavaEntries {
    private static final String FOLDER = "io/tessera/device/";

    private JavaEntries() {
    }

    /**
     * Returns all files by path under their root: {@code .java} is source, the rest are resources.
     *
     * @param decisions without problems
     */
    public static Map<String, String> files(Decisions decisions) {
        Map<String, String> files = new TreeMap<>();
        files.put(FOLDER + "DriverEntry.java", enumeration(decisions.description()));
        files.put(FOLDER + "DriverApi.java", calls(decisions.description()));
        files.put(FOLDER + "CudaLayouts.java", JavaLayouts.text(decisions.description()));
        files.put(FOLDER + "cuda.entries", resource(decisions));
        files.put(FOLDER + "cuda.structures", new Structures(decisions, decisions.structures()).text());
        return files;
    }

    private static String enumeration(Description description) {
        List<Description.Export> exports = description.exports();
        StringBuilder text = new StringBuilder(FileNotice.TEXT);
        text.append("package io.tessera.device;\n\n");
        text.append("/** The driver's exported entries, spelled as it spells them; the ordinal is the relay's index. */\n");
        text.append("public enum DriverEntry {\n");
        for (int i = 0; i < exports.size(); i++) {
            text.append("    /** {@code ").append(exports.get(i).entry().api()).append("}. */\n    ")
                    .append(exports.get(i).name()).append(i + 1 < exports.size() ? ",\n" : "\n");
        }
        return text.append("}\n").toString();
    }

    private static String calls(Description description) {
        StringBuilder text = new StringBuilder(FileNotice.TEXT);
        text.append("package io.tessera.device;\n\n");
        text.append("/** The driver's calls by the names that programs write; each stands for all exported versions of it. */\n");
        text.append("public enum DriverApi {\n");
        text.append(description.exports().stream().map(export -> export.entry().api()).distinct().sorted()
                .map(api -> "    /** The call. */\n    " + api).collect(Collectors.joining(",\n")));
        return text.append("\n}\n").toString();
    }

    private static String resource(Decisions decisions) {
        Marshalling marshalling = new Marshalling(decisions);
        StringBuilder text = new StringBuilder();
        for (Description.Export export : decisions.description().exports()) {
            Optional<List<Argument>> arguments = marshalling.arguments(export.entry());
            text.append("entry ").append(export.name()).append(' ').append(export.entry().api()).append(' ')
                    .append(export.perThread() ? "per-thread" : "plain").append(' ')
                    .append(arguments.isPresent() ? "known" : "unknown").append(' ')
                    .append(service(decisions.relayServing(export.entry()))).append('\n');
            arguments.orElse(List.of()).forEach(argument -> text.append(argument.name()).append(' ')
                    .append(argument.type().name().replace(' ', '~')).append(' ').append(shape(argument)).append('\n'));
        }
        return text.toString();
    }

    /** Returns a constant of {@code io.tessera.device.RelayService}; without a relay port every entry is refused. */
    private static String service(Optional<RelayServing> serving) {
        return switch (serving.orElse(new RelayServing.Refuse(""))) {
            case RelayServing.Local ignored -> "LOCAL";
            case RelayServing.Send send -> send.waits() ? "CALL" : "POST";
            case RelayServing.Refuse ignored -> "REFUSED";
        };
    }

    private static String shape(Argument argument) {
        return switch (argument.shape()) {
            case Argument.Number number -> "number " + number.passing();
            case Argument.Handle handle -> "handle " + handle.kind();
            case Argument.Opaque opaque -> opaque.function() ? "function" : "opaque";
            case Argument.Structure ignored -> "structure " + argument.type().bytes() + " "
                    + argument.type().alignment() + " " + argument.type().detail();
            case Argument.Pointer pointer -> "pointer " + pointer.direction().word() + " " + pointer.elementBytes() + " "
                    + element(pointer) + " " + pointer.extent().words();
        };
    }

    private static String element(Argument.Pointer pointer) {
        return pointer.pointers() ? "pointer" : pointer.element().map(HandleType::name).orElse("plain");
    }
}
