package io.tessera.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Compares the generated descriptions with the committed list of names and with entries whose parameters are well known. */
class EntryDescriptionsTest {
    private static final Path NAMES = Path.of("../../native-preload/api/cuda-580.names");

    private static List<ParameterDescription.Shape> shapes(DriverEntry entry) {
        return EntryDescriptions.of(entry).parameters().stream().map(ParameterDescription::shape).toList();
    }

    @Test
    void ordinalsArePositionsInTheSortedListOfExportedNames() throws IOException {
        List<String> names = Files.readAllLines(NAMES).stream().map(line -> line.replaceFirst("#.*", "").strip())
                .filter(line -> !line.isEmpty()).sorted().toList();
        assertEquals(names, Arrays.stream(DriverEntry.values()).map(Enum::name).toList());
    }

    @Test
    void indexAndNameFindTheSameEntry() {
        for (DriverEntry entry : DriverEntry.values()) {
            assertEquals(Optional.of(entry), EntryDescriptions.ofIndex(entry.ordinal()));
            assertEquals(Optional.of(entry), EntryDescriptions.ofName(entry.name()));
        }
        assertEquals(Optional.empty(), EntryDescriptions.ofIndex(-1));
        assertEquals(Optional.empty(), EntryDescriptions.ofIndex(DriverEntry.values().length));
        assertEquals(Optional.empty(), EntryDescriptions.ofName("cuNothing"));
    }

    @Test
    void anAllocationHasAResultAndASize() {
        assertEquals(List.of(new ParameterDescription.Pointer(Direction.OUT, 8, false, Optional.empty(),
                new Extent.Constant(1)), new ParameterDescription.Number(8, false)), shapes(DriverEntry.cuMemAlloc_v2));
    }

    @Test
    void extentsFollowTheParametersThatTellThem() {
        ParameterDescription.Pointer nodes = (ParameterDescription.Pointer) shapes(DriverEntry.cuGraphGetNodes).get(1);
        assertEquals(new ParameterDescription.Pointer(Direction.OUT, 8, false, Optional.of(HandleKind.GRAPH_NODE),
                new Extent.Behind(2)), nodes);
        ParameterDescription.Pointer count = (ParameterDescription.Pointer) shapes(DriverEntry.cuGraphGetNodes).get(2);
        assertEquals(Direction.INOUT, count.direction(), "what the extent looks behind goes in too");
        ParameterDescription.Pointer host = (ParameterDescription.Pointer) shapes(DriverEntry.cuMemcpyHtoD_v2).get(1);
        assertEquals(new Extent.Value(2, 1, 0), host.extent());
        assertEquals(Direction.IN, host.direction());
        ParameterDescription.Pointer image = (ParameterDescription.Pointer) shapes(DriverEntry.cuModuleLoadData).get(1);
        assertEquals(new Extent.Handwritten("image"), image.extent(), "the parameter has the same name");
        ParameterDescription.Pointer name = (ParameterDescription.Pointer) shapes(DriverEntry.cuModuleGetFunction).get(2);
        assertEquals(new Extent.Text(), name.extent());
    }

    @Test
    void someExtentsAreLessThanAParameter() {
        ParameterDescription.Pointer strides = (ParameterDescription.Pointer) shapes(DriverEntry.cuTensorMapEncodeTiled).get(5);
        Extent.Value extent = (Extent.Value) strides.extent();
        assertEquals(new Extent.Value(2, 1, 1), extent);
        assertEquals(4, extent.elements(5));
        assertEquals(0, extent.elements(0));
        assertThrows(ArithmeticException.class, () -> extent.elements(-1));
    }

    @Test
    void structuresByValueSayHowTheyTravel() {
        assertTrue(shapes(DriverEntry.cuIpcOpenMemHandle_v2).contains(new ParameterDescription.Structure(64, 1, "m")));
        assertTrue(shapes(DriverEntry.cuMemPrefetchAsync_v2).contains(new ParameterDescription.Structure(8, 4, "i")));
    }

    @Test
    void perThreadTwinsTakeTheSame() {
        assertTrue(EntryDescriptions.of(DriverEntry.cuLaunchKernel_ptsz).perThread());
        assertFalse(EntryDescriptions.of(DriverEntry.cuLaunchKernel).perThread());
        assertEquals(shapes(DriverEntry.cuLaunchKernel), shapes(DriverEntry.cuLaunchKernel_ptsz));
    }

    @Test
    void theRelaysDecisionsAreKnown() {
        assertEquals(RelayService.LOCAL, EntryDescriptions.of(DriverEntry.cuLaunchKernel).relay());
        assertEquals(RelayService.CALL, EntryDescriptions.of(DriverEntry.cuMemAlloc_v2).relay());
        assertEquals(RelayService.POST, EntryDescriptions.of(DriverEntry.cuMemsetD8Async).relay());
        assertEquals(RelayService.REFUSED, EntryDescriptions.of(DriverEntry.cuMemAllocManaged).relay());
        assertTrue(EntryDescriptions.all().stream().allMatch(entry -> entry.known() || !entry.relay().travels()));
    }

    @Test
    void whatNobodyWaitsForBringsNothingBack() {
        for (EntryDescription entry : EntryDescriptions.all()) {
            boolean back = entry.parameters().stream()
                    .anyMatch(parameter -> parameter.shape() instanceof ParameterDescription.Pointer pointer && pointer.direction().comesOut());
            assertFalse(entry.relay() == RelayService.POST && back, entry.entry().name());
        }
    }

    @Test
    void onlyThreeEntriesAreUnknown() {
        assertEquals(List.of(DriverEntry.cuEGLApiInit, DriverEntry.cuMemGetAttribute, DriverEntry.cuMemGetAttribute_v2),
                EntryDescriptions.all().stream().filter(entry -> !entry.known()).map(EntryDescription::entry).toList());
    }
}
