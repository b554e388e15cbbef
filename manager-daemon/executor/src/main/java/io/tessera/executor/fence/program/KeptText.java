package io.tessera.executor.fence.program;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.zip.Deflater;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;

/**
 * Format of text in the cache: compressed to a ninth to a sixth of its size (measured with eight fenced programs). Machine code is not compressed.
 * Stateless.
 */
public final class KeptText {
    private static final int MAGIC_0 = 0x1f;
    private static final int MAGIC_1 = 0x8b;
    /** Bound on the size; no worker's answer is as long. */
    private static final int MOST_BYTES = 256 << 20;

    private KeptText() {
    }

    /** Returns text or machine code in the form in which it is kept. */
    static byte[] kept(byte[] code) {
        if (code.length < 2 || LoadedCode.isMachineCode(code[0], code[1])) {
            return code;
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(code.length / 4 + 64);
        try (GZIPOutputStream packed = new GZIPOutputStream(bytes) {
            {
                def.setLevel(Deflater.BEST_SPEED);
            }
        }) {
            packed.write(code);
        } catch (IOException e) {
            throw new UncheckedIOException(e); // cannot happen: the output is in memory
        }
        return bytes.toByteArray();
    }

    /** Returns the kept code in its original form. */
    static byte[] code(byte[] kept) throws IOException {
        if (kept.length < 2 || (kept[0] & 0xff) != MAGIC_0 || (kept[1] & 0xff) != MAGIC_1) {
            return kept;
        }
        try (GZIPInputStream text = new GZIPInputStream(new ByteArrayInputStream(kept))) {
            byte[] code = text.readNBytes(MOST_BYTES + 1);
            if (code.length > MOST_BYTES) {
                throw new IOException("text of more than " + MOST_BYTES + " bytes");
            }
            return code;
        }
    }
}
