package io.tessera.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Compares the descriptions of structures with offsets of cuda.h 13.0 and with the conditions of its unions. */
class StructureDescriptionTest {
    private static List<String> applying(String type, MemorySegment structure) {
        return StructureDescriptions.of(type).orElseThrow().fields().stream().filter(field -> field.applies(structure))
                .map(StructureDescription.Field::path).toList();
    }

    private static MemorySegment structure(String type) {
        return MemorySegment.ofArray(new long[StructureDescriptions.of(type).orElseThrow().bytes() / Long.BYTES]);
    }

    @Test
    void aKernelNodeHasHandlesAndPointers() {
        StructureDescription node = StructureDescriptions.of("CUDA_KERNEL_NODE_PARAMS").orElseThrow();
        assertEquals(72, node.bytes());
        StructureDescription.Field function = node.fields().getFirst();
        assertEquals(new StructureDescription.Field("func", 0, new StructureDescription.Handle(HandleKind.FUNCTION),
                List.of()), function);
        assertTrue(node.fields().contains(new StructureDescription.Field("kernelParams", 40,
                new StructureDescription.Pointer("void", 8), List.of())));
    }

    @Test
    void theMemoryTypeTellsWhatACopyReads() {
        MemorySegment copy = structure("CUDA_MEMCPY3D");
        copy.set(ValueLayout.JAVA_INT_UNALIGNED, 32, 3);
        copy.set(ValueLayout.JAVA_INT_UNALIGNED, 120, 4);
        assertEquals(List.of("srcArray", "dstDevice"), applying("CUDA_MEMCPY3D", copy));
        copy.set(ValueLayout.JAVA_INT_UNALIGNED, 32, 1);
        assertEquals(List.of("srcHost", "dstDevice"), applying("CUDA_MEMCPY3D", copy));
        copy.set(ValueLayout.JAVA_INT_UNALIGNED, 32, 9);
        assertEquals(List.of("dstDevice"), applying("CUDA_MEMCPY3D", copy));
    }

    @Test
    void theTypeOfANodeTellsWhatItsUnionHolds() {
        MemorySegment node = structure("CUgraphNodeParams");
        node.set(ValueLayout.JAVA_INT_UNALIGNED, 0, 7);
        assertEquals(List.of("eventRecord.event"), applying("CUgraphNodeParams", node));
        node.set(ValueLayout.JAVA_INT_UNALIGNED, 0, 1);
        node.set(ValueLayout.JAVA_INT_UNALIGNED, 64, 3);
        node.set(ValueLayout.JAVA_INT_UNALIGNED, 152, 2);
        assertEquals(List.of("memcpy.copyCtx", "memcpy.copyParams.srcArray", "memcpy.copyParams.dstDevice"),
                applying("CUgraphNodeParams", node));
        node.set(ValueLayout.JAVA_INT_UNALIGNED, 0, 5);
        assertEquals(List.of(), applying("CUgraphNodeParams", node), "an empty node");
    }

    @Test
    void aLocationIsADeviceOnlyWhereItSaysSo() {
        MemorySegment location = structure("CUmemLocation");
        location.set(ValueLayout.JAVA_INT_UNALIGNED, 0, 1);
        assertEquals(List.of("id"), applying("CUmemLocation", location));
        location.set(ValueLayout.JAVA_INT_UNALIGNED, 0, 3);
        assertEquals(List.of(), applying("CUmemLocation", location), "a NUMA node of the host");
    }

    @Test
    void structuresAreFoundByParameters() {
        ParameterDescription resource = EntryDescriptions.of(DriverEntry.cuTexObjectCreate).parameters().get(1);
        assertEquals("CUDA_RESOURCE_DESC", resource.structure().orElseThrow().type());
        assertEquals(Optional.empty(), EntryDescriptions.of(DriverEntry.cuTexObjectCreate).parameters().get(2).structure(),
                "a texture's description has nothing to translate");
        ParameterDescription location = EntryDescriptions.of(DriverEntry.cuMemGetAccess).parameters().get(1);
        assertEquals(8, location.structure().orElseThrow().bytes());
    }

    /** Two different members may never be valid at the same time. */
    @Test
    void fieldsLieInsideAndAreTakenApart() {
        for (ParameterDescription parameter : EntryDescriptions.all().stream().flatMap(e -> e.parameters().stream()).toList()) {
            parameter.structure().ifPresent(structure -> {
                for (StructureDescription.Field field : structure.fields()) {
                    int bytes = field.kind() instanceof StructureDescription.Device ? 4 : 8;
                    assertTrue(field.offset() >= 0 && field.offset() + bytes <= structure.bytes(), field.path());
                    for (StructureDescription.Field other : structure.fields()) {
                        assertTrue(field == other || field.offset() != other.offset()
                                || !field.conditions().equals(other.conditions()), field.path() + " " + other.path());
                    }
                }
            });
        }
    }
}
