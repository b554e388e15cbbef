#include "session/report.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "session/segment.h"
#include "session/settings.h"

static uint64_t realtime_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

static void fill(struct tessera_error *entry, int32_t code, const char *text)
{
    entry->code = code;
    entry->first_ns = realtime_ns();
    entry->last_ns = entry->first_ns;
    memcpy(entry->text, text, strlen(text) + 1);
    __atomic_store_n(&entry->ready, 1, __ATOMIC_RELEASE);
}

/* SPEC.md, section 7: count 0 -> 1 claims an entry, and `ready` publishes it. If the log is full, its last entry counts. */
__attribute__((format(printf, 2, 0))) static void count(int32_t code, const char *format, va_list arguments)
{
    char text[TESSERA_ERROR_TEXT];
    vsnprintf(text, sizeof text, format, arguments);
    struct tessera_segment *segment = segment_get();
    for (int i = 0; i < TESSERA_ERROR_ENTRIES; i++) {
        struct tessera_error *entry = &segment->errors[i];
        uint64_t unused = 0;
        if (__atomic_compare_exchange_n(&entry->count, &unused, 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            fill(entry, code, text);
            return;
        }
        int same = __atomic_load_n(&entry->ready, __ATOMIC_ACQUIRE) && entry->code == code &&
                   strcmp(entry->text, text) == 0;
        if (same || i == TESSERA_ERROR_ENTRIES - 1) {
            __atomic_fetch_add(&entry->count, 1, __ATOMIC_RELAXED);
            __atomic_store_n(&entry->last_ns, realtime_ns(), __ATOMIC_RELAXED);
            return;
        }
    }
}

void report_error(int32_t code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    count(code, format, arguments);
    va_end(arguments);
}

void report_failure(CUresult result, const char *format, ...)
{
    if (result == CUDA_SUCCESS || result == CUDA_ERROR_DEINITIALIZED)
        return;
    va_list arguments;
    va_start(arguments, format);
    count(result, format, arguments);
    va_end(arguments);
}

/*
 * Keeps untrusted text on one line and harmless to a terminal: replaces control characters by '?', also those in
 * UTF-8.
 */
static void show_controls(char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        bool after_c2 = i && (unsigned char)text[i - 1] == 0xC2; /* U+0080 to U+009F */
        if (c < ' ' || c == 0x7F || (after_c2 && c >= 0x80 && c < 0xA0))
            text[i] = '?';
    }
}

void report_line(const char *format, ...)
{
    if (settings()->quiet)
        return;
    char line[1024] = "tessera: "; /* C++ kernels have long names, and the end of the line says what to do */
    size_t prefix = strlen(line);
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line + prefix, sizeof line - prefix - 1, format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    size_t total = prefix + (size_t)length;
    if (total > sizeof line - 2)
        total = sizeof line - 2;
    show_controls(line, total);
    line[total++] = '\n';
    /* stderr may be closed or full, and there is no other place for the message. */
    ssize_t written = write(STDERR_FILENO, line, total);
    (void)written;
}
