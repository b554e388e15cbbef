package io.tessera.autotalk.header;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.autotalk.description.Description;
import io.tessera.autotalk.description.Entry;
import io.tessera.autotalk.description.EntryParameter;
import io.tessera.autotalk.description.NamedType;
import io.tessera.autotalk.description.TypeClass;
import io.tessera.autotalk.input.InputException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class HeaderReaderTest {
    /** What every snippet may use. */
    private static final String PRELUDE = """
            #define CUDA_VERSION 12034
            #if defined(__CUDA_API_VERSION_INTERNAL) || defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)
                #define __CUDA_API_PER_THREAD_DEFAULT_STREAM
                #define __CUDA_API_PTDS(api) api ## _ptds
                #define __CUDA_API_PTSZ(api) api ## _ptsz
            #else
                #define __CUDA_API_PTDS(api) api
                #define __CUDA_API_PTSZ(api) api
            #endif
            #ifdef _WIN32
            #define CUDAAPI __stdcall
            #else
            #define CUDAAPI
            #endif
            typedef enum CUresult_enum { CUDA_SUCCESS = 0, } CUresult;
            typedef unsigned long long CUdeviceptr_v2;
            typedef CUdeviceptr_v2 CUdeviceptr;
            typedef unsigned int CUdeviceptr_v1;
            typedef struct CUstream_st *CUstream;
            """;

    private static Description read(String snippet) {
        return read(snippet, Map.of());
    }

    private static Description read(String snippet, Map<String, List<String>> names) {
        return HeaderReader.read("cuda", List.of(new HeaderReader.Header("include/cuda.h", PRELUDE + snippet)), names);
    }

    private static String form(Description description, String name) {
        Entry entry = description.entries().get(name);
        Entry.Signature signature = entry.signature().orElseThrow();
        return signature.parameters().stream().map(parameter -> parameter.direction().word() + " "
                + description.passing(parameter.type()) + " " + parameter.type() + " " + parameter.name())
                .collect(Collectors.joining("; "));
    }

    @Test
    void plainPrototype() {
        Description description = read("CUresult CUDAAPI cuDo(int a, unsigned int *b, const char *c, float d);\n");
        Entry entry = description.entries().get("cuDo");
        assertEquals("cuDo", entry.api());
        assertEquals(1, entry.version());
        assertEquals("cuda.h 12034", entry.source());
        assertEquals("in i32 int a; inout pointer(4) unsigned int* b; in pointer(1) const char* c; in f32 float d",
                form(description, "cuDo"));
        assertEquals("CUresult", entry.signature().orElseThrow().returns().toString());
    }

    @Test
    void versionMacroGivesTheExportedNameAndKeepsTheApiName() {
        Description description = read("""
                #define cuAlloc cuAlloc_v2
                CUresult CUDAAPI cuAlloc(CUdeviceptr *p, size_t n);
                #if defined(__CUDA_API_VERSION_INTERNAL)
                    #undef cuAlloc
                    CUresult CUDAAPI cuAlloc(CUdeviceptr_v1 *p, unsigned int n);
                #endif
                """);
        assertEquals(List.of("cuAlloc", "cuAlloc_v2"), List.copyOf(description.entries().keySet()));
        assertEquals("cuAlloc", description.entries().get("cuAlloc_v2").api());
        assertEquals(2, description.entries().get("cuAlloc_v2").version());
        assertEquals("inout pointer(8) CUdeviceptr* p; in u64 size_t n", form(description, "cuAlloc_v2"));
        assertEquals("inout pointer(4) CUdeviceptr_v1* p; in u32 unsigned int n", form(description, "cuAlloc"));
    }

    @Test
    void renamedWithoutVersionKeepsTheNameOfTheHeader() {
        Description description = read("#define cuMake cuMakeWithFlags\nCUresult cuMake(int flags);\n");
        assertEquals("cuMake", description.entries().get("cuMakeWithFlags").api());
    }

    @Test
    void perThreadTwinsAreFoldedIntoTheirEntry() {
        Description description = read("""
                #define cuCopy __CUDA_API_PTDS(cuCopy_v2)
                #if defined(__CUDA_API_PER_THREAD_DEFAULT_STREAM)
                    #define cuRun __CUDA_API_PTSZ(cuRun)
                #endif
                CUresult cuCopy(CUdeviceptr a, CUdeviceptr b);
                CUresult cuRun(CUstream hStream);
                #if defined(__CUDA_API_VERSION_INTERNAL)
                    #undef cuCopy
                    #undef cuRun
                    CUresult cuCopy(CUdeviceptr_v1 a, CUdeviceptr_v1 b);
                    CUresult cuRun(CUstream hStream);
                #endif
                """);
        assertEquals(Optional.of("cuCopy_v2_ptds"), description.entries().get("cuCopy_v2").perThread());
        assertEquals("cuCopy", description.entries().get("cuCopy_v2").api());
        assertEquals(Optional.empty(), description.entries().get("cuCopy").perThread());
        assertEquals(Optional.of("cuRun_ptsz"), description.entries().get("cuRun").perThread());
        assertEquals(List.of("cuCopy:false", "cuCopy_v2:false", "cuCopy_v2_ptds:true", "cuRun:false",
                "cuRun_ptsz:true"),
                description.exports().stream()
                        .map(export -> export.name() + ":" + export.perThread()).toList());
    }

    @Test
    void functionPointersArraysAndNestedConst() {
        Description description = read("""
                typedef void (CUDAAPI *CUcallback)(CUstream s, void *data);
                typedef size_t (CUDAAPI *CUsize)(int block);
                CUresult cuCall(CUcallback fn, CUsize size, void (*raw)(int), void *data);
                CUresult cuMany(const void * const *list, CUdeviceptr to[], const CUstream *streams, void **out,
                                char name[16], const CUstream **edges);
                """);
        assertEquals("in function CUcallback fn; in function CUsize size; in function function raw; "
                + "inout pointer void* data", form(description, "cuCall"));
        assertEquals("in pointer(8) const void*const* list; inout pointer(8) CUdeviceptr* to; "
                + "in pointer(8) const CUstream* streams; inout pointer(8) void** out; inout pointer(1) char* name; "
                + "inout pointer(8) const CUstream** edges", form(description, "cuMany"));
    }

    @Test
    void valuesHaveSizeAlignmentAndArgumentClass() {
        Description description = read("""
                #define BYTES 64
                typedef struct A_st { char reserved[BYTES]; } A;
                typedef struct B_st { int type; union { int id; float f; }; } B;
                typedef struct C_st { float x, y, z; } C;
                typedef struct D_st { double w; char c; short s[3]; } D;
                typedef struct E_st { alignas(32) unsigned char a; void *b; enum { X, Y } c;
                                      char pad[24 - sizeof(void *)]; } E;
                typedef union F_st { long long all; char parts[8]; } F;
                CUresult cuTake(A a, B b, C c, D d, F f, const E *e);
                """);
        assertEquals("in value(64,1) A a; in value(8,4) B b; in value(12,4) C c; in value(16,8) D d; "
                + "in value(8,8) F f; in pointer(64) const E* e", form(description, "cuTake"));
        assertEquals("m i ff fi i", List.of("A", "B", "C", "D", "F").stream()
                .map(name -> description.types().get(name).detail()).collect(Collectors.joining(" ")));
        assertEquals(new NamedType("E", TypeClass.VALUE, 64, 32, "m"), description.types().get("E"));
    }

    @Test
    void handlesOpaqueStructuresAndAddressesDiffer() {
        Description description = read("""
                struct hidden_st;
                typedef struct CUctx_st *CUcontext;
                typedef struct seen_st { int x; } *SeenPointer;
                CUresult cuUse(CUcontext c, SeenPointer s, struct hidden_st *h, const struct CUctx_st *raw);
                """);
        assertEquals("in handle CUcontext c; in address SeenPointer s; inout pointer struct hidden_st* h; "
                + "in pointer const struct CUctx_st* raw", form(description, "cuUse"));
        assertEquals(TypeClass.OPAQUE, description.types().get("struct hidden_st").typeClass());
    }

    @Test
    void commentsContinuationsAndSpreadDeclarations() {
        Description description = read("""
                /* CUresult cuNot(int a); */ // CUresult cuNeither(int a);
                __attribute__((deprecated)) CUresult /* between */ CUDAAPI
                    cuSpread(int a,  /* one
                                        comment, two lines */
                             const char *text \\
                             , size_t /* unnamed */);
                #define LONG \\
                    7
                typedef struct L_st { char c[LONG]; } L;
                CUresult cuLong(L *l);
                static inline CUresult cuInline(int a) { if (a) { return CUDA_SUCCESS; } return CUDA_SUCCESS; }
                const char *cuText(void);
                """);
        assertEquals(List.of("cuLong", "cuSpread", "cuText"), List.copyOf(description.entries().keySet()));
        assertEquals("in i32 int a; in pointer(1) const char* text; in u64 size_t p2", form(description, "cuSpread"));
        assertEquals("inout pointer(7) L* l", form(description, "cuLong"));
        assertEquals("const char*", description.entries().get("cuText").signature().orElseThrow().returns().toString());
    }

    @Test
    void conditionsAreEvaluated() {
        Description description = read("""
                #if CUDA_VERSION >= 12000 && !defined(NEVER) && (1 << 3) == 8
                CUresult cuYes(void);
                #if 0
                CUresult cuNo1(void);
                #elif defined NEVER || CUDA_VERSION % 10 == 4
                CUresult cuElif(void);
                #else
                CUresult cuNo2(void);
                #endif
                #elif 1
                CUresult cuNo3(void);
                #endif
                #ifndef CUDA_VERSION
                #error not here
                #else
                CUresult cuElse(void);
                #endif
                """);
        assertEquals(List.of("cuElif", "cuElse", "cuYes"), List.copyOf(description.entries().keySet()));
    }

    @Test
    void macrosOfAnEarlierHeaderHoldInALaterOne() {
        Description description = HeaderReader.read("cuda", List.of(new HeaderReader.Header("cuda.h", PRELUDE),
                new HeaderReader.Header("cudaGL.h", "#include <cuda.h>\n#define cuGLGo cuGLGo_v2\n"
                        + "CUresult CUDAAPI cuGLGo(GLuint buffer, CUstream s);\n")),
                Map.of());
        assertEquals("cudaGL.h 12034", description.entries().get("cuGLGo_v2").source());
        assertEquals("in u32 GLuint buffer; in handle CUstream s", form(description, "cuGLGo_v2"));
    }

    @Test
    void namesThatNoHeaderDeclaresAreKept() {
        Description description = read("CUresult cuKnown(int a);\nCUresult cuAbsent(int a);\n",
                Map.of("vendor.names", List.of("cuKnown", "cuSecret", "cuSecret_ptsz", "cuOther_v2")));
        Entry secret = description.entries().get("cuSecret");
        assertTrue(secret.signature().isEmpty());
        assertEquals("vendor.names", secret.source());
        assertEquals(Optional.of("cuSecret_ptsz"), secret.perThread());
        assertEquals("cuOther", description.entries().get("cuOther_v2").api());
        assertFalse(description.entries().get("cuAbsent").exported());
        assertEquals(List.of("cuKnown", "cuOther_v2", "cuSecret", "cuSecret_ptsz"),
                description.exports().stream().map(Description.Export::name).toList());
    }

    @Test
    void errorsNameFileAndLine() {
        int first = (int) PRELUDE.lines().count() + 1;
        assertMessage("include/cuda.h:" + first + ": unknown type 'Strange'", "CUresult cuBad(Strange s);\n");
        assertMessage("include/cuda.h:" + (first + 1) + ": conditional without #endif", "\n#if 1\n");
        assertMessage("include/cuda.h:" + first + ": #endif without #if", "#endif\n");
        assertMessage("include/cuda.h:" + first + ": the header refuses: #error no", "#error no\n");
        assertMessage("include/cuda.h:" + (first + 1) + ": ';' expected, found 'CUresult'",
                "CUresult cuA(int a)\nCUresult cuB(int b);\n");
        assertMessage("include/cuda.h:" + first + ": bit-fields are not supported",
                "typedef struct S_st { int a : 3; } S;\n");
        assertMessage("include/cuda.h:" + first + ": variable argument lists are not supported",
                "CUresult cuV(int a, ...);\n");
    }

    @Test
    void translationsThatContradictAreRefused() {
        InputException refused = assertThrows(InputException.class, () -> read("""
                #if defined(__CUDA_API_VERSION_INTERNAL)
                CUresult cuTwo(unsigned int a);
                #else
                CUresult cuTwo(size_t a);
                #endif
                """));
        assertTrue(refused.getMessage().contains("cuTwo is declared otherwise than in line"), refused.getMessage());
    }

    private static void assertMessage(String expected, String snippet) {
        assertEquals(expected, assertThrows(InputException.class, () -> read(snippet)).getMessage());
    }

    @Test
    void parametersKeepTheirOrder() {
        Description description = read("CUresult cuOrder(int z, int a, int m);\n");
        assertEquals(List.of("z", "a", "m"), description.entries().get("cuOrder").signature().orElseThrow()
                .parameters().stream().map(EntryParameter::name).toList());
    }
}
