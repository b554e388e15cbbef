package io.tessera.device;

import java.util.Map;

/** The descriptions of all structures in which something needs a look; read once, immutable and thread-safe. */
final class StructureDescriptions {
    static final Map<String, StructureDescription> BY_TYPE = StructureReader.read(DescriptionResource.lines("cuda.structures"));

    private StructureDescriptions() {
    }
}
