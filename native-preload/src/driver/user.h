/*
 * What the driver layer asks of the library that it is linked into: where calls go, and what to notify. The one table
 * is found by the linker, not set by a constructor: constructors of other libraries may call entries before ours would
 * have run.
 */
#ifndef TESSERA_DRIVER_USER_H
#define TESSERA_DRIVER_USER_H

/* All functions: any thread, at any time from before the first constructor on. */
struct driver_user {
    /* The path of the vendor's library; "": it is looked for. */
    const char *(*library)(void);
    /* What the user has set wrong, for which CUDA is refused; "": nothing. */
    const char *(*wrong)(void);
    /* Where calls of an exported entry go on, which its number tells; never NULL. Without it: to the vendor's library. */
    void *(*choose)(unsigned entry);
    /* A line for the user. */
    void (*say)(const char *line);
    /* A distinct error (code and text), to be counted. */
    void (*count)(int code, const char *text);
};

/* In one file of the library: `static const struct driver_user name = {...}; DRIVER_USED_BY(name)`. */
#define DRIVER_USED_BY(name)                                                                                           \
    __attribute__((section("tessera_driver_user"), used)) static const struct driver_user *const driver_used_by =      \
        &(name);

/*
 * The library's table. Where none is linked in: the vendor's library is looked for, all calls go there, and no events
 * are reported.
 */
const struct driver_user *driver_user(void);

/* Tells the table's say() and count(). */
void driver_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void driver_count(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
