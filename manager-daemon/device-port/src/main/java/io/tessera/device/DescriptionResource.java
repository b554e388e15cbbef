package io.tessera.device;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** The generated descriptions beside these classes. Stateless. */
final class DescriptionResource {
    private DescriptionResource() {
    }

    /** Returns the lines of a resource. */
    static List<String> lines(String resource) {
        try (InputStream stream = DescriptionResource.class.getResourceAsStream(resource)) {
            if (stream == null) {
                throw new IllegalStateException(resource + " is missing beside " + DescriptionResource.class.getName());
            }
            return new String(stream.readAllBytes(), StandardCharsets.US_ASCII).lines().toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
