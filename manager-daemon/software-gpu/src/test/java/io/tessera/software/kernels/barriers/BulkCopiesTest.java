package io.tessera.software.kernels.barriers;

import static io.tessera.software.kernels.barriers.MemoryBarriersTest.HEAD;
import static io.tessera.software.kernels.barriers.MemoryBarriersTest.TAIL;
import static io.tessera.software.kernels.barriers.MemoryBarriersTest.fenced;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.module.Fencer;
import io.tessera.guardian.ptx.parse.PtxParser;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Bulk copies into shared memory, fenced: a thread that waits for one finds what the device would have copied. */
@Timeout(300)
class BulkCopiesTest {
    /** One thread asks for two bulk copies of drawn lengths; all wait for them and see them. */
    @ParameterizedTest
    @EnumSource(value = FenceMode.class, names = "NONE", mode = EnumSource.Mode.EXCLUDE)
    void bulkCopiesComplete(FenceMode mode) throws Exception {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        for (int i = 0; i < 3; i++) {
            int bytes = 16 * (1 + random.nextInt(100));
            int more = 16 * (1 + random.nextInt(100));
            int from = 16 * random.nextInt(20);
            String text = HEAD + """
                    @%p1 mbarrier.init.shared.b64 [%r2], 1;
                    bar.sync 0;
                    add.u64 %d5, %d1, FROM;
                    mov.u32 %r11, BYTES;
                    add.u32 %r12, %r1, MORE;
                    @!%p1 bra wait;
                    { .reg .b64 t; mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 t, [bar], TOGETHER; }
                    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r5], [%d5], %r11, [%r2];
                    cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [slots+2048], [%d5+16], %r12, [bar];
                    wait:
                    mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p2, [%r2], 0;
                    @!%p2 bra wait;
                    ld.shared.u32 %r13, [%r5+BYTES-4];
                    ld.shared.u32 %r14, [%r5+2044+MORE];
                    bar.sync 0;
                    mad.lo.u32 %r8, %r13, 100000, %r14;
                    """.replace("BYTES-4", Integer.toString(bytes - 4)).replace("2044+MORE", Integer.toString(2044 + more))
                    .replace("BYTES", Integer.toString(bytes)).replace("TOGETHER", Integer.toString(bytes + more))
                    .replace("MORE", Integer.toString(more)).replace("FROM", Integer.toString(from)) + TAIL;
            int[] found = fenced(text, mode, i % 2 == 0, 64, 2048);
            int expected = ((from + bytes - 4) / 4 * 3 + 1) * 100000 + (from + 16 + more - 4) / 4 * 3 + 1;
            for (int t = 0; t < 64; t++) {
                assertEquals(expected, found[t], "seed " + seed);
            }
        }
    }

    /** Two threads ask for more copies than can be asked for at once, in two rounds, and all meet between asking and waiting. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void moreCopiesThanPlacesComplete(boolean compiled) throws Exception {
        StringBuilder asking = new StringBuilder();
        for (int i = 0; i < 4; i++) {
            asking.append("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r9+").append(512 * i).append("], [%d5+")
                    .append(512 * i).append("], %r12, [%r2];\n");
        }
        String text = HEAD + """
                @%p1 mbarrier.init.shared.b64 [%r2], 2;
                mov.u32 %r13, 0;
                bar.sync 0;
                again:
                and.b32 %r9, %r1, 31;
                setp.ne.u32 %p2, %r9, 7;
                @%p2 bra asked;
                shr.u32 %r9, %r1, 5;
                mad.lo.u32 %r9, %r9, 2048, %r5;
                shr.u32 %r10, %r1, 5;
                mad.lo.u32 %r10, %r13, 2, %r10;
                mul.wide.u32 %d5, %r10, 2048;
                add.u64 %d5, %d1, %d5;
                mov.u32 %r12, 512;
                mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%r2], 2048;
                ASKING
                asked:
                bar.sync 0;
                and.b32 %r14, %r13, 1;
                wait:
                mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r2], %r14;
                @!%p3 bra wait;
                mad.lo.u32 %r15, %r1, 64, %r5;
                ld.shared.u32 %r16, [%r15];
                ld.shared.u32 %r17, [%r15+60];
                mad.lo.u32 %r8, %r8, 31, %r16;
                mad.lo.u32 %r8, %r8, 31, %r17;
                bar.sync 0;
                add.u32 %r13, %r13, 1;
                setp.lt.u32 %p3, %r13, 2;
                @%p3 bra again;
                bar.sync 0;
                """.replace("ASKING", asking) + TAIL;
        int[] found = fenced(text, FenceMode.MASK, compiled, 64, 2048);
        for (int t = 0; t < 64; t++) {
            int expected = 0;
            for (int round = 0; round < 2; round++) {
                int first = 1024 * round + 16 * t;
                expected = (expected * 31 + first * 3 + 1) * 31 + (first + 15) * 3 + 1;
            }
            assertEquals(expected, found[t], "thread " + t);
        }
    }

    /** A kernel that has all the shared memory that its variables may take copies by itself. */
    @Test
    void aKernelWithoutRoomCopiesByItself() throws Exception {
        String text = HEAD.replace("slots[4096]", "slots[49024]") + """
                @%p1 mbarrier.init.shared.b64 [%r2], 1;
                bar.sync 0;
                @!%p1 bra wait;
                mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%r2], 512;
                cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r5], [%d1], 512, [%r2];
                wait:
                mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0;
                @!%p2 bra wait;
                ld.shared.u32 %r8, [%r6];
                """ + TAIL;
        assertFalse(new Fencer(FenceMode.MASK).fence(PtxParser.parse(text)).ptx().contains("queue"));
        int[] found = fenced(text, FenceMode.MASK, true, 64, 128);
        for (int t = 0; t < 64; t++) {
            assertEquals(t * 3 + 1, found[t]);
        }
    }
}
