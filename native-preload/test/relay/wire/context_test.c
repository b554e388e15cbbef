/* Contexts: their handles, ends, bounds, and each thread's stack of them. */
#include "relay/wire/context.h"
#include "relay/wire/executor_notice.h"

#include "relay/player.h"

#define MOST 1023u /* numbers 1 to 1,023 */

static char ended[64]; /* the handlers that were called, in order */
static unsigned told_before;
static struct relay_context *also; /* destroyed by the first handler */
static CUresult refusal;

static void note(char who, struct relay_context *context_ending_now)
{
    size_t length = strlen(ended);
    ended[length] = who;
    CHECK(length < sizeof ended - 2 && context_ending_now->alive);
    told_before = seen[TESSERA_RELAY_CONTEXT];
}

static void first(struct relay_context *ending)
{
    struct relay_context *other = also;
    also = NULL;
    note('a', ending);
    if (other)
        CHECK(context_destroy(other) == CUDA_SUCCESS);
}

static void second(struct relay_context *ending)
{
    note('b', ending);
}

static bool refuse(const struct tessera_record *record)
{
    if (record->kind != TESSERA_RELAY_CONTEXT || refusal == CUDA_SUCCESS)
        return false;
    answer(record, refusal, NULL, 0);
    return true;
}

static void primary(struct relay_link *link)
{
    struct relay_context *context_of_device = relay_primary(link);
    CHECK(context_of_device->primary && !context_of_device->alive &&
          relay_context_of(context_of_device->handle) == context_of_device);
    CHECK(context_release(context_of_device) == CUDA_ERROR_INVALID_CONTEXT);
    CHECK(context_retain(context_of_device) == CUDA_SUCCESS && context_retain(context_of_device) == CUDA_SUCCESS);
    CHECK(seen[TESSERA_RELAY_CONTEXT] == 1 && context_of_device->alive);
    CHECK(context_release(context_of_device) == CUDA_SUCCESS && context_of_device->alive && !ended[0]);
    CHECK(context_release(context_of_device) == CUDA_SUCCESS && !context_of_device->alive && strcmp(ended, "ab") == 0);
    CHECK(told_before == 1 && seen[TESSERA_RELAY_CONTEXT] == 2); /* the executor hears of it last */
    CHECK(context_retain(context_of_device) == CUDA_SUCCESS && context_retain(context_of_device) == CUDA_SUCCESS);
    CHECK(context_reset(context_of_device) == CUDA_SUCCESS && !context_of_device->alive);
    CHECK(context_release(context_of_device) == CUDA_ERROR_INVALID_CONTEXT &&
          relay_context_of(context_of_device->handle) == context_of_device);
    refusal = CUDA_ERROR_OUT_OF_MEMORY;
    CHECK(context_retain(context_of_device) == CUDA_ERROR_OUT_OF_MEMORY && !context_of_device->alive);
    refusal = CUDA_SUCCESS;
}

static void handles(struct relay_link *link)
{
    struct relay_context *one, *two;
    CHECK(context_create(link, 8, 3020, &one) == CUDA_SUCCESS && context_create(link, 0, 3020, &two) == CUDA_SUCCESS);
    CUcontext handle = one->handle;
    CHECK(handle != two->handle && one->id != two->id && one->flags == 8);
    CHECK(relay_handle_type((uintptr_t)handle) == TESSERA_HANDLE_CONTEXT && relay_context_of(handle) == one);
    CHECK(!relay_context_of((CUcontext)((uintptr_t)handle ^ 1ULL << 41)) && !relay_context_of((CUcontext)0x1000));
    memset(ended, 0, sizeof ended);
    also = two;
    CHECK(context_destroy(one) == CUDA_SUCCESS && strcmp(ended, "aabb") == 0 && !two->alive);
    CHECK(context_destroy(one) == CUDA_ERROR_CONTEXT_IS_DESTROYED);
    CHECK(relay_context_of(handle) == one && !one->alive); /* stale, but not garbage */
    refusal = CUDA_ERROR_OUT_OF_MEMORY;
    CHECK(context_create(link, 0, 3020, &two) == CUDA_ERROR_OUT_OF_MEMORY && !two->alive);
    refusal = CUDA_SUCCESS;
}

