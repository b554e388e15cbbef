/* What Caffe's headers name of cuRAND; the programs here call none of it. */
#pragma once
typedef struct curandGenerator_st *curandGenerator_t;
typedef int curandStatus_t;
