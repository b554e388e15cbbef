package io.tessera.protocol.message;

/**
 * Memory that executor and client both map, as offered by the executor.
 *
 * @param id      number in QUERY_PINNED and QUERY_UNPIN
 * @param address address at which both map it
 * @param bytes   size, a multiple of the page size
 * @param result  CUresult; not 0: there is no memory
 */
public record RelayPinned(long id, long address, long bytes, int result) {
}
