#include "relay/executor/fd_request.h"

#include <errno.h>
#include <pthread.h>

#include "relay/wire/backoff.h"
#include "relay/wire/link.h"
#include "session/connection.h"
#include "session/report.h"

#define STEP_MS                                                                                                        \
    500 /* between checks that the executor lives: it clears the pages of a new file, which takes seconds for gigabytes */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_answer(const struct fd_request *request, const void *answer, int got)
{
    const struct tessera_message *head = answer;
    return got == (int)request->answer_bytes && connection_valid(answer, got) && head->type == request->answer_type;
}

static CUresult ask(struct relay_link *link, const struct fd_request *request, void *answer, int *descriptor)
{
    if (connection_send_with(link->socket, request->message, request->type, request->bytes, link->number,
                             request->descriptor) != 0)
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    int got;
    do
        got = connection_receive_with(link->socket, answer, descriptor, STEP_MS);
    while (got == -ETIMEDOUT && relay_link_alive(link));
    if (is_answer(request, answer, got))
        return CUDA_SUCCESS;
    report_error(got < 0 ? got : 0, "the executor did not answer to message %u", request->type);
    link_lose(link, got == 0 ? "the executor is gone"
                             : "the executor did not answer"); /* a late answer could be taken for the next one's */
    return CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

CUresult fd_request_send(struct relay_link *link, const struct fd_request *request, void *answer, int *descriptor)
{
    pthread_mutex_lock(&lock);
    CUresult result = ask(link, request, answer, descriptor);
    pthread_mutex_unlock(&lock);
    return result;
}