static unsigned visited;
static void visit(struct relay_context *alive)
{
    CHECK(alive->alive);
    visited++;
}

/* All numbers except those of the two primary contexts. A context that ends makes room, and its handle never names another one. */
static void as_many_as_there_are(struct relay_link *link)
{
    static struct relay_context *made[MOST];
    static CUcontext handle[MOST];
    struct relay_context *none;
    unsigned count = 0;
    while (count < MOST - 2) {
        CHECK(context_create(link, 0, 3020, &made[count]) == CUDA_SUCCESS);
        handle[count] = made[count]->handle;
        count++;
    }
    CHECK(context_create(link, 0, 3020, &none) == CUDA_ERROR_OUT_OF_MEMORY && !none);
    context_each(link, visit);
    CHECK(visited == count);
    context_each(&relay_links[1], visit);
    CHECK(visited == count);
    for (unsigned i = 0; i < count; i++) {
        memset(ended, 0, sizeof ended);
        CHECK(relay_context_of(handle[i]) == made[i] && context_destroy(made[i]) == CUDA_SUCCESS);
    }
    for (unsigned i = 0; i < count; i++)
        CHECK(context_create(link, 0, 3020, &made[i]) == CUDA_SUCCESS);
    for (unsigned i = 0; i < count; i++) {
        CHECK(!relay_context_of(handle[i]));
        memset(ended, 0, sizeof ended);
        CHECK(context_destroy(made[i]) == CUDA_SUCCESS);
    }
}

static void *empty_stack(void *unused)
{
    struct relay_context *popped;
    CHECK(!relay_current && current_pop(&popped) == CUDA_ERROR_INVALID_CONTEXT);
    CHECK(relay_no_context() == CUDA_ERROR_INVALID_CONTEXT);
    callback_inside = true;
    CHECK(relay_no_context() == CUDA_ERROR_NOT_PERMITTED);
    return unused;
}

static void stack(void)
{
    static struct relay_context contexts[100];
    struct relay_context *popped, *entered;
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, empty_stack, NULL) == 0 && pthread_join(thread, NULL) == 0);
    relay_current = NULL;
    for (unsigned i = 0; i < 100; i++)
        CHECK(current_push(&contexts[i]) == CUDA_SUCCESS && relay_current == &contexts[i]);
    CHECK(current_set(&contexts[0]) == CUDA_SUCCESS && relay_current == &contexts[0]); /* in place of the top */
    CHECK(current_pop(&popped) == CUDA_SUCCESS && popped == &contexts[0] && relay_current == &contexts[98]);
    CHECK(current_set(NULL) == CUDA_SUCCESS && relay_current == &contexts[97]);
    for (unsigned i = 98; i > 0; i--)
        CHECK(current_pop(&popped) == CUDA_SUCCESS && popped == &contexts[i - 1]);
    CHECK(!relay_current && current_set(NULL) == CUDA_SUCCESS && current_pop(&popped) == CUDA_ERROR_INVALID_CONTEXT);
    CHECK(current_set(&context) == CUDA_SUCCESS && relay_enter(&entered) == CUDA_SUCCESS && entered == &context);
    context.alive = false;
    CHECK(relay_enter(&entered) == CUDA_ERROR_CONTEXT_IS_DESTROYED);
    context.alive = true;
    segment->context_error = 719;
    CHECK(relay_enter(&entered) == 719);
    segment->context_error = 0;
}

