/* A driver of our own making, in the style of driver headers: every way in which an argument can travel. */
#define CUDA_VERSION 99010
#if defined(__CUDA_API_VERSION_INTERNAL) || defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)
    #define __CUDA_API_PER_THREAD_DEFAULT_STREAM
    #define __CUDA_API_PTSZ(api) api ## _ptsz
#else
    #define __CUDA_API_PTSZ(api) api
#endif
#define CUDAAPI
#define cuOpen cuOpen_v2
#if defined(__CUDA_API_PER_THREAD_DEFAULT_STREAM)
    #define cuPush __CUDA_API_PTSZ(cuPush)
#endif

typedef enum CUresult_enum { CUDA_SUCCESS = 0 } CUresult;
typedef struct CUstream_st *CUstream;
typedef struct CUblock_st { char bytes[64]; } CUblock;
typedef struct CUpair_st { double weight; long count; } CUpair;
typedef struct CUpoint_st { float x, y, z; } CUpoint;
typedef struct CUplace_st { int type; int id; } CUplace;

double CUDAAPI cuMixed(int a, double b, long c, float d, unsigned char e, double f, long long g, short h, double i,
                       unsigned j, double k, void *l, double m, double n, double o, double p, size_t q);
CUresult CUDAAPI cuOpen(CUblock block, int after, CUpair pair, CUpoint point, CUplace place, const void *last);
CUresult CUDAAPI cuPush(unsigned long long address, CUblock block, CUplace place, CUpoint point, CUpair pair,
                        CUstream hStream);
CUresult CUDAAPI cuWait(CUstream hStream);
CUresult CUDAAPI cuOwn(int value);
unsigned long long CUDAAPI cuWide(void);
CUresult CUDAAPI cuCopy(unsigned long long to, unsigned long long from, size_t bytes);

#if defined(__CUDA_API_VERSION_INTERNAL)
    #undef cuOpen
    #undef cuPush
    CUresult CUDAAPI cuOpen(int only);
    CUresult CUDAAPI cuPush(unsigned long long address, CUblock block, CUplace place, CUpoint point, CUpair pair,
                            CUstream hStream);
#endif
