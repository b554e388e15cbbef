package io.tessera.guardian.cache;

/**
 * Counters of a cache since it was opened, for this process only; a snapshot.
 *
 * @param hits    entries found
 * @param misses  entries that were not there
 * @param stored  entries written
 * @param damaged files that were torn, of another format or of another key, and were deleted
 * @param evicted entries deleted because the directory was over its limit
 * @param failed  stores and lookups that the file system refused
 */
public record CacheCounters(long hits, long misses, long stored, long damaged, long evicted, long failed) {
}
