/*
 * What every exported entry does first and last: count the call, obey the script, and, for submissions, show the
 * witness that the process is inside the driver.
 */
#ifndef SCRIPTED_ENTRY_H
#define SCRIPTED_ENTRY_H

#include <stdbool.h>

#include "abi.h"
#include "entry_ids.h" /* generated: ENTRY_cu... by position in the sorted list of names */

struct stream;

struct call {
    CUresult refused;  /* not 0: return it at once */
    int device;        /* of a submission; -1 otherwise */
    uint64_t begin_ns; /* of a submission */
};

/* The script, the witness and the fork handlers are in place afterwards. Any thread, any number of times. */
void entry_prepare(void);

struct call call_enter(unsigned entry, bool before_init);

/*
 * Resolves a stream (0 is `otherwise`) and, for a submission that is not recorded into a capture, tells the witness.
 * The stream is handed out in *target.
 */
struct call call_stream(unsigned entry, void *handle, uintptr_t otherwise, bool submission, struct stream **target);
void call_leave(struct call *call);

/* An exported name that this driver does not serve: counted, 801. */
CUresult call_unsupported(unsigned entry);

extern const char *const entry_names[ENTRY_COUNT]; /* generated */

#define CALL_GUARD __attribute__((cleanup(call_leave)))

/* First line of an entry that needs cuInit before it. */
#define ENTER(name)                                                                                                    \
    struct call call CALL_GUARD = call_enter(ENTRY_##name, false);                                                     \
    if (call.refused)                                                                                                  \
    return call.refused

/* First line of an entry that works before cuInit. */
#define ENTER_EARLY(name)                                                                                              \
    struct call call CALL_GUARD = call_enter(ENTRY_##name, true);                                                      \
    if (call.refused)                                                                                                  \
    return call.refused

#define ENTER_STREAM(name, handle, otherwise, submission)                                                              \
    struct stream *target = NULL;                                                                                      \
    struct call call CALL_GUARD = call_stream(ENTRY_##name, handle, otherwise, submission, &target);                   \
    if (call.refused)                                                                                                  \
    return call.refused

/* An entry and its per-thread form; the expression sees `target`, the stream resolved. The last parameter list item
 * named `stream` is the handle. */
#define STREAM_PAIR_AS(name, suffix, submission, parameters, handle, ...)                                              \
    EXPORT CUresult name parameters                                                                                    \
    {                                                                                                                  \
        ENTER_STREAM(name, handle, STREAM_LEGACY, submission);                                                         \
        return __VA_ARGS__;                                                                                            \
    }                                                                                                                  \
    EXPORT CUresult name##suffix parameters                                                                            \
    {                                                                                                                  \
        ENTER_STREAM(name##suffix, handle, STREAM_PER_THREAD, submission);                                             \
        return __VA_ARGS__;                                                                                            \
    }

/* Work: seen by the witness. */
#define SUBMISSION_PAIR(name, parameters, ...) STREAM_PAIR_AS(name, _ptsz, true, parameters, stream, __VA_ARGS__)
/* Work on the default stream: the per-thread form ends in _ptds and there is no stream parameter. */
#define DEFAULT_SUBMISSION_PAIR(name, parameters, ...) STREAM_PAIR_AS(name, _ptds, true, parameters, NULL, __VA_ARGS__)
/* Questions and order between streams. */
#define STREAM_PAIR(name, parameters, ...) STREAM_PAIR_AS(name, _ptsz, false, parameters, stream, __VA_ARGS__)

#endif
