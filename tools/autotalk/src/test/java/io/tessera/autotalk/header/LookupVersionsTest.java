package io.tessera.autotalk.header;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tessera.autotalk.description.Description;
import io.tessera.autotalk.description.DescriptionText;
import io.tessera.autotalk.description.Entry;

import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;

class LookupVersionsTest {
    private static final String TYPES = """
            typedef CUresult (CUDAAPI *PFN_cuCopy_v3020)(CUdeviceptr_v2 to);
            typedef CUresult (CUDAAPI *PFN_cuCopy_v2000)(CUdeviceptr_v1 to);
            typedef CUresult (CUDAAPI *PFN_cuCopy_v7000_ptsz)(CUdeviceptr_v2 to);
            #define PFN_cuCopy PFN_cuCopy_v3020
            typedef CUresult (CUDAAPI *PFN_cuOdd_v4000)(void);
            typedef CUresult (CUDAAPI *PFN_cuOdd_v5000)(void);
            """;

    @Test
    void versionsBelongToEntriesInOrder() {
        Description names = HeaderReader.read("cuda", List.of(), Map.of("l.names",
                List.of("cuCopy", "cuCopy_v2", "cuCopy_v2_ptsz", "cuOdd", "cuNew")));
        Description known = LookupVersions.read(TYPES).appliedTo(names);
        assertEquals(new Entry.Since(2000, 0), known.entries().get("cuCopy").since());
        assertEquals(new Entry.Since(3020, 7000), known.entries().get("cuCopy_v2").since());
        assertEquals(Entry.Since.UNKNOWN, known.entries().get("cuOdd").since(), "two versions, one entry");
        assertEquals(Entry.Since.UNKNOWN, known.entries().get("cuNew").since());
        assertEquals(known, DescriptionText.read("written", DescriptionText.write(known)));
    }
}
