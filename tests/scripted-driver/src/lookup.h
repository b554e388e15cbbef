/* What cuGetProcAddress can answer with; generated from entries/lookup.versions. */
#ifndef SCRIPTED_LOOKUP_H
#define SCRIPTED_LOOKUP_H

struct lookup_row {
    const char *name;
    int since;      /* driver version that has it first */
    int per_thread; /* the form for per-thread default streams */
    void *address;
};

extern const struct lookup_row lookup_rows[]; /* ends with a row without a name */

#endif
