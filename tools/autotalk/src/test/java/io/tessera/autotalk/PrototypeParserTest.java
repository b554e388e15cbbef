package io.tessera.autotalk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The reader of headers, on headers of our own that have the shapes of the vendor's. */
class PrototypeParserTest {
    private static final String HEADER = """
            #define CUDA_VERSION 13000
            #include <stddef.h>
            #ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
            #define PTSZ(x) x ## _ptsz
            #else
            #define PTSZ(x) x
            #endif
            #define cuAlloc cuAlloc_v2
            #define cuCopyAsync PTSZ(cuCopyAsync_v2)
            typedef int CUresult_alias;
            typedef enum cudaError_enum { CUDA_SUCCESS = 0 } CUresult;
            typedef unsigned long long CUdeviceptr_v2;
            typedef CUdeviceptr_v2 CUdeviceptr;
            typedef unsigned int CUdeviceptr_v1;
            typedef int CUdevice;
            typedef struct CUstream_st *CUstream;
            typedef enum mode_enum { MODE_A, MODE_B = 7 } CUmode;
            typedef struct CUipc_st { char reserved[64]; } CUipc_v1;
            typedef CUipc_v1 CUipc;
            typedef void (*CUhostFn)(void *userData);
            /* a comment with CUresult cuNotThere(void); in it */
            CUresult cuAlloc(CUdeviceptr *dptr,
                             size_t bytesize); // trailing
            CUresult cuCopyAsync(CUdeviceptr to, const void *from, size_t n, CUstream hStream);
            CUresult cuOpen(CUdeviceptr *p, CUipc handle, CUmode mode);
            CUresult cuHost(CUstream s, CUhostFn fn, void *data, const CUipc *many, unsigned int dims[3]);
            CUresult cuNone(void);
            #ifdef __CUDA_API_VERSION_INTERNAL
            #undef cuAlloc
            CUresult cuAlloc(CUdeviceptr_v1 *dptr, unsigned int bytesize);
            #endif
            """;

    @TempDir
    private Path directory;

    private Description read() throws Exception {
        Path header = directory.resolve("cuda.h");
        Files.writeString(header, HEADER);
        return new HeaderReader("cc").read(List.of(header));
    }

    private static List<String> types(Description description, String entry) {
        return description.entries().get(entry).parameters().orElseThrow().stream()
                .map(p -> p.direction() + " " + p.type() + " " + p.name()).toList();
    }

    @Test
    void findsEveryFormOfAnEntry() throws Exception {
        Description description = read();
        assertEquals(List.of("cuAlloc", "cuAlloc_v2", "cuCopyAsync_v2", "cuCopyAsync_v2_ptsz", "cuHost", "cuNone",
                "cuOpen"), List.copyOf(description.entries().keySet()));
        assertEquals(List.of("OUT deviceptr* dptr", "IN size bytesize"), types(description, "cuAlloc_v2"));
        assertEquals(List.of("OUT deviceptr32* dptr", "IN u32 bytesize"), types(description, "cuAlloc"));
        assertEquals("13000", description.sources().get("cuda.h"));
    }

    @Test
    void classifiesTypes() throws Exception {
        Description description = read();
        assertEquals(List.of("IN deviceptr to", "IN const:void* from", "IN size n", "IN CUstream hStream"),
                types(description, "cuCopyAsync_v2_ptsz"));
        assertEquals(List.of("OUT deviceptr* p", "IN value:CUipc handle", "IN i32 mode"),
                types(description, "cuOpen"));
        assertEquals(List.of("IN CUstream s", "OUT void* fn", "OUT void* data", "IN const:void* many",
                "OUT u32* dims"), types(description, "cuHost"));
        assertEquals(List.of(), types(description, "cuNone"));
        assertEquals(64, description.values().get("CUipc"));
        assertEquals("CUstream", description.entries().get("cuHost").parameters().orElseThrow().getFirst()
                .handleKind());
    }

    @Test
    void namesItsParts() {
        Entry entry = new Entry("cuMemcpyHtoD_v2_ptds", java.util.Optional.empty());
        assertEquals("cuMemcpyHtoD", entry.apiName());
        assertEquals(2, entry.abiVersion());
        assertTrue(entry.perThreadStream());
        assertEquals("cuMemcpyHtoD_v2", entry.withoutThreadSuffix());
    }

    @Test
    void saysWhichTypeIsUnknown() {
        AutotalkException e = assertThrows(AutotalkException.class,
                () -> new PrototypeParser().parse("CUresult cuX(CUnever x);", "some.h"));
        assertTrue(e.getMessage().contains("some.h: cuX") && e.getMessage().contains("CUnever"), e.getMessage());
    }

    @Test
    void writesAndReadsTheSame() throws Exception {
        Description description = read();
        Path file = directory.resolve("cuda.api");
        Files.writeString(file, description.text());
        assertEquals(description, Description.read(file));
    }

    @Test
    void saysWhereADescriptionIsBroken() throws Exception {
        Path file = directory.resolve("broken.api");
        Files.writeString(file, "entry cuA\n  in size n\nnonsense here\n");
        AutotalkException e = assertThrows(AutotalkException.class, () -> Description.read(file));
        assertTrue(e.getMessage().startsWith("broken.api:3:"), e.getMessage());
    }

    @Test
    void tellsTheDifferenceOfTwoHeaders() throws Exception {
        Description before = read();
        Path header = directory.resolve("cuda.h");
        Files.writeString(header, HEADER.replace("CUresult cuNone(void);", "CUresult cuMore(int n);")
                .replace("CUmode mode);", "CUmode mode, size_t extra);"));
        Description after = new HeaderReader("cc").read(List.of(header));
        assertEquals(List.of("- cuNone",
                "~ cuOpen (deviceptr*, value:CUipc, i32) -> (deviceptr*, value:CUipc, i32, size)", "+ cuMore (i32)"),
                DescriptionDiff.lines(before, after));
    }
}
