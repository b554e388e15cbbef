package io.tessera.executor.fence.program;

import io.tessera.guardian.cache.FencedTables;
import io.tessera.guardian.cache.FencedTablesReader;
import io.tessera.guardian.cache.FencedTablesWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Format of the tables of a program's modules in a cache. The tables of a single module are kept as they are; several follow a 0 byte in the place of a version
 * and their number, each preceded by its length. Stateless.
 */
public final class LinkedTables {
    private static final int SEVERAL = 0;

    private LinkedTables() {
    }

    static byte[] bytes(List<FencedTables> tables) {
        if (tables.size() == 1) {
            return FencedTablesWriter.write(tables.getFirst());
        }
        List<byte[]> each = tables.stream().map(FencedTablesWriter::write).toList();
        ByteBuffer out = ByteBuffer.allocate(2 * Integer.BYTES
                + each.stream().mapToInt(bytes -> Integer.BYTES + bytes.length).sum());
        out.putInt(SEVERAL).putInt(each.size());
        each.forEach(bytes -> out.putInt(bytes.length).put(bytes));
        return out.array();
    }

    static List<FencedTables> read(byte[] bytes) throws IOException {
        ByteBuffer in = ByteBuffer.wrap(bytes);
        if (in.remaining() < Integer.BYTES || in.getInt() != SEVERAL) {
            return List.of(FencedTablesReader.read(bytes));
        }
        List<FencedTables> tables = new ArrayList<>();
        int count = in.remaining() < Integer.BYTES ? -1 : in.getInt();
        for (int i = 0; i < count; i++) {
            int length = in.remaining() < Integer.BYTES ? -1 : in.getInt();
            if (length < 0 || length > in.remaining()) {
                throw new IOException("tables of " + length + " bytes");
            }
            byte[] one = new byte[length];
            in.get(one);
            tables.add(FencedTablesReader.read(one));
        }
        if (tables.isEmpty() || in.hasRemaining()) {
            throw new IOException("damaged tables of " + count + " modules");
        }
        return tables;
    }
}
