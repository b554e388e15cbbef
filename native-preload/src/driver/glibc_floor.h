/*
 * Binds to the old versions of the symbols that glibc 2.34 moved into libc.so.6 under new ones, so that a library built
 * on a new system loads on an old one (floor: Makefile). Included before every file. x86-64.
 */
#ifndef TESSERA_GLIBC_FLOOR_H
#define TESSERA_GLIBC_FLOOR_H

#define TESSERA_BIND(symbol, version) __asm__(".symver " #symbol "," #symbol "@" version)

TESSERA_BIND(dlsym, "GLIBC_2.2.5");
TESSERA_BIND(dlerror, "GLIBC_2.2.5");
TESSERA_BIND(dladdr, "GLIBC_2.2.5");
TESSERA_BIND(pthread_create, "GLIBC_2.2.5");
TESSERA_BIND(pthread_once, "GLIBC_2.2.5");
TESSERA_BIND(pthread_key_create, "GLIBC_2.2.5");
TESSERA_BIND(pthread_setspecific, "GLIBC_2.2.5");
TESSERA_BIND(pthread_mutex_trylock, "GLIBC_2.2.5");
TESSERA_BIND(pthread_rwlock_init, "GLIBC_2.2.5");
TESSERA_BIND(pthread_rwlock_rdlock, "GLIBC_2.2.5");
TESSERA_BIND(pthread_rwlock_wrlock, "GLIBC_2.2.5");
TESSERA_BIND(pthread_rwlock_unlock, "GLIBC_2.2.5");
TESSERA_BIND(pthread_attr_setstacksize, "GLIBC_2.2.5");
TESSERA_BIND(pthread_condattr_setclock, "GLIBC_2.3.3");
TESSERA_BIND(pthread_sigmask, "GLIBC_2.2.5");
TESSERA_BIND(pthread_setname_np, "GLIBC_2.12");
TESSERA_BIND(sem_init, "GLIBC_2.2.5");
TESSERA_BIND(sem_destroy, "GLIBC_2.2.5");
TESSERA_BIND(sem_wait, "GLIBC_2.2.5");
TESSERA_BIND(sem_post, "GLIBC_2.2.5");

#endif
