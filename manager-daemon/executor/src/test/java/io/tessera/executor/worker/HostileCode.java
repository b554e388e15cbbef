package io.tessera.executor.worker;

import io.airlift.compress.v3.zstd.ZstdJavaCompressor;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Code that takes more from its reader than there is, and code that is as it should be. Ends with a NUL, as it travels. */
public final class HostileCode {
    private static final String HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n";
    private static final int FAT_BINARY = 0xBA55ED50;
    private static final int ENTRY_BYTES = 64;
    private static final long ZSTD = 0x8000;
    private static final int BLOCK = 128 << 10;

    private HostileCode() {
    }

    private static byte[] bytes(String text) {
        return (text + "\0").getBytes(StandardCharsets.US_ASCII);
    }

    /** Returns code of one kernel that stores a word. */
    public static byte[] ordinary(String kernel) {
        return bytes(HEAD + ".visible .entry " + kernel + "(.param .u64 to)\n{\n.reg .b64 %rd<2>;\nld.param.u64 %rd1, [to];\n"
                + "st.global.u64 [%rd1], %rd1;\nret;\n}\n");
    }

    /** A parameter of 2 GB. */
    public static byte[] largeParameter() {
        return bytes(HEAD + ".func f(.param .align 8 .b8 big[2147483647])\n{\nret;\n}\n"
                + ".visible .entry work(.param .align 8 .b8 big[2147483647])\n{\n{\n.param .align 8 .b8 a[2147483647];\ncall.uni f, (a);\n}\n"
                + "ret;\n}\n");
    }

    /** Returns code with as many registers as a number can express. */
    public static byte[] manyRegisters() {
        return bytes(HEAD + ".visible .entry work(.param .u64 out)\n{\n.reg .b64 %d<2147483647>;\n"
                + "add.u64 %d2147483646, %d2147483645, 1;\nret;\n}\n");
    }

    /** Loops in each other, each counted. */
    public static byte[] nestedLoops(int loops) {
        StringBuilder text = new StringBuilder(HEAD + ".visible .entry work(.param .u64 out)\n{\n.reg .b32 %r<" + (loops + 1)
                + ">;\n.reg .pred %p<" + (loops + 1) + ">;\n");
        for (int i = 0; i < loops; i++) {
            text.append("mov.u32 %r").append(i).append(", 0;\nL").append(i).append(":\n");
        }
        for (int i = loops - 1; i >= 0; i--) {
            text.append("add.u32 %r").append(i).append(", %r").append(i).append(", 1;\nsetp.lt.u32 %p").append(i).append(", %r").append(i)
                    .append(", 2;\n@%p").append(i).append(" bra L").append(i).append(";\n");
        }
        return bytes(text + "ret;\n}\n");
    }

    /** Braces in each other. */
    public static byte[] nestedBlocks(int blocks) {
        return bytes(HEAD + ".visible .entry work(.param .u64 out)\n{\n" + "{\n".repeat(blocks) + "}\n".repeat(blocks) + "ret;\n}\n");
    }

    /** A fat binary whose PTX unpacks to this many blanks, all of which the frame declares as runs. */
    public static byte[] zipBomb(long unpacked) {
        ByteArrayOutputStream frame = new ByteArrayOutputStream();
        ByteBuffer head = ByteBuffer.allocate(14).order(ByteOrder.LITTLE_ENDIAN);
        head.putInt(0xFD2FB528).put((byte) 0xC0).put((byte) 0x38).putLong(unpacked);
        frame.writeBytes(head.array());
        for (long left = unpacked; left > 0; left -= BLOCK) {
            int block = (int) Math.min(left, BLOCK);
            int header = block << 3 | 1 << 1 | (left <= BLOCK ? 1 : 0);
            frame.writeBytes(new byte[] {(byte) header, (byte) (header >> 8), (byte) (header >> 16), ' '});
        }
        return fatBinary(frame.toByteArray(), unpacked, ZSTD);
    }

    /** A fat binary with that text in it, as compilers pack it. */
    public static byte[] packed(byte[] text) {
        ZstdJavaCompressor compressor = new ZstdJavaCompressor();
        byte[] frame = new byte[compressor.maxCompressedLength(text.length)];
        int bytes = compressor.compress(text, 0, text.length, frame, 0, frame.length);
        return fatBinary(Arrays.copyOf(frame, bytes), text.length, ZSTD);
    }

    private static byte[] fatBinary(byte[] stored, long unpacked, long flags) {
        ByteBuffer out = ByteBuffer.allocate(16 + ENTRY_BYTES + stored.length).order(ByteOrder.LITTLE_ENDIAN);
        out.putInt(FAT_BINARY).putShort((short) 1).putShort((short) 16).putLong(ENTRY_BYTES + stored.length);
        int at = out.position();
        out.putShort(at, (short) 1).putInt(at + 4, ENTRY_BYTES).putLong(at + 8, stored.length).putInt(at + 16, stored.length)
                .putInt(at + 24, 8 << 16).putInt(at + 28, 80).putLong(at + 40, flags).putLong(at + 56, unpacked);
        out.position(at + ENTRY_BYTES);
        out.put(stored);
        return out.array();
    }
}
