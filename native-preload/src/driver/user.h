/*
 * What the driver layer needs from the library that it is linked into: the target of each call, and functions to notify.
 * The linker finds the library's one table. A constructor that sets it would be too late, because constructors of other
 * libraries may call entries before ours has run.
 */
#ifndef TESSERA_DRIVER_USER_H
#define TESSERA_DRIVER_USER_H

/* All functions may be called by any thread, also before the first constructor has run. */
struct driver_user {
    /* The path of the vendor's library; "": the library is searched for. */
    const char *(*library)(void);
    /* The wrong setting because of which CUDA is refused; "": none. */
    const char *(*wrong)(void);
    /* The function that serves the exported entry with this number; never NULL. Without `choose`: the vendor's. */
    void *(*choose)(unsigned entry);
    /* Writes a line for the user. */
    void (*say)(const char *line);
    /* Counts an error; errors with the same code and text are one. */
    void (*count)(int code, const char *text);
};

/* In one file of the library: `static const struct driver_user name = {...}; DRIVER_USED_BY(name)`. */
#define DRIVER_USED_BY(name)                                                                                           \
    __attribute__((section("tessera_driver_user"), used)) static const struct driver_user *const driver_used_by =      \
        &(name);

/*
 * The library's table. If none is linked in, the vendor's library is searched for, all calls go there, and nothing is
 * reported.
 */
const struct driver_user *driver_user(void);

/* Format a text and pass it to the table's say() or count(). */
void driver_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void driver_count(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
