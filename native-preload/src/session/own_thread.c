#include "session/own_thread.h"

#include <pthread.h>
#include <signal.h>

#include "session/report.h"
#include "tessera_entries.h"

/* The driver's own calls run on it: more than the minimum, less than the default. */
#define STACK_BYTES (1024 * 1024)

bool own_thread_start(const char *name, void *(*run)(void *), void *argument)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    bool started = pthread_create(&thread, &attributes, run, argument) == 0;
    if (!started) { /* glibc takes static TLS from the stack: a program with much of it needs the usual size */
        pthread_attr_setstacksize(&attributes, 8u << 20);
        started = pthread_create(&thread, &attributes, run, argument) == 0;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (started)
        pthread_setname_np(thread, name);
    return started;
}

void own_thread_relax(const char *thread)
{
    int mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    CUresult result = REAL(cuThreadExchangeStreamCaptureMode)((void *)&mode);
    report_failure(result, "%s could not relax its capture mode", thread);
}
