/*
 * libtessera-agent.so: the few things that the Java agent cannot do from Java 11 on without a library of its own.
 * Functions of io.tessera.agent.boot.Natives; their contracts stand there. No state, safe from any thread, nothing
 * ends the host.
 */
#include <dlfcn.h>
#include <jni.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_constants.h"
#include "sha256.h"

#define SEGMENT_BYTES 131072 /* TESSERA_SEGMENT_BYTES, native-preload/include/tessera_abi.h */
#define DRIVER "libcuda.so.1"

#define NATIVE(type, name) JNIEXPORT type JNICALL Java_io_tessera_agent_boot_Natives_##name

enum driver {
    DRIVER_NONE = 0,
    DRIVER_VENDOR = 1,
    DRIVER_OURS = 2,
};

NATIVE(jboolean, setIfAbsent)(JNIEnv *env, jclass type, jstring name, jstring value)
{
    (void)type;
    jboolean done = JNI_FALSE;
    const char *n = (*env)->GetStringUTFChars(env, name, NULL);
    const char *v = n ? (*env)->GetStringUTFChars(env, value, NULL) : NULL;
    if (v) {
        done = !getenv(n) && setenv(n, v, 0) == 0;
        (*env)->ReleaseStringUTFChars(env, value, v);
    }
    if (n)
        (*env)->ReleaseStringUTFChars(env, name, n);
    return done;
}

NATIVE(void, unset)(JNIEnv *env, jclass type, jstring name)
{
    (void)type;
    const char *n = (*env)->GetStringUTFChars(env, name, NULL);
    if (n) {
        unsetenv(n);
        (*env)->ReleaseStringUTFChars(env, name, n);
    }
}

NATIVE(jstring, open)(JNIEnv *env, jclass type, jstring path)
{
    (void)type;
    const char *p = (*env)->GetStringUTFChars(env, path, NULL);
    if (!p)
        return NULL; /* OutOfMemoryError is pending */
    const char *complaint = NULL;
    if (!dlopen(p, RTLD_NOW | RTLD_GLOBAL))
        complaint = dlerror();
    jstring answer = complaint ? (*env)->NewStringUTF(env, complaint) : NULL;
    (*env)->ReleaseStringUTFChars(env, path, p);
    return answer;
}

NATIVE(jstring, sha256)(JNIEnv *env, jclass type, jstring path)
{
    (void)type;
    const char *p = (*env)->GetStringUTFChars(env, path, NULL);
    if (!p)
        return NULL; /* OutOfMemoryError is pending */
    char hex[SHA256_HEX_SIZE];
    int failed = sha256_of_file(p, hex);
    (*env)->ReleaseStringUTFChars(env, path, p);
    return (*env)->NewStringUTF(env, failed ? strerror(-failed) : hex);
}

/* A function of the driver library that the process has; NULL: it has none, or no such function. */
static void *of_driver(const char *name)
{
    void *library = dlopen(DRIVER, RTLD_LAZY | RTLD_NOLOAD);
    if (!library)
        return NULL;
    void *function = dlsym(library, name);
    dlclose(library); /* the reference that RTLD_NOLOAD took */
    return function;
}

NATIVE(jint, driver)(JNIEnv *env, jclass type)
{
    (void)env;
    (void)type;
    if (!of_driver("cuInit"))
        return DRIVER_NONE;
    return of_driver("tessera_client_segment") ? DRIVER_OURS : DRIVER_VENDOR;
}

NATIVE(jobject, segment)(JNIEnv *env, jclass type)
{
    (void)type;
    void *(*segment)(void) = (void *(*)(void))of_driver("tessera_client_segment");
    void *memory = segment ? segment() : NULL;
    return memory ? (*env)->NewDirectByteBuffer(env, memory, SEGMENT_BYTES) : NULL;
}

NATIVE(jint, free)(JNIEnv *env, jclass type, jlong address)
{
    (void)env;
    (void)type;
    int (*attribute)(void *, int, uint64_t) = (int (*)(void *, int, uint64_t))of_driver("cuPointerGetAttribute");
    int (*push)(void *) = (int (*)(void *))of_driver("cuCtxPushCurrent_v2");
    int (*pop)(void **) = (int (*)(void **))of_driver("cuCtxPopCurrent_v2");
    int (*release)(uint64_t) = (int (*)(uint64_t))of_driver("cuMemFree_v2");
    if (!attribute || !push || !pop || !release)
        return CUDA_ERROR_NOT_INITIALIZED;
    void *context = NULL;
    int result = attribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, (uint64_t)address);
    if (result == CUDA_SUCCESS && context)
        result = push(context);
    if (result != CUDA_SUCCESS)
        return result;
    result = release((uint64_t)address);
    void *popped;
    if (context)
        pop(&popped);
    return result;
}
