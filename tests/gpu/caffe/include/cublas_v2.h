/* What Caffe's headers name of cuBLAS; the programs here call none of it. */
#pragma once
typedef struct cublasContext *cublasHandle_t;
typedef int cublasStatus_t;
