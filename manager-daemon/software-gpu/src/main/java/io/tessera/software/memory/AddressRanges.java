package io.tessera.software.memory;

import java.util.Map;
import java.util.TreeMap;

/** Free and used parts of one address range: first fit by address; free neighbours are merged. Not thread-safe. */
final class AddressRanges {
    private final TreeMap<Long, Long> free = new TreeMap<>();
    private final TreeMap<Long, Long> used = new TreeMap<>();

    AddressRanges(long begin, long bytes) {
        free.put(begin, bytes);
    }

    /** Takes a piece; returns its address, or 0 if none is large enough. */
    long take(long bytes, long align) {
        for (Map.Entry<Long, Long> piece : free.entrySet()) {
            long address = piece.getKey() + align - 1 & -align;
            long end = piece.getKey() + piece.getValue();
            if (address + bytes <= end) {
                long begin = piece.getKey();
                free.remove(begin);
                if (address > begin) {
                    free.put(begin, address - begin);
                }
                if (address + bytes < end) {
                    free.put(address + bytes, end - address - bytes);
                }
                used.put(address, bytes);
                return address;
            }
        }
        return 0;
    }

    /** Takes the piece at an address if all of it is free. */
    boolean takeAt(long address, long bytes) {
        Map.Entry<Long, Long> piece = free.floorEntry(address);
        if (piece == null || piece.getKey() + piece.getValue() < address + bytes) {
            return false;
        }
        long begin = piece.getKey();
        long end = begin + piece.getValue();
        free.remove(begin);
        if (address > begin) {
            free.put(begin, address - begin);
        }
        if (address + bytes < end) {
            free.put(address + bytes, end - address - bytes);
        }
        used.put(address, bytes);
        return true;
    }

    /** Gives a piece back; returns its size, or -1 if no piece starts there. */
    long give(long address) {
        Long bytes = used.remove(address);
        if (bytes == null) {
            return -1;
        }
        long begin = address;
        long end = address + bytes;
        Map.Entry<Long, Long> before = free.floorEntry(address);
        if (before != null && before.getKey() + before.getValue() == address) {
            begin = before.getKey();
            free.remove(begin);
        }
        Long after = free.remove(end);
        free.put(begin, (after == null ? end : end + after) - begin);
        return bytes;
    }

    /** Returns the used piece that holds an address, as begin and size; null if there is none. */
    Map.Entry<Long, Long> find(long address) {
        Map.Entry<Long, Long> piece = used.floorEntry(address);
        return piece != null && address < piece.getKey() + piece.getValue() ? piece : null;
    }
}
