package io.tessera.protocol.message;

/**
 * Memory that executor and client both map, as the executor offers it.
 *
 * @param id      its number in QUERY_PINNED and QUERY_UNPIN
 * @param address where both map it
 * @param bytes   its size, a multiple of the page
 * @param result  CUresult; not 0: there is no memory
 */
public record RelayPinned(long id, long address, long bytes, int result) {
}
