/* The client's segment: what is carried over into a manager's segment and back, at a constant address; and its error log. */
#include "session/segment.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "session/report.h"

/* A file as the manager makes it, with its own words; its descriptor. */
static int managers_file(struct tessera_segment **view)
{
    int file = memfd_create("segment", MFD_CLOEXEC);
    CHECK(file >= 0 && ftruncate(file, TESSERA_SEGMENT_BYTES) == 0);
    struct tessera_segment *segment = mmap(NULL, TESSERA_SEGMENT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    CHECK(segment != MAP_FAILED);
    segment->magic = TESSERA_ABI_MAGIC;
    segment->version = TESSERA_ABI_VERSION;
    segment->segment_bytes = TESSERA_SEGMENT_BYTES;
    segment->device_slots = TESSERA_MAX_DEVICES;
    segment->thread_slots = TESSERA_MAX_THREADS;
    segment->client_id = 77;
    segment->devices[0].turn = 0x500;
    segment->residency[0].resident_target = 4096;
    *view = segment;
    return file;
}

/* What the client owns, and nothing of the manager's. */
static void fill(struct tessera_segment *mine)
{
    segment_change_begin();
    mine->counters[TESSERA_COUNTER_FREES] = 3;
    mine->devices[0].used_bytes = 1000;
    mine->devices[0].total_bytes = 5000;
    mine->devices[0].ack = 0x201; /* of orders that the next manager has not given */
    mine->threads[2].tid = 9;
    mine->threads[2].syncing = 1;
    mine->threads[2].inside = 1;
    mine->residency[0].resident_bytes = 64;
    segment_change_end();
}

static void check_filled(const struct tessera_segment *segment)
{
    CHECK(segment->counters[TESSERA_COUNTER_FREES] == 3 && segment->devices[0].used_bytes == 1000);
    CHECK(segment->devices[0].total_bytes == 5000 && segment->devices[0].ack == 0);
    CHECK(segment->threads[2].tid == 9 && segment->threads[2].inside == 0 && segment->threads[2].syncing == 0);
    CHECK(segment->residency[0].resident_bytes == 64);
}

static void adopted(void)
{
    struct tessera_segment *mine = segment_get(), *view;
    CHECK(segment_open() && segment_get() == mine && tessera_segment == mine);
    fill(mine);
    int file = managers_file(&view);
    CHECK(segment_adopt(file, TESSERA_SEGMENT_BYTES) == 0);
    close(file);
    CHECK(tessera_segment == mine);
    check_filled(view);
    CHECK(mine->client_id == 77 && mine->devices[0].turn == 0x500 && mine->residency[0].resident_target == 4096);
    segment_count(TESSERA_COUNTER_FREES, 2); /* seen by the manager */
    CHECK(view->counters[TESSERA_COUNTER_FREES] == 5);

    segment_detach();
    CHECK(tessera_segment == mine && mine->counters[TESSERA_COUNTER_FREES] == 5 && mine->devices[0].used_bytes == 1000);
    CHECK(mine->residency[0].resident_target == 0 && mine->residency[0].resident_bytes == 64); /* nobody plans it */
    segment_count(TESSERA_COUNTER_FREES, 1);
    view->devices[0].turn = 0x900;
    CHECK(view->counters[TESSERA_COUNTER_FREES] == 5 && mine->devices[0].turn == 0x500);
    munmap(view, TESSERA_SEGMENT_BYTES);
}

/* A file that is not a segment is refused, and the old segment stays. */
static void refused(void)
{
    struct tessera_segment *view;
    uint64_t frees = tessera_segment->counters[TESSERA_COUNTER_FREES];
    int file = managers_file(&view), ends[2];
    CHECK(segment_adopt(file, TESSERA_SEGMENT_BYTES - 4096) == -EBADMSG);
    view->version++;
    CHECK(segment_adopt(file, TESSERA_SEGMENT_BYTES) == -EPROTONOSUPPORT);
    view->version--;
    view->thread_slots--;
    CHECK(segment_adopt(file, TESSERA_SEGMENT_BYTES) == -EBADMSG);
    view->thread_slots++;
    CHECK(ftruncate(file, TESSERA_SEGMENT_BYTES / 2) == 0);
    CHECK(segment_adopt(file, TESSERA_SEGMENT_BYTES) == -EBADMSG);
    CHECK(pipe(ends) == 0 && segment_adopt(ends[0], TESSERA_SEGMENT_BYTES) == -EBADMSG);
    close(file);
    CHECK(segment_adopt(file, TESSERA_SEGMENT_BYTES) == -EBADF);
    CHECK(tessera_segment->counters[TESSERA_COUNTER_FREES] == frees);
    munmap(view, TESSERA_SEGMENT_BYTES);
}

static void errors(void)
{
    const struct tessera_error *log = tessera_segment->errors;
    for (int i = 0; i < 3; i++)
        report_error(5, "device %d", 1);
    report_error(6, "device 1");
    report_error(5, "device 2");
    report_failure(CUDA_SUCCESS, "no error");
    report_failure(CUDA_ERROR_DEINITIALIZED, "the process ends");
    report_failure(CUDA_ERROR_OUT_OF_MEMORY, "an allocation");
    CHECK(log[0].ready && log[0].code == 5 && log[0].count == 3 && strcmp(log[0].text, "device 1") == 0);
    CHECK(log[1].code == 6 && log[1].count == 1 && log[2].code == 5 && strcmp(log[2].text, "device 2") == 0);
    CHECK(log[3].code == CUDA_ERROR_OUT_OF_MEMORY && log[3].count == 1 && log[4].count == 0);
    CHECK(log[0].first_ns && log[0].first_ns <= log[0].last_ns);
    char text[2 * TESSERA_ERROR_TEXT];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    report_error(7, "%s", text); /* cut */
    CHECK(log[4].count == 1 && strlen(log[4].text) == TESSERA_ERROR_TEXT - 1);
    for (int i = 0; i < 2 * TESSERA_ERROR_ENTRIES; i++)
        report_error(8, "number %d", i);
    CHECK(log[TESSERA_ERROR_ENTRIES - 1].count == 2 * TESSERA_ERROR_ENTRIES - (TESSERA_ERROR_ENTRIES - 6));
}

/* A child gets a fresh segment. */
static void forked(void)
{
    struct tessera_segment *parents = tessera_segment;
    segment_forked();
    CHECK(tessera_segment != parents && tessera_segment->devices[0].used_bytes == 0);
    segment_count(TESSERA_COUNTER_FREES, 1);
    CHECK(tessera_segment->counters[TESSERA_COUNTER_FREES] == 1 && parents->counters[TESSERA_COUNTER_FREES] == 6);
}

int main(void)
{
    segment_count(TESSERA_COUNTER_FREES, 1); /* before there is one: counts nowhere */
    CHECK(!tessera_segment);
    adopted();
    refused();
    errors();
    forked();
    return 0;
}
