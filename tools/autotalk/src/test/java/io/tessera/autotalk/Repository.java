package io.tessera.autotalk;

import io.tessera.autotalk.annotation.AnnotationText;
import io.tessera.autotalk.annotation.Decisions;
import io.tessera.autotalk.description.Constants;
import io.tessera.autotalk.description.DescriptionText;
import io.tessera.autotalk.generate.CConstants;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/** Where the committed files are, seen from the module's directory, in which its tests run. */
public final class Repository {
    /** {@code native-preload/api}. */
    public static final Path API = Path.of("..", "..", "native-preload", "api");
    /** {@code native-preload/include}. */
    public static final Path INCLUDE = Path.of("..", "..", "native-preload", "include").toAbsolutePath();

    /** {@code native-preload/src}. */
    public static final Path SOURCE = Path.of("..", "..", "native-preload", "src").toAbsolutePath();

    private Repository() {
    }

    /** Joined once: it takes a second. */
    private static final class Committed {
        private static final Decisions CUDA = new Decisions(DescriptionText.read("cuda.api", text("cuda.api")),
                AnnotationText.read("cuda.annotations", text("cuda.annotations")),
                Optional.of(AnnotationText.readRelay("cuda.relay", text("cuda.relay"))));
    }

    /** The committed CUDA description with its decisions. */
    public static Decisions cuda() {
        return Committed.CUDA;
    }

    /** A committed file of the API folder. */
    public static String text(String name) {
        try {
            return Files.readString(API.resolve(name));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The header with the interface's enumerators, by name. */
    public static Map<String, String> constantsHeader() {
        return Map.of(CConstants.HEADER, CConstants.text(Constants.parse("cuda.constants", text("cuda.constants").lines().toList())));
    }
}
