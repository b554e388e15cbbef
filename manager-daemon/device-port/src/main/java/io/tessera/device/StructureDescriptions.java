package io.tessera.device;

import java.util.Map;
import java.util.Optional;

/** The descriptions of all structures with fields that need translation or a check; read once, immutable and thread-safe. */
public final class StructureDescriptions {
    private static final Map<String, StructureDescription> BY_TYPE = StructureReader.read(DescriptionResource.lines("cuda.structures"));

    private StructureDescriptions() {
    }

    /** Returns the structure behind a parameter or pointer of a C type; empty where no field of it needs translation or a check. */
    public static Optional<StructureDescription> of(String type) {
        return Optional.ofNullable(BY_TYPE.get(type));
    }
}
