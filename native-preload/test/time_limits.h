/* How long a test program may take. */
#ifndef TESSERA_TIME_LIMITS_H
#define TESSERA_TIME_LIMITS_H

/* Whether a sanitizer slows the program down: bounds on times then do not hold. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* A test program that takes longer hangs: this is far above what any of them takes, even on a busy machine. */
#define HANGS_S 600

#endif