/* A device that is gone has taken its contexts with it: to end one is no error. */
static void after_the_end(struct relay_link *link)
{
    struct relay_context *made, *entered;
    CHECK(context_create(link, 0, 3020, &made) == CUDA_SUCCESS && current_set(made) == CUDA_SUCCESS);
    player_end();
    __atomic_store_n(&link->lost, 1, __ATOMIC_RELEASE);
    CHECK(relay_enter(&entered) == CUDA_ERROR_CONTEXT_IS_DESTROYED);
    CHECK(context_destroy(made) == CUDA_SUCCESS && !made->alive);
    CHECK(context_create(link, 0, 3020, &made) == CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

/* Plays an executor that reports on work for which no call has waited. */
static bool says(const struct tessera_record *record)
{
    static const char line[] = "a kernel of this program did something\n";
    if (record->kind != TESSERA_RELAY_MARK)
        return false;
    const struct tessera_mark *mark = (const struct tessera_mark *)(record + 1);
    CHECK(mark->handle == TESSERA_RELAY_ALL_STREAMS &&
          record->flags == (TESSERA_RELAY_FLAG_WAITED | TESSERA_RELAY_FLAG_LAST));
    memcpy(segment->notice + segment->notice_bytes, line, sizeof line - 1);
    __atomic_fetch_add(&segment->notice_bytes, sizeof line - 1, __ATOMIC_RELEASE);
    return false;
}

/* What relay_last_notices() writes to stderr. */
static uint64_t last_lines(char *said, size_t room)
{
    int lines[2], errors = dup(STDERR_FILENO);
    CHECK(pipe(lines) == 0 && dup2(lines[1], STDERR_FILENO) >= 0);
    uint64_t since_ns = monotonic_ns();
    relay_last_notices();
    uint64_t took_ns = monotonic_ns() - since_ns;
    CHECK(dup2(errors, STDERR_FILENO) >= 0 && close(lines[1]) == 0 && close(errors) == 0);
    ssize_t bytes = read(lines[0], said, room - 1);
    said[bytes > 0 ? bytes : 0] = 0;
    close(lines[0]);
    return took_ns;
}

/* At its end, a program shows what the executor reports about its work. An executor that does not answer delays the end by 1 s. */
static void last_notices(struct relay_link *link)
{
    char said[512];
    uint64_t second_ns = 1000000000ULL;
    player_serves = says;
    unsigned marks = seen[TESSERA_RELAY_MARK];
    last_lines(said, sizeof said);
    CHECK(said[0] == 0 && seen[TESSERA_RELAY_MARK] == marks); /* there is no context, and no work */
    CHECK(context_retain(relay_primary(link)) == CUDA_SUCCESS);
    last_lines(said, sizeof said);
    CHECK(strstr(said, "a kernel of this program did something"));
    __atomic_store_n(&hold_marks, true, __ATOMIC_RELEASE);
    CHECK(last_lines(said, sizeof said) >= second_ns && strstr(said, "did something"));
    uint64_t claimed = __atomic_load_n(&segment->claimed, __ATOMIC_ACQUIRE);
    __atomic_store_n(&segment->claimed, claimed + TESSERA_RELAY_RING_BYTES, __ATOMIC_RELEASE); /* as if it were full */
    CHECK(last_lines(said, sizeof said) >= second_ns);
    __atomic_store_n(&segment->claimed, claimed, __ATOMIC_RELEASE);
    __atomic_store_n(&hold_marks, false, __ATOMIC_RELEASE);
    segment->context_error = CUDA_ERROR_ILLEGAL_ADDRESS; /* the executor takes no mark any more */
    marks = seen[TESSERA_RELAY_MARK];
    last_lines(said, sizeof said);
    CHECK(said[0] == 0 && seen[TESSERA_RELAY_MARK] == marks);
    segment->context_error = 0;
    CHECK(context_reset(relay_primary(link)) == CUDA_SUCCESS);
    player_serves = refuse;
}

int main(void)
{
    static const context_ending endings[] = {first, second, NULL};
    player_serves = refuse;
    player_begin();
    relay_links[1] = (struct relay_link){.segment = segment, .device = 1, .number = 1, .socket = -1};
    relay_link_count = 2;
    context_prepare_primary(&relay_links[0], NULL);
    context_prepare_primary(&relay_links[1], (CUcontext)0x5550);
    CHECK(relay_context_of((CUcontext)0x5550) == relay_primary(&relay_links[1])); /* the vendor's handle */
    context_on_end(endings);
    primary(&relay_links[0]);
    last_notices(&relay_links[0]);
    handles(&relay_links[0]);
    as_many_as_there_are(&relay_links[0]);
    stack();
    after_the_end(&relay_links[0]);
    return 0;
}
