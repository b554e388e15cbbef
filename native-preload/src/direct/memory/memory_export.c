#include "direct/memory/memory_export.h"

#include "direct/turns/checkpoint_stubs.h"
#include "session/segment.h"

/*
 * Stores the word, then reads the manager's flag. The manager sets the flag, then reads the word: one sees the other.
 */
static void change_shares(int64_t calls, uint64_t facts)
{
    uint64_t *shares = &segment_get()->client_shares;
    segment_change_begin();
    __atomic_fetch_or(shares, facts, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(shares, (uint64_t)(calls * TESSERA_SHARES_CALL), __ATOMIC_SEQ_CST);
    segment_change_end();
}

void memory_sharing(void)
{
    change_shares(1, 0);
    while (checkpointed_now()) {
        change_shares(-1, 0);
        checkpoint_wait();
        change_shares(1, 0);
    }
}

static CUresult shared(CUresult result, unsigned counter, uint64_t fact)
{
    if (result == CUDA_SUCCESS)
        segment_count(counter, 1);
    change_shares(-1, result == CUDA_SUCCESS ? fact : 0);
    return result;
}

CUresult memory_exported(CUresult result)
{
    return shared(result, TESSERA_COUNTER_EXPORTED, TESSERA_SHARES_GIVEN);
}

CUresult memory_imported(CUresult result)
{
    return shared(result, TESSERA_COUNTER_IMPORTED, TESSERA_SHARES_TAKEN);
}

CUresult memory_bound(CUresult result)
{
    change_shares(-1, result == CUDA_SUCCESS ? TESSERA_SHARES_TAKEN : 0);
    return result;
}

void memory_takes_pieces(void)
{
    if (!(__atomic_load_n(&segment_get()->client_shares, __ATOMIC_RELAXED) & TESSERA_SHARES_PIECES))
        change_shares(0, TESSERA_SHARES_PIECES);
}
